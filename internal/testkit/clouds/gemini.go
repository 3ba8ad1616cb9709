// Package clouds puts the protocols of clouds in front of the fake provider of
// tests, which speaks OpenAI's. A face checks a request as strictly as the real
// service does, asks the provider behind it in the words of chat completions, and
// puts the answer into the service's own frames. So every behaviour of the
// provider exists in each protocol. No product code imports it.
//
//	POST /v1beta/models/gemini-3-echo:streamGenerateContent?alt=sse
//	  → POST /v1/chat/completions {"model": "echo", …}
//
// What the services take is written down here from their documentation and SDKs,
// and not from the translators of the product.
package clouds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
)

// Gemini is Google's generateContent, at the paths of the Gemini API and of Vertex
// AI. Its methods may be called from any goroutine.
type Gemini struct {
	behind http.Handler

	mu       sync.Mutex // guards the following
	requests []Request
}

// Request is what a face got.
type Request struct {
	Path   string // with the query
	Header http.Header
	Body   []byte
}

// maxBody bounds a request, in bytes.
const maxBody = 32 << 20

// NewGemini returns a face of a provider that has OpenAI's API under /v1.
func NewGemini(behind http.Handler) *Gemini { return &Gemini{behind: behind} }

// Requests returns what arrived, oldest first.
func (g *Gemini) Requests() []Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Request(nil), g.requests...)
}

// geminiPath has the name of a model and a method. The model begins with its
// generation, and the rest names the behaviour: gemini-2.5-echo.
var geminiPath = regexp.MustCompile(`/models/(gemini-(\d)[0-9.]*-)?([^/:]+):(\w+)$`)

// WrongKey is a key that the service does not know.
const WrongKey = "wrong-google-key"

