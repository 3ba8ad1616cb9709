package handlers

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

func TestAboutTellsEachKeyWhatItMayKnow(t *testing.T) {
	g := startGateway(t, setup{workstations: true, made: &runtimekeys.Block{Scopes: keys.ChatWrite, Max: 10, Shared: new(modelcall.Limits)}})
	for key, want := range map[string]struct{ reads, operates bool }{"chat": {}, "full": {reads: true}, "operator": {true, true}} {
		a := call(t, g, "GET", "/v1/about", key, "")
		if a.Code != 200 || a.at(t, "object") != "about" || !strings.HasPrefix(a.at(t, "go_version").(string), "go1.") || a.at(t, "version") == "" ||
			a.at(t, "desktops", "domain") != "vnc.example.com" || a.at(t, "desktops", "port") != 5900.0 || a.at(t, "runtime_keys") != true || a.at(t, "cluster") != nil {
			t.Errorf("%s: %d %s", key, a.Code, a.Body)
		}
		reads := a.at(t, "configured_at") == "2026-03-18T12:00:00Z" && a.at(t, "keep", "rows_seconds") == 30*86400.0 &&
			a.at(t, "keep", "series_seconds") == 400*86400.0 && a.at(t, "keep", "size_bytes") == float64(10<<30)
		if reads != want.reads || strings.Contains(a.Body.String(), `"store"`) != want.reads {
			t.Errorf("%s: %s", key, a.Body)
		}
		if want.reads && a.at(t, "store", "bytes").(float64) < 4096 {
			t.Errorf("%s: %s", key, a.Body)
		}
		if operates := a.at(t, "condition", "state") == "ready"; operates != want.operates {
			t.Errorf("%s: %s", key, a.Body)
		}
	}
	call(t, g, "GET", "/v1/about?verbose=1", "chat", "").want(t, 400, "unsupported_parameter", "verbose")
	bare := call(t, startGateway(t, setup{}), "GET", "/v1/about", "chat", "")
	if bare.at(t, "desktops") != nil || bare.at(t, "runtime_keys") != false {
		t.Errorf("%s", bare.Body)
	}
}
