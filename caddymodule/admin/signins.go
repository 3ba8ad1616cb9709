package admin

import (
	"context"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// signIns is what the feature of sign-ins to programs offers to operators.
type signIns interface {
	// Operate lists sign-ins, or ends those of a user, who is kept out, or not any more: "list",
	// "end", "block" or "unblock".
	Operate(ctx context.Context, what, user string) (any, error)
}

// signInRoutes have what is done at a path by a method.
var signInRoutes = map[string]serveSignIns{
	"sign-ins":              {http.MethodGet: "list"},
	"sign-ins/{user}":       {http.MethodDelete: "end"},
	"sign-ins/{user}/block": {http.MethodPut: "block", http.MethodDelete: "unblock"},
}

// serveSignIns has what is done by a method.
type serveSignIns map[string]string

// ServeHTTP answers errors too, so it returns none.
func (m serveSignIns) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	active, err := running(r, r.Method)
	var answer any
	if err == nil {
		answer, err = m.answer(active, r)
	}
	write(w, answer, err)
	return nil
}

func (m serveSignIns) answer(active *gateway.Gateway, r *http.Request) (any, error) {
	what := m[r.Method]
	if what == "" {
		return nil, apierror.New(apierror.MethodNotAllowed, "%.10s is not possible here", r.Method)
	}
	s, ok := gateway.Offered[signIns](active)
	if !ok {
		return nil, apierror.New(apierror.NotFound, "nobody is known by name here: the configuration has no identity")
	}
	if err := active.Ready(r.Context()); err != nil {
		return nil, err
	}
	return s.Operate(r.Context(), what, r.PathValue("user"))
}
