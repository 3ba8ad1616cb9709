package handlers

import (
	"io"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// wrongBase is a row of paths that SDKs make of a wrong base URL.
type wrongBase struct {
	paths  string  // in lower case, with spaces between them; * stands for any text
	api    api.API // nil: by the path
	advice string
}

const (
	adviceOpenAI    = "the SDK's base URL must end in /v1 (OpenAI) or /api/v1 (OpenRouter)"
	adviceAnthropic = "the address of this API is /v1/messages; set the SDK's base URL so that it is asked for"
	adviceTwice     = "the base URL of this SDK must not end in /v1, which it adds itself"
	adviceTools     = "there is no sign-in by OAuth: send a gateway key as Authorization: Bearer"
	adviceSignIn    = "people sign in for /mcp/NAME alone: see /.well-known/oauth-protected-resource/mcp/NAME; or send a gateway key as a bearer token"
	adviceOther     = " is not served; use a client of OpenAI's API with a base URL that ends in /v1"
	adviceGoogle    = " is not served; use Google's SDK with the base URL of this gateway, which serves /v1beta/models, and without its Vertex AI mode"
	adviceRealtime  = "neither WebRTC nor SIP is served: open a session by WebSocket at /v1/realtime"
	adviceServed    = "this site serves /v1 (OpenAI, Anthropic), /api/v1 (OpenRouter), /v1beta (Google) and /mcp/NAME"
)

// wrongBelow has the wrong paths below the prefixes of the families.
var wrongBelow = []wrongBase{
	{"/v1/projects/* /v1/publishers/*", api.Google{}, "Vertex AI's API" + adviceGoogle},
	{"/v1/realtime/*", nil, adviceRealtime},
	{"/v1/v1/messages* /api/v1/v1/messages*", api.Anthropic{}, adviceTwice},
	{"/v1/v1/* /api/v1/v1/*", nil, adviceTwice},
	{"*/messages/v1/messages */messages/messages", api.Anthropic{}, adviceAnthropic},
	{"*/chat/completions/chat/completions */chat/completions/models */responses/responses */embeddings/embeddings", nil, adviceOpenAI},
}

// wrongElsewhere has those outside the prefixes, where a site may have handlers of its own.
var wrongElsewhere = []wrongBase{
	{"/openai/deployments/*", nil, "Azure's form of OpenAI's API" + adviceOther},
	{"/v1beta1/* /v1alpha1/*", api.Google{}, "Vertex AI's API" + adviceGoogle},
	{"/upload/* /resumable/upload/*", api.Google{}, "Google's upload of files" + adviceGoogle},
	{"/model/*", nil, "Bedrock's API" + adviceOther},
	{"/foundation-models* /inference-profiles* /guardrail/* /async-invoke*", nil, "Bedrock's API" + adviceOther},
	{"/v2/*", nil, "Cohere's API" + adviceOther},
	{"/api/v0/*", nil, "LM Studio's API" + adviceOther},
	{"/anthropic/* */messages */messages/count_tokens", api.Anthropic{}, adviceAnthropic},
	{"*/chat/completions */responses */models */embeddings */completions */moderations", nil, adviceOpenAI},
	{"*/images/generations */audio/speech */audio/transcriptions */rerank", nil, adviceOpenAI},
	{"/api/chat /api/generate /api/tags /api/show /api/ps /api/pull /api/embed /api/embeddings /api/version", nil, "Ollama's API" + adviceOther},
	// What MCP clients without a key ask for, to begin a sign-in.
	{"/.well-known/oauth-protected-resource* /.well-known/oauth-authorization-server* /.well-known/openid-configuration* /register", api.MCP{}, adviceTools},
	{"/openai /openai/* /openrouter /openrouter/* /models/* /responses/* /v1 /v1/* /api/v1 /api/v1/*", nil, adviceOpenAI},
}

// findWrong returns the first row that has a path, nil for none.
func findWrong(rows []wrongBase, path string) *wrongBase {
	path = strings.ToLower(cleanPath(path))
	for i := range rows {
		for pattern := range strings.FieldsSeq(rows[i].paths) {
			before, after, open := strings.Cut(pattern, "*")
			rest, ok := strings.CutPrefix(path, before)
			if ok && (rest == "" || open) && strings.HasSuffix(rest, after) {
				return &rows[i]
			}
		}
	}
	return nil
}

// family returns the family in whose shape a wrong path is answered.
func (b *wrongBase) family(r *http.Request) api.API {
	switch {
	case b.api != nil:
		return b.api
	case strings.HasPrefix(r.URL.Path, "/api/"):
		return api.ByHeader(r.Header, api.OpenRouter{})
	}
	return api.ByHeader(r.Header, api.OpenAI{})
}

func (b *wrongBase) refusal(r *http.Request) *apierror.Error {
	refusal := unknownURL(r)
	refusal.Message += ": " + b.advice
	return refusal
}

func unknownURL(r *http.Request) *apierror.Error {
	return apierror.New(apierror.UnknownURL, "unknown URL (%.10s %.200s)", r.Method, r.URL.Path)
}

// serveElsewhere leaves a path outside the prefixes to the site, and answers if the site does not: Caddy's
// answer would be an empty 200.
func (h *Gatehouse) serveElsewhere(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	noted := &notedWriter{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}}
	err := next.ServeHTTP(noted, r)
	if err != nil || noted.written || caddyhttp.GetVar(r.Context(), unhandled) != true {
		return err
	}
	caddyhttp.SetVar(r.Context(), unhandled, false) // for the access log
	if serve := documents[r.URL.Path]; serve != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		serve(w, r)
		return nil
	}
	wrong := findWrong(wrongElsewhere, r.URL.Path)
	if wrong == nil {
		wrong = &wrongBase{advice: adviceServed}
	}
	if _, ok := Offered[Challenger](h.gateway); ok && wrong.advice == adviceTools {
		wrong = &wrongBase{api: wrong.api, advice: adviceSignIn}
	}
	return refuse(h.gateway, w, r, wrong.family(r), wrong.refusal(r))
}

// unhandled is the variable that Caddy sets at the end of a site's handlers.
const unhandled = "unhandled"

// notedWriter notes whether an answer has begun.
type notedWriter struct {
	caddyhttp.ResponseWriterWrapper
	written bool
}

func (w *notedWriter) WriteHeader(status int) {
	w.written = w.written || status >= http.StatusOK || status == http.StatusSwitchingProtocols
	w.ResponseWriter.WriteHeader(status)
}

func (w *notedWriter) Write(p []byte) (int, error) {
	w.written = true
	return w.ResponseWriter.Write(p)
}

func (w *notedWriter) ReadFrom(r io.Reader) (int64, error) {
	w.written = true
	return w.ResponseWriterWrapper.ReadFrom(r)
}
