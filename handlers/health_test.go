package handlers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// probe asks a handler, whose next handler answers 418.
func probe(t *testing.T, h *Health, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusTeapot)
		return nil
	})
	must(t, h.ServeHTTP(w, httptest.NewRequest(method, path, nil), next))
	return w
}

func newHealth(g *gateway.Gateway) *Health {
	condition, _ := gateway.Offered[interface{ Condition() report.Condition }](g)
	return &Health{Healthz: defaultHealthz, Readyz: defaultReadyz, gateway: condition}
}

func TestProbesOfAGatewayThatServes(t *testing.T) {
	h := newHealth(startGateway(t, setup{Workstations: true}))
	for path, body := range map[string]string{
		"/healthz": `{"status":"alive"}`,
		"/readyz":  `{"status":"ready","parts":{"ledger":"ok","providers":"ok","store":"ok","vnc":"ok"}}`,
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w := probe(t, h, method, path)
			head := w.Header()
			if w.Code != 200 || head.Get("Content-Type") != "application/json" || head.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %d %v", method, path, w.Code, head)
			}
			if got := w.Body.String(); method == "GET" && got != body || method == "HEAD" && got != "" {
				t.Errorf("%s %s: %s, want %s", method, path, got, body)
			}
		}
		for _, method := range []string{"POST", "OPTIONS", "DELETE"} {
			w := probe(t, h, method, path)
			if w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %d %v", method, path, w.Code, w.Header())
			}
		}
	}
	for _, path := range []string{"/", "/readyz/", "/readyz/x", "/v1/models"} {
		if w := probe(t, h, "GET", path); w.Code != http.StatusTeapot {
			t.Errorf("%s was not for the next handler: %d", path, w.Code)
		}
	}
}

func TestAGatewayIsNotReadyBeforeItsStart(t *testing.T) {
	h := newHealth(newGateway(t, setup{}))
	if w := probe(t, h, "GET", "/readyz"); w.Code != 503 || w.Body.String() != `{"status":"starting"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := probe(t, h, "GET", "/healthz"); w.Code != 200 {
		t.Errorf("healthz %d", w.Code)
	}
}

// A reload starts the next configuration beside the running one, whose listener it may already have.
func TestAReloadDoesNotEndReadiness(t *testing.T) {
	state := gateway.NewState(t.TempDir(), func() time.Time { return noon })
	startGateway(t, setup{State: state})
	if w := probe(t, newHealth(newGateway(t, setup{State: state})), "GET", "/readyz"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// One broken provider must not empty a balancer.
func TestAnUnhealthyProviderIsNamedToNobodyAndLeavesTheGatewayReady(t *testing.T) {
	state := gateway.NewState(t.TempDir(), func() time.Time { return noon })
	g := startGateway(t, setup{State: state})
	trial := state.Health.Begin("acme/m", false)
	trial.End(failover.Result{Class: failover.Lasting})
	w := probe(t, newHealth(g), "GET", "/readyz")
	if w.Code != 200 || !jsontest.Has(t, w.Body.String(), `{"providers":"degraded"}`) || strings.Contains(w.Body.String(), "acme") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if parts := gateway.ReadCondition(g).Parts; parts[2].Detail != "unhealthy: acme/m" {
		t.Errorf("operators see %+v", parts[2])
	}
}
