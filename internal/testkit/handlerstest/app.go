package handlerstest

import (
	"net/http"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage" // the storage of the configuration

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// app is the gatehouse app of the tests: handlers find their gateway in it.
type app struct{}

// offered is what the app offers.
var offered *gateway.Gateway

func init() { caddy.RegisterModule(app{}) }

func (app) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: caddykit.AppName, New: func() caddy.Module { return new(app) }}
}
func (app) Start() error           { return nil }
func (app) Stop() error            { return nil }
func (app) Parts() []any           { return offered.Parts() }
func (app) Listens([]string) error { return nil }

// Context returns the context of a configuration whose app has the gateway.
func Context(t testing.TB, g *gateway.Gateway) caddy.Context {
	t.Helper()
	offered = g
	ctx, err := caddy.ProvisionContext(&caddy.Config{
		StorageRaw: []byte(`{"module": "file_system", "root": "` + t.TempDir() + `"}`),
		AppsRaw:    caddy.ModuleMap{caddykit.AppName: []byte("{}")},
	})
	Must(t, err)
	return ctx
}

// API returns the handler of the whole API, as far as the test links it.
func API(t testing.TB, g *gateway.Gateway) caddyhttp.MiddlewareHandler {
	t.Helper()
	info, err := caddy.GetModule("http.handlers.gatehouse")
	Must(t, err)
	h := info.New()
	Must(t, h.(caddy.Provisioner).Provision(Context(t, g)))
	return h.(caddyhttp.MiddlewareHandler)
}

// Call sends a request to the whole API.
func Call(t testing.TB, g *gateway.Gateway, method, target, key, body string) *Answer {
	t.Helper()
	return Send(t, API(t, g), NewRequest(method, target, key, body))
}

// Next is the handler after the one that is tested. It answers 418 and shows what it got.
type Next struct{ Got *http.Request }

func (n *Next) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	n.Got = r
	w.WriteHeader(http.StatusTeapot)
	return nil
}
