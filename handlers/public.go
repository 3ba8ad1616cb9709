package handlers

import (
	"context"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// Public serves the route table to a caller who has been authenticated in another way than by a key
// in the request: the console serves its pages with it. What only reads leaves no row and, but where an
// operator must act, no line in the log: an open page reads every few seconds, and may ask for what this
// gateway does not have.
func Public(g *gateway.Gateway, caller request.Caller) http.Handler {
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

// ofPage reports whether a page of the console has sent the request.
func ofPage(r *http.Request) bool { return r.Context().Value(pageKey{}) != nil }
