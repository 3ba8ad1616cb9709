package handlers

import (
	"context"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// Public returns what serves the route table of a configuration to callers who have been
// authenticated in another way than by a key in the request: the console serves its pages with it.
// What only reads leaves no row and, but where an operator must act, no line in the log: an open
// page reads every few seconds, and may ask for what this gateway does not have.
func Public(ctx caddy.Context) (func(request.Caller) http.Handler, error) {
	g, err := caddykit.Part[Gateway](ctx)
	return func(caller request.Caller) http.Handler { return public(g, caller) }, err
}

func public(g Gateway, caller request.Caller) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = withCaller(g, r.WithContext(context.WithValue(r.Context(), pageKey{}, true)), caller)
		if found := matchRequest(r); found != nil {
			_ = serve(g, w, r, found) // never fails: it has answered
			return
		}
		_ = refuse(g, w, r, api.OpenAI{}, unknownURL(r))
	})
}

type pageKey struct{}

// OfPage reports whether a page of the console has sent the request.
func OfPage(r *http.Request) bool { return r.Context().Value(pageKey{}) != nil }
