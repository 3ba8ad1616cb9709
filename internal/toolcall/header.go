package toolcall

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// passedFields are what the server gets of the header of a request, besides those that its block names.
// The caller's key is never among them (MCP 2026-07-28, "Token Passthrough").
var passedFields = []string{"Accept", mcp.HeaderVersion, mcp.HeaderMethod, mcp.HeaderName}

// headerOf returns the header of the upstream request. Session is "" for none.
func headerOf(r *http.Request, s *toolserver.Server, session string) http.Header {
	h := make(http.Header, 12)
	pass := func(name string) {
		if values := r.Header[name]; len(values) > 0 {
			h[name] = values
		}
	}
	if r.Method == http.MethodPost {
		h["Content-Type"] = jsonContentType
	}
	for _, name := range passedFields {
		pass(name)
	}
	if h["Accept"] == nil {
		h["Accept"] = anyAnswer
	}
	for name := range r.Header {
		if strings.HasPrefix(name, mcp.HeaderParam) {
			pass(name)
		}
	}
	if session != "" {
		h[mcp.HeaderSession] = []string{session}
		pass(mcp.HeaderLastEvent)
	}
	for _, name := range s.Forward {
		pass(name)
	}
	if parent := request.Traceparent(r); s.TraceContext && parent != "" {
		h["Traceparent"] = []string{parent}
	}
	return h
}

var anyAnswer = []string{"application/json, text/event-stream"}

// judgeHeader has the guardrails judge what a client says in the header: fields that repeat the message's
// name and arguments, and those that the server's block forwards. What they take out of the message they
// take out of the former.
func judgeHeader(ctx context.Context, g *admission.Guard, h http.Header, forward []string) error {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(h)), func(name string) bool {
		return !repeats(name) && !slices.Contains(forward, name)
	})
	if len(names) == 0 {
		return nil
	}
	var texts struct {
		Fields [][]string `json:"fields"`
	}
	for _, name := range names {
		values := slices.Clone(h[name])
		for i, value := range values {
			if decoded, ok := mcp.DecodeName(value); ok && repeats(name) {
				values[i] = decoded
			}
		}
		texts.Fields = append(texts.Fields, values)
	}
	judged, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	redacted, err := g.Request(ctx, judged, false)
	if err != nil || redacted == nil {
		return err
	}
	if err := json.Unmarshal(redacted, &texts); err != nil {
		return err
	}
	for i, name := range names {
		for k, value := range texts.Fields[i] {
			if repeats(name) {
				texts.Fields[i][k] = mcp.EncodeName(value)
			}
		}
		h[name] = texts.Fields[i]
	}
	return nil
}

// repeats reports whether a field says what the message says too.
func repeats(name string) bool {
	return name == mcp.HeaderName || strings.HasPrefix(name, mcp.HeaderParam)
}
