package chatonconverse_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonconverse"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

const plainModel = "us.amazon.nova-2-lite-v1:0"

// request translates a body as the gateway does.
func request(body string, opt chatonconverse.Options) ([]byte, *chatonconverse.Original, error) {
	var b jsonscan.Body
	defer b.Release()
	if err := b.Parse([]byte(body)); err != nil {
		return nil, nil, err
	}
	if _, err := params.ParseChat(&b); err != nil {
		return nil, nil, err
	}
	if opt.UpstreamModel == "" {
		opt.UpstreamModel = plainModel
	}
	return chatonconverse.Request(conversation.OfChat(&b), opt)
}

// A golden file has what the caller of chat completions sent (request.json) to which model
// (model.txt, optional), and what the provider gets (converse.json).
func TestGoldenRequests(t *testing.T) {
	for _, g := range translatetest.Goldens(t) {
		g.Run(t, func(t *testing.T, g *translatetest.Golden) {
			body, original, err := request(g.File("request.json"), chatonconverse.Options{
				UpstreamModel: strings.TrimSpace(g.File("model.txt")), Origin: "bedrock/m",
			})
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(body) {
				t.Fatalf("no JSON: %s", body)
			}
			g.Want("converse.json", translatetest.Indent(t, body))
			if left := original.LeftOut(); left != nil || g.File("left-out.txt") != "" {
				g.Want("left-out.txt", strings.Join(left, "\n")+"\n")
			}
		})
	}
}

func TestACountHasThePromptOfARequest(t *testing.T) {
	body, _, err := request(`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}],"max_tokens":9,"top_k":3,`+
		`"tools":[{"type":"function","function":{"name":"f"}}]}`, chatonconverse.Options{UpstreamModel: "anthropic.claude-sonnet-4-5-20250929-v1:0"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"input":{"converse":{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"hi"}]}],` +
		`"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},"additionalModelRequestFields":{"top_k":3}}}}`
	if got := string(chatonconverse.CountRequest(body)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestEveryFieldIsShown(t *testing.T) { translatetest.CheckShown(t, chatonconverse.Fields()) }

func TestTheManualHasTheFieldsOfTheTable(t *testing.T) {
	translatetest.CheckManual(t, "bedrock.md", "Chat request fields", chatonconverse.Fields())
}

func TestRequestsAreRefusedByTheirField(t *testing.T) {
	message := `{"role":"user","content":"hi"}`
	tool := `,"tools":[{"type":"function","function":{"name":"f"}}]`
	for _, c := range []struct{ model, more, messages, param, code string }{
		{more: `,"n":2`, param: "n", code: "unsupported_parameter"},
		{more: `,"logprobs":true`, param: "logprobs", code: "unsupported_parameter"},
		{more: `,"temperature":3`, param: "temperature", code: "invalid_value"},
		{more: `,"stop":[1]`, param: "stop[0]", code: "invalid_value"},
		{more: `,"response_format":{"type":"grammar"}`, param: "response_format.type", code: "unsupported_parameter"},
		{more: `,"service_tier":"scale"`, param: "service_tier", code: "unsupported_parameter"},
		{more: `,"tools":[{"type":"web_search"}]`, param: "tools[0].type", code: "unsupported_parameter"},
		{more: `,"tool_choice":"required"`, param: "tool_choice", code: "invalid_value"},
		{more: tool + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}`, param: "tool_choice.allowed_tools.tools", code: "invalid_value"},
		{more: tool + `,"tool_choice":{"type":"function","function":{"name":"f","strict":true}}`, param: "tool_choice.function.strict", code: "unsupported_parameter"},
		{model: "meta.llama4-scout-v1:0", more: tool + `,"tool_choice":"required"`, param: "tool_choice", code: "unsupported_parameter"},
		{model: "meta.llama4-scout-v1:0", more: `,"top_k":5`, param: "top_k", code: "unsupported_parameter"},
		{messages: `{"role":"user","content":" "}`, param: "messages", code: "invalid_value"},
		{messages: `{"role":"user","content":""},{"role":"assistant","content":"hi"},` + message, param: "messages", code: "invalid_value"},
		{model: "anthropic.claude-sonnet-4-5-20250929-v1:0", more: `,"max_tokens":1024,"reasoning_effort":"low"`, param: "reasoning_effort", code: "invalid_value"},
		{model: "anthropic.claude-sonnet-4-5-20250929-v1:0", more: `,"max_tokens":2000,"reasoning":{"max_tokens":2000}`, param: "reasoning.max_tokens", code: "invalid_value"},
		{model: "anthropic.claude-opus-5-5-v1", more: `,"reasoning_effort":"none"`, param: "reasoning_effort", code: "unsupported_parameter"},
		{model: "anthropic.claude-opus-5-5-v1", more: tool + `,"tool_choice":"required"`, param: "tool_choice", code: "unsupported_parameter"},
		{messages: `{"role":"assistant","content":"hi"}`, param: "messages", code: "invalid_value"},
		{messages: `{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x.invalid/a.png"}}]}`, param: "messages[0].content[0].image_url.url", code: "unsupported_parameter"},
		{messages: `{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}]}`, param: "messages[0].content[0].type", code: "unsupported_parameter"},
		{messages: message + `,{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"[1]"}}]}`, param: "messages[1].tool_calls[0].function.arguments", code: "invalid_value"},
	} {
		if c.messages == "" {
			c.messages = message
		}
		body := `{"model":"m","messages":[` + c.messages + `]` + c.more + `}`
		_, _, err := request(body, chatonconverse.Options{UpstreamModel: c.model})
		translatetest.MustRefuse(t, body, err, c.param, c.code)
	}
}

func FuzzRequest(f *testing.F) {
	translatetest.Requests{
		Accept: translatetest.Accepted(params.ParseChat),
		Translate: func(body string, _ byte) ([]byte, error) {
			sent, _, err := request(body, chatonconverse.Options{})
			return sent, err
		},
	}.Fuzz(f)
}

// Whoever may not count, or asks for a model that has no counter, gets an estimate: see 405.
func TestACountThatIsNotPossibleIsAMethodThatIsNot(t *testing.T) {
	for _, c := range []struct {
		status     int
		name, body string
		want       int
	}{
		{400, "ValidationException", `{"message":"The provided model doesn't support counting tokens."}`, 405},
		{400, "ValidationException", `{"message":"The provided model identifier is invalid."}`, 405},
		{404, "ResourceNotFoundException", `{"message":"gone"}`, 405},
		{403, "AccessDeniedException", `{"message":"not authorized to perform: bedrock:CountTokens"}`, 405},
		{404, "UnknownOperationException", ``, 405},
		{400, "ValidationException", `{"message":"malformed"}`, 400},
		{429, "ThrottlingException", `{"message":"slow"}`, 429},
	} {
		if r := chatonconverse.CountRefusal(c.status, http.Header{"X-Amzn-Errortype": {c.name}}, []byte(c.body)); r.Status != c.want || strings.Contains(string(r.Body), "model_not_found") {
			t.Errorf("%d %s %s: %d %s, want %d", c.status, c.name, c.body, r.Status, r.Body, c.want)
		}
	}
}

func TestAnAnswerDoesNotHoldTheRequest(t *testing.T) {
	translatetest.MustNotHold(t, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, func(b *jsonscan.Body) (*chatonconverse.Original, error) {
		_, original, err := chatonconverse.Request(conversation.OfChat(b), chatonconverse.Options{UpstreamModel: plainModel})
		return original, err
	})
}
