package handlers

import (
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// place is what is served at a path: one endpoint for each method, and the
// names that the path holds.
type place struct {
	family     family
	endpoints  []*endpoint
	name, item string // {id}, or the rest of the path; {session}
}

// The table by the kind of its paths, each path once with all its endpoints.
var exactPlaces, prefixPlaces, segmentPlaces = func() (exact map[string]*place, prefixes, segments []pathPlace) {
	exact = make(map[string]*place, len(routes))
	for i := range routes {
		r := &routes[i]
		if p := exact[r.path]; p != nil {
			p.endpoints = append(p.endpoints, r.endpoint)
			continue
		}
		p := &place{family: r.family, endpoints: []*endpoint{r.endpoint}}
		exact[r.path] = p
		switch {
		case strings.HasSuffix(r.path, "/"):
			prefixes = append(prefixes, pathPlace{r.path, p})
		case strings.Contains(r.path, "{"):
			segments = append(segments, pathPlace{r.path, p})
		}
	}
	for _, p := range prefixes {
		delete(exact, p.path)
	}
	for _, p := range segments {
		delete(exact, p.path)
	}
	return exact, prefixes, segments
}()

type pathPlace struct {
	path string
	*place
}

// find returns what is served at a path, decoded once as net/http does it; nil
// is nothing.
func find(path string) *place {
	if p := exactPlaces[path]; p != nil {
		return p
	}
	if plain := tidy(path); plain != path {
		return find(plain)
	}
	for _, p := range prefixPlaces {
		if name, ok := strings.CutPrefix(path, p.path); ok && name != "" {
			return &place{family: p.family, endpoints: p.endpoints, name: name}
		}
	}
	for _, p := range segmentPlaces {
		if names, ok := segments(p.path, path); ok {
			return &place{family: p.family, endpoints: p.endpoints, name: names[0], item: names[1]}
		}
	}
	return nil
}

// segments holds a path against a pattern; no segment is empty.
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

// pick is the endpoint for a method, nil where there is none.
func (p *place) pick(method string) *endpoint {
	for _, e := range p.endpoints {
		if method == e.method || method == http.MethodHead && e.method == http.MethodGet {
			return e
		}
	}
	return nil
}

// allowed are the methods of a place.
func (p *place) allowed() []string {
	methods := make([]string, len(p.endpoints))
	for i, e := range p.endpoints {
		methods[i] = e.method
	}
	return methods
}

// wrongMethod is the refusal of a method that no endpoint of the place has. A client that asks for
// a WebSocket (Codex does, at responses) learns that only HTTP is spoken: on a 426 it goes on with
// HTTP at once, while a 405 it tries again.
func (p *place) wrongMethod(r *http.Request) *apierror.Error {
	methods := strings.Join(p.allowed(), ", ")
	if asksForWebSocket(r) {
		return apierror.New(apierror.UpgradeRequired, "%.200s is not served over WebSocket; use %s over HTTP", r.URL.Path, methods)
	}
	refusal := apierror.New(apierror.MethodNotAllowed, "%.10s is not possible on %.200s; use %s", r.Method, r.URL.Path, methods)
	refusal.Allow = p.allowed()
	return refusal
}

// asksForWebSocket recognises the opening handshake (RFC 6455, 4.1).
func asksForWebSocket(r *http.Request) bool {
	for protocol := range strings.SplitSeq(r.Header.Get("Upgrade"), ",") {
		if strings.EqualFold(strings.TrimSpace(protocol), "websocket") {
			return r.Method == http.MethodGet
		}
	}
	return false
}
