package admin

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	signins "github.com/gatehouse-proxy/gatehouse/internal/features/authserver"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// signInRoutes are those of sign-ins to programs, by the path and the method.
var signInRoutes = map[string]map[string]func(s *signins.SignIns, r *http.Request) (any, error){
	"sign-ins": {http.MethodGet: func(s *signins.SignIns, _ *http.Request) (any, error) { return s.List(), nil }},
	"sign-ins/{user}": {http.MethodDelete: func(s *signins.SignIns, r *http.Request) (any, error) {
		return s.End(r.Context(), r.PathValue("user"))
	}},
	"sign-ins/{user}/block": {
		http.MethodPut: func(s *signins.SignIns, r *http.Request) (any, error) {
			return s.Block(r.Context(), r.PathValue("user"))
		},
		http.MethodDelete: func(s *signins.SignIns, r *http.Request) (any, error) {
			return nil, s.Unblock(r.Context(), r.PathValue("user"))
		},
	},
}

// serveSignIns serves the methods of a path.
type serveSignIns map[string]func(s *signins.SignIns, r *http.Request) (any, error)

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
	serve := m[r.Method]
	if serve == nil {
		return nil, apierror.New(apierror.MethodNotAllowed, "%.10s is not possible here", r.Method)
	}
	s, ok := gateway.Offered[*signins.SignIns](active)
	if !ok {
		return nil, apierror.New(apierror.NotFound, "nobody signs in to programs here: the configuration has no block authorization_server")
	}
	if err := active.Ready(r.Context()); err != nil {
		return nil, err
	}
	return serve(s, r)
}
