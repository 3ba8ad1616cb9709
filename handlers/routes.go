package handlers

import (
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// endpoint is one operation of the API, the same for both families.
type endpoint struct {
	name     string     // the single module that has it is http.handlers.gatehouse_<name>
	method   string     // a GET endpoint answers HEAD too
	scope    keys.Scope // 0 = any valid key
	recorded bool       // it leaves a record when it succeeds, too
	serve    func(*exchange) error
}

var (
	chatEndpoint       = &endpoint{"chat", http.MethodPost, keys.ChatWrite, true, serveChat}
	responsesEndpoint  = &endpoint{"responses", http.MethodPost, keys.ChatWrite, true, serveResponses}
	modelsEndpoint     = &endpoint{"models", http.MethodGet, keys.ModelsRead, false, serveModels}
	activityEndpoint   = &endpoint{"activity", http.MethodGet, keys.ActivityRead, false, serveActivity}
	generationEndpoint = &endpoint{"generation", http.MethodGet, keys.ActivityRead, false, serveGeneration}
	keyEndpoint        = &endpoint{"key", http.MethodGet, 0, false, serveKey}

	vncURLEndpoint     = &endpoint{"vnc_url", http.MethodPost, keys.WorkstationsConnect, true, serveVNCURL}
	listEndpoint       = &endpoint{"workstations", http.MethodGet, 0, false, serveWorkstations} // one of two scopes
	showEndpoint       = &endpoint{"workstations", http.MethodGet, 0, false, serveWorkstation}
	registerEndpoint   = &endpoint{"workstations", http.MethodPut, keys.WorkstationsManage, true, registerWorkstation}
	releaseEndpoint    = &endpoint{"workstations", http.MethodDelete, keys.WorkstationsManage, true, releaseWorkstation}
	sessionsEndpoint   = &endpoint{"workstations", http.MethodGet, keys.WorkstationsManage, false, serveSessions}
	endSessionEndpoint = &endpoint{"workstations", http.MethodDelete, keys.WorkstationsManage, true, endSession}
)

// route is a place in the API for one method. A path that ends in a slash takes
// the rest of the request's path as a name; a model's name has slashes of its
// own. {id} and {session} stand for one segment each.
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

	{"/v1/workstations", openaiFamily{}, listEndpoint},
	{"/v1/workstations/{id}", openaiFamily{}, showEndpoint},
	{"/v1/workstations/{id}", openaiFamily{}, registerEndpoint},
	{"/v1/workstations/{id}", openaiFamily{}, releaseEndpoint},
	{"/v1/workstations/{id}/vnc", openaiFamily{}, vncURLEndpoint},
	{"/v1/workstations/{id}/sessions", openaiFamily{}, sessionsEndpoint},
	{"/v1/workstations/{id}/sessions/{session}", openaiFamily{}, endSessionEndpoint},

	{"/api/v1/models", openrouterFamily{}, modelsEndpoint},
	{"/api/v1/model/", openrouterFamily{}, modelsEndpoint},
	{"/api/v1/chat/completions", openrouterFamily{}, chatEndpoint},
	{"/api/v1/responses", openrouterFamily{}, responsesEndpoint},
	{"/api/v1/activity", openrouterFamily{}, activityEndpoint},
	{"/api/v1/generation", openrouterFamily{}, generationEndpoint},
	{"/api/v1/key", openrouterFamily{}, keyEndpoint},
}

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
