package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
)

// Operation is an operation of the route table.
type Operation = api.Operation

// Operations are those of the route table, without paths that another pattern has, too.
func Operations() (all []Operation) {
	for i, r := range routes {
		if slices.ContainsFunc(routes[:i], func(earlier route) bool {
			_, same := segments(earlier.path, r.path)
			return same && earlier.endpoint == r.endpoint
		}) {
			continue
		}
		path := r.path
		if strings.HasSuffix(path, "/") {
			path += "{model}"
		}
		all = append(all, Operation{Method: r.endpoint.method, Path: path, Family: r.api.Name(), Scope: r.endpoint.scope.String()})
	}
	return all
}

// documents are served at paths where a site has nothing of its own.
var documents = map[string]http.HandlerFunc{}

// AddDocument serves a document that needs no key, GET and HEAD, at a path outside the API's
// prefixes where the site has nothing of its own. It must be called before the program begins.
func AddDocument(path string, serve http.HandlerFunc) { documents[path] = serve }
