package operator

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/admin"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A page that an operator opens in a browser must not reach the admin endpoint: neither by its own
// origin, nor by a name that leads to this machine. Caddy checks both; each route of ours is behind.
func TestTheAdminRoutesAreBehindOriginChecks(t *testing.T) {
	h := harness.Vacant(t)
	port := strconv.Itoa(harness.FreePorts(t).HTTP)
	h.Run(harness.Setup{Global: "admin 127.0.0.1:" + port, VNC: "workstation desk1 127.0.0.1:5901"})
	routes := admin.API{}.Routes()
	if len(routes) < 6 {
		t.Fatalf("%d routes", len(routes))
	}
	for _, route := range routes {
		for name, change := range map[string]func(*http.Request){
			"":                     func(*http.Request) {},
			"a foreign origin":     func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
			"no origin of a page":  func(r *http.Request) { r.Header.Set("Origin", "null") },
			"a page without one":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Mode", "no-cors") },
			"a name that leads us": func(r *http.Request) { r.Host = "rebound.example:" + port },
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+strings.TrimSuffix(route.Pattern, "/")+"?id=none", nil)
			if err != nil {
				t.Fatal(err)
			}
			change(r)
			resp, err := h.Client.HTTP.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
			if err = errors.Join(err, resp.Body.Close()); err != nil {
				t.Fatal(err)
			}
			// 400 is Caddy's for a request of a page without a usable origin; a refusal of ours has a code.
			caddys := resp.StatusCode == http.StatusBadRequest && len(jsontest.Values(t, text, "code")) == 0
			if refused := resp.StatusCode == http.StatusForbidden || caddys; refused != (name != "") {
				t.Errorf("%s, %q: %d %s", route.Pattern, name, resp.StatusCode, text)
			}
			if resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s, %q: it allows an origin", route.Pattern, name)
			}
		}
	}
}
