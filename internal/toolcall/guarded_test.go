package toolcall

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// numbered redacts a word, and a number that is data.
func numbered(t testing.TB) *judge.Guardrail {
	t.Helper()
	g, err := judge.Compile(judge.Spec{Name: "masked", Rules: []judge.Rule{
		{Action: judge.Redact, Detector: judge.Words, Words: []string{"mellon"}}, {Action: judge.Redact, Detector: judge.Card},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// secrets has a word and a number of numbered as a key, a string and numbers at some depth.
const (
	secrets = `{"mellon":{"a":["say mellon",4111111111111111,true,7]},"n":4111111111111111}`
	masked  = `{"[REDACTED:words]":{"a":["say [REDACTED:words]","[REDACTED:card]",true,7]},"n":"[REDACTED:card]"}`
)

// mask returns a message as the other side gets it.
func mask(message string) string { return strings.ReplaceAll(message, secrets, masked) }

func wantMasked(t *testing.T, name, got, message string) {
	t.Helper()
	if got != mask(message) || !json.Valid([]byte(got)) {
		t.Errorf("%s:\ngot  %s\nwant %s", name, got, mask(message))
	}
}

// What a server reads as text is judged, in whichever message a client says it.
func TestWhatAServerReadsIsJudged(t *testing.T) {
	for name, message := range map[string]string{
		"arguments":        message("tools/call", `{"name":"echo","arguments":`+secrets+`}`),
		"prompt arguments": message("prompts/get", `{"name":"p","arguments":`+secrets+`}`),
		"input responses":  message("tools/call", `{"name":"echo","arguments":{},"inputResponses":{"a":{"action":"accept","content":`+secrets+`}}}`),
		"elicited":         `{"jsonrpc":"2.0","id":3,"result":{"action":"accept","content":` + secrets + `}}`,
		"sampled":          `{"jsonrpc":"2.0","id":3,"result":{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"t","name":"n","input":` + secrets + `}]}}`,
	} {
		var sent string
		r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			if sent = string(body); err != nil || jsontest.Has(t, sent, `{"id":3}`) {
				return reply(http.StatusAccepted, "", strings.NewReader("")), err
			}
			return reply(200, asJSON, strings.NewReader(result)), nil
		}), func(r *rig) { r.Guardrails.All = []guardrail.Guardrail{numbered(t)} })
		req := post(message)
		if !strings.Contains(message, `"method"`) {
			req = old(http.MethodPost, "", message)
		}
		if w := r.serve(req); w.Code >= 300 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		wantMasked(t, name, sent, message)
	}
}

// What a client or its model reads as text is judged, in whichever message a server says it.
func TestWhatAServerSaysIsJudged(t *testing.T) {
	for name, said := range map[string]string{
		"structured content": `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"7"}],"structuredContent":` + secrets + `}}`,
		"a list":             `{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":[` + secrets + `]}}`,
		"input requests":     `{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"x":` + secrets + `}}}}}`,
		"the data of errors": `{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"m","data":` + secrets + `}}`,
	} {
		r := newRig(t, answering(200, asJSON, said), func(r *rig) { r.Guardrails.All = []guardrail.Guardrail{numbered(t)} })
		wantMasked(t, name, r.serve(post(toolCall("echo"))).Body.String(), said)
	}
	for name, said := range map[string]string{
		"log messages": `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + secrets + `}}`,
		"sampling": `{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[{"role":"assistant","content":{"type":"tool_use","input":` + secrets + `}},` +
			`{"role":"user","content":[{"type":"tool_result","content":[],"structuredContent":` + secrets + `}]}]}}`,
	} {
		r := newRig(t, answering(200, asEvents, "data: "+said+"\n\ndata: "+result+"\n\n"), func(r *rig) { r.Guardrails.All = []guardrail.Guardrail{numbered(t)} })
		first, _, _ := strings.Cut(r.serve(post(toolCall("echo"))).Body.String(), "\n\n")
		wantMasked(t, name, strings.TrimPrefix(first, "data: "), said)
	}
}

// Fields that a block forwards are read by the server, with or without a message.
func TestForwardedFieldsAreJudged(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		var sent http.Header
		r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			sent = req.Header
			return reply(200, asJSON, strings.NewReader(result)), nil
		}), func(r *rig) {
			r.Guardrails.All, r.config.Forward = []guardrail.Guardrail{numbered(t)}, []string{"X-Team"}
		})
		req := old(method, "", "")
		if method == http.MethodPost {
			req = post(toolCall("echo"))
		}
		req.Header["X-Team"] = []string{"=?base64?bWVsbG9u?=", "we say mellon"}
		req.Header.Set(mcp.HeaderParam+"Text", "=?base64?bWVsbG9u?=")
		r.serve(req)
		if got := sent["X-Team"]; len(got) != 2 || got[0] != "=?base64?bWVsbG9u?=" || got[1] != "we say [REDACTED:words]" || sent.Get(mcp.HeaderParam+"Text") != "[REDACTED:words]" {
			t.Errorf("%s: %v", method, sent)
		}
	}
}