func (g *Gemini) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	g.mu.Lock()
	g.requests = append(g.requests, Request{r.URL.RequestURI(), r.Header.Clone(), body})
	g.mu.Unlock()
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		g.list(w)
		return
	}
	found := geminiPath.FindStringSubmatch(r.URL.Path)
	if found == nil {
		googleError(w, 404, "NOT_FOUND", "Requested entity was not found.")
		return
	}
	vertex := strings.Contains(r.URL.Path, "/publishers/google/")
	switch {
	case vertex && !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer "):
		googleError(w, 401, "UNAUTHENTICATED", "Request is missing required authentication credential.")
		return
	case !vertex && r.Header.Get("X-Goog-Api-Key") == WrongKey, !vertex && r.Header.Get("X-Goog-Api-Key") == "":
		googleError(w, 400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`)
		return
	}
	c := &geminiCall{behind: g.behind, model: found[3], signs: found[2] != "1" && found[2] != "2"}
	switch method := found[4]; {
	case method == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse":
		c.generate(w, r, body)
	case method == "generateContent":
		c.whole(w, r, body)
	case method == "countTokens":
		count(w, body, vertex)
	case method == "batchEmbedContents", method == "predict" && vertex:
		embed(w, body, vertex)
	case method == "embedContent":
		embedOne(w, body)
	default:
		googleError(w, 404, "NOT_FOUND", "no method "+method)
	}
}

// list answers with the one page of the list of models.
func (g *Gemini) list(w http.ResponseWriter) {
	_, _ = io.WriteString(w, `{"models":[
		{"name":"models/gemini-3-echo","displayName":"Echo","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"],"thinking":true},
		{"name":"models/gemini-embedding-001","inputTokenLimit":2048,"supportedGenerationMethods":["embedContent"]},
		{"name":"models/imagen-4","supportedGenerationMethods":["predict"]}]}`)
}

// geminiCall is one call of generateContent.
type geminiCall struct {
	behind http.Handler
	model  string
	signs  bool // of the third generation or later
}

func (c *geminiCall) generate(w http.ResponseWriter, r *http.Request, body []byte) {
	var asked map[string]any
	if err := json.Unmarshal(body, &asked); err != nil {
		googleError(w, 400, "INVALID_ARGUMENT", "Invalid JSON payload received.")
		return
	}
	if refusal := unknownName(generateContent, asked, ""); refusal != "" {
		googleError(w, 400, "INVALID_ARGUMENT", "Invalid JSON payload received. "+refusal)
		return
	}
	chat, refusal := c.chatOf(asked)
	if refusal != "" {
		googleError(w, 400, "INVALID_ARGUMENT", refusal)
		return
	}
	if special := specials[c.model]; special != nil {
		special(w, asked)
		return
	}
	text, _ := json.Marshal(chat)
	behind := httptest.NewRequestWithContext(r.Context(), http.MethodPost, "/v1/chat/completions", bytes.NewReader(text))
	behind.Header.Set("Content-Type", "application/json")
	out := &geminiAnswer{ResponseWriter: w, signs: c.signs}
	c.behind.ServeHTTP(out, behind)
	out.end()
}

// chatOf returns the chat completion that is like a GenerateContentRequest, or why
// Google refuses that.
func (c *geminiCall) chatOf(asked map[string]any) (chat map[string]any, refusal string) {
	chat = map[string]any{"model": c.model, "stream": true, "stream_options": map[string]any{"include_usage": true}}
	messages := []any{}
	if system, ok := asked["systemInstruction"].(map[string]any); ok {
		messages = append(messages, map[string]any{"role": "system", "content": textsOf(system["parts"])})
	}
	contents, _ := asked["contents"].([]any)
	if len(contents) == 0 {
		return nil, "* GenerateContentRequest.contents: contents is not specified"
	}
	if refusal := c.checkTurns(contents); refusal != "" {
		return nil, refusal
	}
	var open []string // ids of calls without a result
	for i, v := range contents {
		content := v.(map[string]any)
		parts, _ := content["parts"].([]any)
		if len(parts) == 0 {
			return nil, fmt.Sprintf("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
		}
		role := map[any]string{"user": "user", "model": "assistant", nil: "user"}[content["role"]]
		if role == "" {
			return nil, "Please use a valid role: user, model."
		}
		message := map[string]any{"role": role, "content": textsOf(parts)}
		var calls []any
		for _, p := range parts {
			part := p.(map[string]any)
			if call, ok := part["functionCall"].(map[string]any); ok {
				if call["id"] != nil && !c.signs {
					return nil, `Invalid JSON payload received. Unknown name "id" at 'contents.parts.function_call': Cannot find field.`
				}
				args, _ := json.Marshal(call["args"])
				id := fmt.Sprintf("call_%d_%d", i, len(calls))
				open = append(open, id)
				calls = append(calls, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": call["name"], "arguments": string(args)}})
			}
			if result, ok := part["functionResponse"].(map[string]any); ok {
				if len(open) == 0 {
					return nil, "Please ensure that function response turn comes immediately after a function call turn."
				}
				text, _ := json.Marshal(result["response"])
				messages = append(messages, map[string]any{"role": "tool", "tool_call_id": open[0], "content": string(text)})
				open = open[1:]
				message = nil
			}
		}
		if len(calls) > 0 {
			message["tool_calls"] = calls
		}
		if message != nil {
			messages = append(messages, message)
		}
	}
	chat["messages"] = messages
	if config, ok := asked["generationConfig"].(map[string]any); ok && config["maxOutputTokens"] != nil {
		chat["max_tokens"] = config["maxOutputTokens"]
	}
	if config, ok := asked["generationConfig"].(map[string]any); ok && config["responseJsonSchema"] != nil {
		chat["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": config["responseJsonSchema"]}}
	}
	if tools := declared(asked["tools"]); len(tools) > 0 {
		chat["tools"] = tools
	}
	return chat, ""
}

// checkTurns checks what the third generation wants of calls that return.
func (c *geminiCall) checkTurns(contents []any) (refusal string) {
	if !c.signs {
		return ""
	}
	first := 0
	for i, v := range contents {
		content, _ := v.(map[string]any)
		if content["role"] != "model" && !strings.Contains(fmt.Sprint(content["parts"]), "functionResponse") {
			first = i
		}
	}
	for i, v := range contents {
		content, _ := v.(map[string]any)
		parts, _ := content["parts"].([]any)
		seen := false
		for n, p := range parts {
			part, _ := p.(map[string]any)
			if part["thoughtSignature"] == CorruptSignature {
				return "Corrupted thought signature."
			}
			call, ok := part["functionCall"].(map[string]any)
			if ok && !seen && part["thoughtSignature"] == nil && i > first {
				return fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%v` , position %d.", call["name"], n)
			}
			seen = seen || ok
		}
	}
	return ""
}

// CorruptSignature is one that the service refuses, Signature one that it gives.
const (
	CorruptSignature = "Y29ycnVwdA=="
	Signature        = "c2lnbmVkIGJ5IGdvb2dsZQ=="
)

func textsOf(parts any) string {
	var texts []string
	list, _ := parts.([]any)
	for _, p := range list {
		part, _ := p.(map[string]any)
		if text, ok := part["text"].(string); ok && part["thought"] != true {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// declared returns functions as chat has them.
func declared(tools any) (out []any) {
	list, _ := tools.([]any)
	for _, t := range list {
		tool, _ := t.(map[string]any)
		functions, _ := tool["functionDeclarations"].([]any)
		for _, f := range functions {
			function, _ := f.(map[string]any)
			parameters := function["parametersJsonSchema"]
			if parameters == nil {
				parameters = map[string]any{"type": "object", "properties": map[string]any{}}
			}
			out = append(out, map[string]any{"type": "function", "function": map[string]any{"name": function["name"], "parameters": parameters}})
		}
	}
	return out
}

// googleError answers with an error of Google's.
func googleError(w http.ResponseWriter, code int, status, message string, details ...string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(code)
	text, _ := json.Marshal(message)
	_, _ = fmt.Fprintf(w, "{\n  \"error\": {\n    \"code\": %d,\n    \"message\": %s,\n    \"status\": %q,\n    \"details\": [%s]\n  }\n}\n", code, text, status, strings.Join(details, ","))
}
