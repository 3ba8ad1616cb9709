package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/geminirules"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const (
	geminiModel = "gemini-3.7-flash"

	// geminiSignature is the one of the first call, geminiDummy that for calls of another model.
	geminiSignature = "dGhlIG1vZGVsJ3Mgb3duIHRob3VnaHRz"
	geminiDummy     = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
)

// signer is a provider with Google's rules. It answers the user with two calls, and results with a text.
type signer struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string // of requests, the oldest first
}

func newSigner(t *testing.T) *signer {
	g := &signer{}
	g.Server = httptest.NewServer(http.HandlerFunc(g.serve))
	t.Cleanup(g.Close)
	return g
}

func (g *signer) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	g.bodies = append(g.bodies, string(body))
	g.mu.Unlock()
	model, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1beta/models/"), ":")
	switch {
	case r.Header.Get("X-Goog-Api-Key") != harness.ProviderKey:
		geminiError(w, "API key not valid. Please pass a valid API key.")
	case method != "streamGenerateContent" || r.URL.RawQuery != "alt=sse":
		http.NotFound(w, r)
	default:
		g.generate(w, model, body)
	}
}

func geminiError(w http.ResponseWriter, message string) {
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})
}

func (g *signer) generate(w http.ResponseWriter, model string, body []byte) {
	if err := geminirules.Check(model, body); err != nil {
		geminiError(w, err.Error())
		return
	}
	said := readGemini(body)
	for _, p := range said.parts() {
		if s := p.ThoughtSignature; s != "" && s != geminiDummy && (s != geminiSignature || p.FunctionCall.Name != "weather") {
			geminiError(w, "Corrupted thought signature.")
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(parts, more string) {
		_, _ = fmt.Fprintf(w, "data: {\"candidates\":[{\"content\":{\"parts\":[%s],\"role\":\"model\"}%s}],\"usageMetadata\":{\"promptTokenCount\":20,\"candidatesTokenCount\":5,\"thoughtsTokenCount\":4,\"totalTokenCount\":29}}\r\n\r\n", parts, more)
	}
	last := said.Contents[len(said.Contents)-1].Parts
	if last[0].FunctionResponse != nil {
		event(`{"text":"It is mild."}`, `,"finishReason":"STOP"`)
		return
	}
	event(`{"text":"Two calls.","thought":true}`, "")
	event(`{"functionCall":{"name":"weather","id":"g1","args":{"city":"Oslo"}},"thoughtSignature":"`+geminiSignature+`"}`, "")
	event(`{"functionCall":{"name":"clock","id":"g2","args":{}}}`, "")
	event(`{"text":""}`, `,"finishReason":"STOP"`)
}

// geminiRequest is what the provider got.
type geminiRequest struct{ Contents []geminiContent }

type geminiContent struct {
	Role  string
	Parts []geminiPart
}

type geminiPart struct {
	Text             string
	ThoughtSignature string
	FunctionCall     struct{ Name string }
	FunctionResponse *struct {
		Name     string
		Response json.RawMessage
	}
}

func readGemini(body []byte) (r geminiRequest) {
	_ = json.Unmarshal(body, &r)
	return r
}

func (r geminiRequest) parts() (all []geminiPart) {
	for _, c := range r.Contents {
		all = append(all, c.Parts...)
	}
	return all
}

// taken returns the requests so far, and forgets them.
func (g *signer) taken() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	bodies := g.bodies
	g.bodies = nil
	return bodies
}

func (g *signer) setup() harness.Setup {
	return harness.Setup{Providers: "provider gem {\ndialect gemini\nbase_url " + g.URL + "/v1beta\napi_key {env.PROVIDER_KEY}\ndiscover off\nmodels " + geminiModel + "\n}"}
}
