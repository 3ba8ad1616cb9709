package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// match is what the table has for a path: one operation for each method, and the names in the path.
type match struct {
	api        api.API
	operations []*Operation
	name       string // {id}, or the rest of the path
	item       string // {session}
}

// matchRequest returns what is served for a request, nil if there is nothing. The lists of models of
// the families have the same paths; Anthropic's and Google's SDKs are known by their headers.
func matchRequest(r *http.Request) *match {
	if path, ok := googlePath(r); ok {
		return matchPath(path)
	}
	m := matchPath(r.URL.Path)
	a, ok := api.ByHeader(r.Header, nil).(api.Anthropic)
	if !ok {
		return m
	}
	if m == nil { // OpenRouter's family has /api/v1/model/
		if path, ok := strings.CutPrefix(cleanPath(r.URL.Path), "/api/v1/models/"); ok {
			m = matchPath("/v1/models/" + path)
		}
	}
	if m != nil && m.operations[0] == modelsEndpoint {
		return &match{api: a, operations: m.operations, name: m.name}
	}
	return m
}

// googleVersions are the versions of Google's API that its SDKs ask for, beside the one in the table.
var googleVersions = []string{api.OpenAIPrefix, api.GoogleAlphaPrefix}

// googlePath returns the path in the table for a path of Google's API with another version. What such a
// path has beside the models is not Google's below /v1/.
func googlePath(r *http.Request) (path string, ok bool) {
	clean := cleanPath(r.URL.Path)
	for _, version := range googleVersions {
		rest, ok := strings.CutPrefix(clean, version)
		if !ok || rest != "models" && !strings.HasPrefix(rest, "models/") {
			continue
		}
		_, google := api.ByHeader(r.Header, api.OpenAI{}).(api.Google)
		if google || r.Method == http.MethodPost && strings.Contains(rest, ":") {
			return api.GooglePrefix + rest, true
		}
	}
	return "", false
}

// matchPath returns what is served at a path that net/http has decoded, nil if there is nothing.
func matchPath(path string) *match {
	if p := theTable().exact[path]; p != nil {
		return p
	}
	if clean := cleanPath(path); clean != path {
		return matchPath(clean)
	}
	for _, p := range theTable().models {
		before, after, _ := strings.Cut(p.path, "{model}")
		rest, begins := strings.CutPrefix(path, before)
		if name, ends := strings.CutSuffix(rest, after); begins && ends && name != "" {
			return &match{api: p.api, operations: p.operations, name: name}
		}
	}
	for _, p := range theTable().patterns {
		if names, ok := segments(p.path, path); ok {
			return &match{api: p.api, operations: p.operations, name: names[0], item: names[1]}
		}
	}
	return nil
}

// cleanPath removes "//" and a slash at the end: some SDKs send them if the base URL ends in a
// slash.
func cleanPath(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// segments compares a path with a pattern and returns the names in it. No segment is empty.
func segments(pattern, path string) (names [2]string, ok bool) {
	n := 0
	for {
		want, moreWanted := cutSegment(&pattern)
		got, more := cutSegment(&path)
		if moreWanted != more {
			return names, false
		}
		switch {
		case strings.HasPrefix(want, "{") && got != "":
			names[n] = got
			n++
		case want != got:
			return names, false
		}
		if !more {
			return names, true
		}
	}
}

func cutSegment(path *string) (segment string, more bool) {
	segment, *path, more = strings.Cut(*path, "/")
	return segment, more
}

// operation returns the one for a request, nil if there is none.
func (m *match) operation(g Gateway, r *http.Request) *Operation {
	for _, e := range m.operations {
		switch has := sockets[e]; {
		case has != nil:
			if asksForWebSocket(r) && r.ProtoMajor == 1 && has(g) {
				return e
			}
		case r.Method == e.Method || r.Method == http.MethodHead && e.Method == http.MethodGet:
			return e
		}
	}
	return nil
}

// allowed returns the methods of a match.
func (m *match) allowed() (methods []string) {
	for _, e := range m.operations {
		if sockets[e] == nil {
			methods = append(methods, e.Method)
		}
	}
	return methods
}

// wrongMethod is the refusal of a method that no endpoint has. A client that asks for a WebSocket
// (Codex does, at responses) gets 426 and goes on with HTTP at once; after a 405 it would try
// again.
func (m *match) wrongMethod(g Gateway, r *http.Request) *apierror.Error {
	methods := strings.Join(m.allowed(), ", ")
	switch {
	case methods != "":
	case !slices.ContainsFunc(m.operations, func(e *Operation) bool { return sockets[e](g) }):
		return unknownURL(r)
	default:
		return apierror.New(apierror.InvalidValue, "%.200s is a WebSocket: it is served over HTTP/1.1, to its opening handshake", r.URL.Path)
	}
	if asksForWebSocket(r) {
		return apierror.New(apierror.UpgradeRequired, "%.200s is not served over WebSocket; use %s over HTTP", r.URL.Path, methods)
	}
	refusal := apierror.New(apierror.MethodNotAllowed, "%.10s is not possible on %.200s; use %s", r.Method, r.URL.Path, methods)
	refusal.Allow = m.allowed()
	return refusal
}

// asksForWebSocket reports whether a request is the opening handshake (RFC 6455, 4.1).
func asksForWebSocket(r *http.Request) bool {
	for protocol := range strings.SplitSeq(r.Header.Get("Upgrade"), ",") {
		if strings.EqualFold(strings.TrimSpace(protocol), "websocket") {
			return r.Method == http.MethodGet
		}
	}
	return false
}
