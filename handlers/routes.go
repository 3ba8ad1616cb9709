package handlers

import (
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// endpoint is one operation of the API, the same for both families.
type endpoint struct {
	name   string     // the single module is http.handlers.gatehouse_<name>
	method string     // the one method; a GET endpoint answers HEAD too
	scope  keys.Scope // 0 = any valid key
	model  bool       // a model call: it leaves a record when it succeeds, too
	serve  func(*exchange) error
}

var (
	chatEndpoint       = &endpoint{"chat", http.MethodPost, keys.ChatWrite, true, serveChat}
	responsesEndpoint  = &endpoint{"responses", http.MethodPost, keys.ChatWrite, true, serveResponses}
	modelsEndpoint     = &endpoint{"models", http.MethodGet, keys.ModelsRead, false, serveModels}
	activityEndpoint   = &endpoint{"activity", http.MethodGet, keys.ActivityRead, false, serveActivity}
	generationEndpoint = &endpoint{"generation", http.MethodGet, keys.ActivityRead, false, serveGeneration}
	keyEndpoint        = &endpoint{"key", http.MethodGet, 0, false, serveKey}
)

// route is a place in the API. A path that ends in a slash takes the rest of
// the request's path as a name; a model's name has slashes of its own.
type route struct {
	path     string
	family   family
	endpoint *endpoint
}

// The prefixes of the two families: what lies below them is ours, unknown
// URLs too.
const (
	openaiPrefix     = "/v1/"
	openrouterPrefix = "/api/v1/"
)

// routes is the one table of the API.
var routes = []route{
	{"/v1/models", openaiFamily{}, modelsEndpoint},
	{"/v1/models/", openaiFamily{}, modelsEndpoint},
	{"/v1/chat/completions", openaiFamily{}, chatEndpoint},
	{"/v1/responses", openaiFamily{}, responsesEndpoint},

	{"/api/v1/models", openrouterFamily{}, modelsEndpoint},
	{"/api/v1/model/", openrouterFamily{}, modelsEndpoint},
	{"/api/v1/chat/completions", openrouterFamily{}, chatEndpoint},
	{"/api/v1/responses", openrouterFamily{}, responsesEndpoint},
	{"/api/v1/activity", openrouterFamily{}, activityEndpoint},
	{"/api/v1/generation", openrouterFamily{}, generationEndpoint},
	{"/api/v1/key", openrouterFamily{}, keyEndpoint},
}

var exactRoutes, prefixRoutes = func() (map[string]*route, []*route) {
	exact := make(map[string]*route, len(routes))
	var prefixes []*route
	for i := range routes {
		exact[routes[i].path] = &routes[i]
		if strings.HasSuffix(routes[i].path, "/") {
			prefixes = append(prefixes, &routes[i])
		}
	}
	return exact, prefixes
}()

// labels names an endpoint of a family in records, metrics and logs.
var labels = func() map[labelKey]string {
	m := make(map[labelKey]string, len(routes))
	for i := range routes {
		r := &routes[i]
		key := labelKey{r.family.name(), r.endpoint}
		if m[key] == "" {
			m[key] = r.endpoint.method + " " + r.path
		}
	}
	return m
}()

type labelKey struct {
	family   string
	endpoint *endpoint
}

// labelOf is the endpoint's route in the table; an endpoint that a site's own
// routes serve for the other family is named by itself.
func labelOf(f family, e *endpoint) string {
	if label := labels[labelKey{f.name(), e}]; label != "" {
		return label
	}
	return e.method + " " + e.name
}

// findRoute returns the route of a path (decoded once, as net/http does it)
// and the name behind a prefix route.
func findRoute(path string) (*route, string) {
	if r, ok := exactRoutes[path]; ok && !strings.HasSuffix(path, "/") {
		return r, ""
	}
	if plain := tidy(path); plain != path {
		return findRoute(plain)
	}
	for _, r := range prefixRoutes {
		if name, ok := strings.CutPrefix(path, r.path); ok && name != "" {
			return r, name
		}
	}
	return nil, ""
}

// tidy forgives what a base URL with a slash at its end leads to in some
// SDKs: "//" and a slash at the end.
func tidy(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// familyOf tells which family a path belongs to; ok is false outside both.
func familyOf(path string) (f family, ok bool) {
	switch {
	case strings.HasPrefix(path, openrouterPrefix):
		return openrouterFamily{}, true
	case strings.HasPrefix(path, openaiPrefix):
		return openaiFamily{}, true
	}
	return nil, false
}
