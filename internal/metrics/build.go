package metrics

import (
	"cmp"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

// The modules whose versions build_info shows.
const (
	ownModule   = "github.com/gatehouse-proxy/gatehouse"
	caddyModule = "github.com/caddyserver/caddy/v2"
)

// Build is what the process was built from.
type Build struct {
	Version   string `json:"version"` // of Gatehouse, "unknown" if the build has none
	Caddy     string `json:"caddy_version"`
	GoVersion string `json:"go_version"`
}

// ReadBuild returns what the process was built from.
func ReadBuild() Build {
	versions, goVersion := map[string]string{}, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
		for _, m := range append(info.Deps, &info.Main) {
			versions[m.Path] = m.Version
			if m.Replace != nil {
				versions[m.Path] = cmp.Or(m.Replace.Version, m.Version)
			}
		}
	}
	return Build{cmp.Or(versions[ownModule], "unknown"), cmp.Or(versions[caddyModule], "unknown"), goVersion}
}

// newBuildInfo returns a gauge that is always 1. Its labels are what the process was built from.
func newBuildInfo() prometheus.Collector {
	build := ReadBuild()
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info",
		Help:        "Always 1; the versions of Gatehouse, Caddy and Go that the process was built from.",
		ConstLabels: prometheus.Labels{"version": build.Version, "caddy_version": build.Caddy, "goversion": build.GoVersion},
	}, func() float64 { return 1 })
}
