package handlers

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func TestWrongBaseURLsAreFound(t *testing.T) {
	for path, want := range map[string]string{
		"/chat/completions": adviceOpenAI, "/responses/": adviceOpenAI, "//models": adviceOpenAI, "/embeddings": adviceOpenAI, "/v1": adviceOpenAI,
		"/openai/v1/chat/completions": adviceOpenAI, "/V1/models": adviceOpenAI, "/V1/x": adviceOpenAI, "/api/chat/completions": adviceOpenAI,
		"/API/V1/key": adviceOpenAI, "/models/gpt": adviceOpenAI, "/messages": adviceAnthropic, "/anthropic/v1/messages": adviceAnthropic,
		"/api/chat": "Ollama's API" + adviceOther, "/api/tags": "Ollama's API" + adviceOther,
		"/openai/deployments/gpt/chat/completions":       "Azure's form of OpenAI's API" + adviceOther,
		"/.well-known/oauth-protected-resource/mcp/demo": adviceTools, "/.well-known/oauth-authorization-server": adviceTools, "/register": adviceTools,
		"/v1beta1/projects/p/locations/global/publishers/google/models/m:generateContent": "Vertex AI's API" + adviceGoogle,
		"/upload/v1beta/files": "Google's upload of files" + adviceGoogle, "/model/us.amazon.nova-pro-v1:0/converse": "Bedrock's API" + adviceOther,
		"/foundation-models": "Bedrock's API" + adviceOther, "/v2/chat": "Cohere's API" + adviceOther, "/api/v0/models": "LM Studio's API" + adviceOther,
		"/.well-known/acme-challenge/x": "", "/registered": "",
		"/": "", "": "", "/index.html": "", "/api": "", "/api/chats": "", "/model": "", "/v2": "", "/openaix": "",
	} {
		if got := findWrong(wrongElsewhere, path); (got != nil) != (want != "") || got != nil && got.advice != want {
			t.Errorf("%q: %+v, want %q", path, got, want)
		}
	}
}

func TestWrongBaseURLsBelowThePrefixesAreExplained(t *testing.T) {
	g := startGateway(t, setup{})
	for path, c := range map[string]struct{ code, advice string }{
		"/v1/v1/chat/completions":               {"unknown_url", adviceTwice},
		"/api/v1/v1/chat/completions":           {"not_found", adviceTwice},
		"/v1/chat/completions/chat/completions": {"unknown_url", adviceOpenAI},
		"/api/v1/chat/completions/models":       {"not_found", adviceOpenAI},
		"/v1/responses/responses":               {"unknown_url", adviceOpenAI},
	} {
		call(t, g, "POST", path, "full", "").Want(t, 404, c.code, c.advice)
	}
	for _, path := range []string{"/v1/threads/x/messages", "/v1/chat/completions/chatcmpl_1"} { // OpenAI's
		if a := call(t, g, "GET", path, "full", ""); a.At(t, "error", "message") != "unknown URL (GET "+path+")" {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
	}
	for _, path := range []string{"/v1/v1/messages", "/api/v1/v1/messages/count_tokens", "/v1/messages/v1/messages"} {
		if a := call(t, g, "POST", path, "full", ""); a.Code != 404 || a.At(t, "error", "type") != "not_found_error" {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
	}
}

// The end of a site's handlers sets a variable; a handler of the site does not.
func TestASitesOwnHandlersGoBeforeTheExplanation(t *testing.T) {
	g := startGateway(t, setup{})
	failure := errors.New("of the site")
	for name, c := range map[string]struct {
		unhandled bool
		write     func(http.ResponseWriter)
		err       error
		status    int
	}{
		"no handler":       {true, nil, nil, 404},
		"empty answer":     {false, nil, nil, 200},
		"writes a status":  {true, func(w http.ResponseWriter) { w.WriteHeader(204) }, nil, 204},
		"writes a body":    {true, func(w http.ResponseWriter) { _, _ = w.Write([]byte("x")) }, nil, 200},
		"fails":            {true, nil, failure, 200},
		"answers its page": {false, func(w http.ResponseWriter) { w.WriteHeader(418) }, nil, 418},
	} {
		r := newTestRequest("GET", "/openai/v1/models", "", "")
		vars := map[string]any{}
		r = r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, vars))
		a := newAnswer()
		err := (&Gatehouse{gateway: g}).ServeHTTP(a, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
			if c.unhandled {
				caddyhttp.SetVar(r.Context(), unhandled, true)
			}
			if c.write != nil {
				c.write(w)
			}
			return c.err
		}))
		if !errors.Is(err, c.err) || a.Code != c.status {
			t.Errorf("%s: %v, %d %s", name, err, a.Code, a.Body)
		}
		if c.status == 404 {
			a.Want(t, 404, "unknown_url", "unknown URL (GET /openai/v1/models): "+adviceOpenAI)
			if vars[unhandled] != false {
				t.Errorf("%s: the access log says that nothing was done", name)
			}
		}
	}
}
