package caddymodule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// severity orders findings; its number is the command's exit status.
type severity int

const (
	note    severity = iota // worth knowing
	warning                 // something does not do what it seems to
	failure                 // something cannot work
)

func (s severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// MarshalText makes the JSON have the word.
func (s severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// finding is one thing that check has to say.
type finding struct {
	// Severity is note, warning or error.
	Severity severity `json:"severity"`
	// Subject is what it is about: "key dev", "provider openai".
	Subject string `json:"subject"`
	// Problem is what was found.
	Problem string `json:"problem"`
	// Advice is what to do; absent if nothing.
	Advice string `json:"advice,omitempty"`
}

// inspected is a configuration that was provisioned and not started.
type inspected struct {
	app     App // with what Provision forgets: keys, tenants, limits of models
	built   gateway.Config
	storage json.RawMessage // as configured
	http    json.RawMessage // as configured: Caddy forgets which listener wrappers a server has
	now     time.Time
	// ownCertificate reports whether the configuration loads a certificate for the desktops.
	ownCertificate bool
}

// inspect, if set, is given each configuration that is provisioned. Only the command check sets it,
// in a process that serves nothing.
var inspect func(App, gateway.Config)

// checks are what check looks at, in the order of its output.
var checks = []func(*inspected) []finding{
	checkKeys, checkModelNames, checkAliases, checkProviders, checkNeverBinding, checkPrices, checkSites, checkCertificate, checkEngineTLS,
}

// checkConfig returns the findings of a configuration file. Dial also asks the network.
func checkConfig(path, adapter string, dial bool, now time.Time) []finding {
	const first = "Correct that first: the rest was not looked at."
	config, found, err := adapted(path, adapter)
	if err != nil {
		return append(found, finding{failure, path, err.Error(), first})
	}
	if _, ok := config.AppsRaw[caddykit.AppName]; !ok {
		return append(found, finding{failure, path, "there is no global option gatehouse", "Add it: docs/configuration.md has its options."})
	}
	c := &inspected{storage: config.StorageRaw, http: config.AppsRaw["http"], now: now}
	if err := provision(config, c); err != nil {
		return append(found, finding{failure, path, "it does not load: " + err.Error(), first})
	}
	if dial {
		found = append(found, dialProviders(c)...) // before the others: they then know the providers' lists
	}
	for _, check := range checks {
		found = append(found, check(c)...)
	}
	if dial {
		found = append(found, dialCluster(c)...)
		found = append(found, dialDesktops(c)...)
	}
	return found
}

// adapted reads a configuration file.
func adapted(path, adapter string) (*caddy.Config, []finding, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if adapter == "" && filepath.Ext(path) != ".json" {
		adapter = "caddyfile"
	}
	var found []finding
	if adapter != "" {
		adapt := caddyconfig.GetAdapter(adapter)
		if adapt == nil {
			return nil, nil, fmt.Errorf("there is no adapter %q", adapter)
		}
		var warnings []caddyconfig.Warning
		if text, warnings, err = adapt.Adapt(text, map[string]any{"filename": path}); err != nil {
			return nil, nil, err
		}
		for _, w := range warnings {
			found = append(found, finding{note, fmt.Sprintf("%s:%d", w.File, w.Line), w.Message, ""})
		}
	}
	config := new(caddy.Config)
	return config, found, caddy.StrictUnmarshalJSON(caddy.RemoveMetaFields(text), config)
}

// provision loads the modules of a configuration as caddy validate does, and starts nothing. Logs are
// not opened, and Caddy's storage is an empty one: nothing is created where the server has its files.
func provision(config *caddy.Config, c *inspected) error {
	dir, err := os.MkdirTemp("", "gatehouse-check-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	config.StorageRaw = caddyconfig.JSONModuleObject(map[string]string{"root": dir}, "module", "file_system", nil)
	if config.Logging == nil {
		config.Logging = new(caddy.Logging)
	}
	if config.Logging.Logs == nil {
		config.Logging.Logs = map[string]*caddy.CustomLog{}
	}
	if config.Logging.Logs["default"] == nil {
		config.Logging.Logs["default"] = new(caddy.CustomLog)
	}
	for _, log := range config.Logging.Logs {
		if !bytes.Contains(log.WriterRaw, []byte(`"discard"`)) { // Caddy forgets such a log
			log.WriterRaw, log.Level = nil, "FATAL" // stderr, and nothing
		}
	}
	config.Logging.Sink = nil
	inspect = func(a App, built gateway.Config) {
		c.app, c.built = a, built
		c.ownCertificate = a.tls != nil && a.tls.HasCertificateForSubject(a.wildcard())
	}
	defer func() { inspect = nil }()
	return caddy.Validate(config)
}

// plural returns a count with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// some returns the first few of a list of names.
func some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}
