package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

func init() {
	caddy.RegisterModule(Health{})
}

// The paths of probes, unless the options say otherwise.
const (
	defaultHealthz = "/healthz"
	defaultReadyz  = "/readyz"
)

// Health answers the probes of balancers and of Kubernetes, GET and HEAD, without a key. It asks no
// provider, and names none. Probes are in no record and in no metric of the gateway. Requests of
// other paths go to the next handler.
type Health struct {
	// Healthz is the path of the liveness probe: 200 while the process serves. Default: "/healthz".
	Healthz string `json:"healthz,omitempty"`
	// Readyz is the path of the readiness probe: 200, or 503 while the gateway starts, while its
	// database cannot be written, and from the signal to stop on. Other faults show as "degraded" in
	// a 200. Default: "/readyz".
	Readyz string `json:"readyz,omitempty"`

	gateway interface{ Condition() report.Condition }
}

// CaddyModule returns the module's information.
func (Health) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.gatehouse_health", New: func() caddy.Module { return new(Health) }}
}

// Provision checks the paths and finds the gateway of the gatehouse app.
func (h *Health) Provision(ctx caddy.Context) (err error) {
	if err := caddykit.CheckPlaceholders(h); err != nil {
		return err
	}
	if h.Healthz == "" {
		h.Healthz = defaultHealthz
	}
	if h.Readyz == "" {
		h.Readyz = defaultReadyz
	}
	for _, path := range []string{h.Healthz, h.Readyz} {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "*?#{") {
			return fmt.Errorf("gatehouse_health: %q is not a path: it must begin with a slash, and has no wildcard, query or placeholder", path)
		}
	}
	if h.Healthz == h.Readyz {
		return fmt.Errorf("gatehouse_health: healthz and readyz have the same path %q", h.Healthz)
	}
	h.gateway, err = caddykit.Part[interface{ Condition() report.Condition }](ctx)
	return err
}

// healthAnswer is the body of both probes. Parts has words, no names of what they consist of:
// anybody may read it.
type healthAnswer struct {
	// Status is that of the gateway, or alive.
	Status string `json:"status"`
	// Parts has the state of each part by its name.
	Parts map[string]string `json:"parts,omitempty"`
}

// alive is the status of a liveness probe.
const alive = "alive"

func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	live := r.URL.Path == h.Healthz
	if !live && r.URL.Path != h.Readyz {
		return next.ServeHTTP(w, r)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return nil
	}
	if live {
		return answerProbe(w, r, http.StatusOK, healthAnswer{Status: alive})
	}
	condition := report.Condition{State: report.StateShuttingDown}
	if !shuttingDown(r) {
		condition = h.gateway.Condition()
	}
	answer := healthAnswer{Status: condition.State, Parts: make(map[string]string, len(condition.Parts))}
	for _, part := range condition.Parts {
		answer.Parts[part.Name] = part.State
	}
	status := http.StatusOK
	if !condition.Ready() {
		status = http.StatusServiceUnavailable
	}
	return answerProbe(w, r, status, answer)
}

// shuttingDown reports whether the process is about to exit, or the server waits for its
// shutdown_delay.
func shuttingDown(r *http.Request) bool {
	if caddy.Exiting() {
		return true
	}
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return false
	}
	value, _ := repl.Get("http.shutting_down")
	stopping, _ := value.(bool)
	return stopping
}

func answerProbe(w http.ResponseWriter, r *http.Request, status int, answer healthAnswer) error {
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	header := w.Header()
	header["Content-Type"] = jsonContentType
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the prober has left
	}
	return nil
}

// UnmarshalCaddyfile reads the directive:
//
//	gatehouse_health [<matcher>] {
//		healthz <path>
//		readyz  <path>
//	}
func (h *Health) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{"healthz": caddykit.Word(&h.Healthz), "readyz": caddykit.Word(&h.Readyz)}.Block(d)
}

var (
	_ caddy.Provisioner           = (*Health)(nil)
	_ caddyhttp.MiddlewareHandler = (*Health)(nil)
)
