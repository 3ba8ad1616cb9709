package handlers

import "net/http"

// documents are served at paths where a site has nothing of its own.
var documents = map[string]http.HandlerFunc{}

// AddDocument serves a document that needs no key, GET and HEAD, at a path outside the API's
// prefixes where the site has nothing of its own. A feature calls it in an init function.
func AddDocument(path string, serve http.HandlerFunc) { documents[path] = serve }
