package chatongemini_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/geminirules"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

const plainModel = "gemini-3.7-flash"

// request translates a body as the gateway does.
func request(body string, opt chatongemini.Options) ([]byte, *chatongemini.Original, error) {
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
	return chatongemini.Request(conversation.OfChat(&b), opt)
}

// A golden file of a request has what the caller of chat completions sent (request.json) to which
// model (model.txt, optional), and what the provider gets (gemini.json), also after it refused the
// signatures (again.json).
func TestGoldenRequests(t *testing.T) {
	for _, g := range translatetest.Goldens(t) {
		if g.File("request.json") != "" {
			g.Run(t, checkRequest)
		}
	}
}

func checkRequest(t *testing.T, g *translatetest.Golden) {
	body, original, err := request(g.File("request.json"), chatongemini.Options{UpstreamModel: strings.TrimSpace(g.File("model.txt"))})
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(body) {
		t.Fatalf("no JSON: %s", body)
	}
	g.Want("gemini.json", translatetest.Indent(t, body))
	if err := geminirules.Check(cmp.Or(strings.TrimSpace(g.File("model.txt")), plainModel), body); err != nil {
		t.Errorf("a provider with Google's rules refuses the request: %v", err)
	}
	if left := original.LeftOut(); left != nil || g.File("left-out.txt") != "" {
		g.Want("left-out.txt", strings.Join(left, "\n")+"\n")
	}
	refused := `{"error":{"code":400,"message":"Corrupted thought signature.","status":"INVALID_ARGUMENT"}}`
	if again := original.Refusal(http.StatusBadRequest, nil, []byte(refused)).Repeat; again != nil || g.File("again.json") != "" {
		g.Want("again.json", translatetest.Indent(t, again))
	}
}

func TestEveryFieldIsShown(t *testing.T) { translatetest.CheckShown(t, chatongemini.Fields()) }

func TestTheManualHasTheFieldsOfTheTable(t *testing.T) {
	translatetest.CheckManual(t, "gemini.md", "Chat request fields", chatongemini.Fields())
}

func TestRequestsAreRefusedByTheirField(t *testing.T) {
	message := `{"role":"user","content":"hi"}`
	for _, c := range []struct {
		model, more, messages string
		param, code           string
	}{
		{more: `,"n":2`, param: "n", code: "unsupported_parameter"},
		{more: `,"presence_penalty":5`, param: "presence_penalty", code: "invalid_value"},
		{more: `,"temperature":3`, param: "temperature", code: "invalid_value"},
		{more: `,"seed":4294967296`, param: "seed", code: "invalid_value"},
		{more: `,"stop":["1","2","3","4","5","6"]`, param: "stop", code: "invalid_value"},
		{more: `,"stop":[1]`, param: "stop[0]", code: "invalid_value"},
		{more: `,"top_logprobs":21`, param: "top_logprobs", code: "invalid_value"},
		{more: `,"response_format":{"type":"grammar"}`, param: "response_format.type", code: "unsupported_parameter"},
		{more: `,"modalities":["text","audio"]`, param: "modalities[1]", code: "unsupported_parameter"},
		{more: `,"service_tier":"scale"`, param: "service_tier", code: "unsupported_parameter"},
		{more: `,"reasoning_effort":"enormous"`, param: "reasoning_effort", code: "invalid_value"},
		{more: `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"string"}}}]`, param: "tools[0].function.parameters.type", code: "invalid_value"},
		{more: `,"tools":[{"type":"web_search"}]`, param: "tools[0].type", code: "unsupported_parameter"},
		{more: `,"tool_choice":"required"`, param: "tool_choice", code: "invalid_value"},
		{more: `,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"g"}}`, param: "tool_choice", code: "invalid_value"},
		{model: "gemini-2.5-pro", more: `,"tools":[{"type":"function","function":{"name":"f"}}],"web_search_options":{}`, param: "web_search_options", code: "unsupported_parameter"},
		{messages: `{"role":"user","content":""}`, param: "messages", code: "invalid_value"},
		{messages: message + `,{"role":"tool","tool_call_id":"x","content":"1"}`, param: "messages[1].tool_call_id", code: "invalid_value"},
		{messages: `{"role":"user","content":[{"type":"file","file":{"file_url":"gs://bucket/a.txt"}}]}`, param: "messages[0].content[0].file.file_url", code: "unsupported_parameter"},
		{messages: `{"role":"user","content":[{"type":"file","file":{"file_data":"https:\/\/generativelanguage.googleapis.com\/v1beta\/files\/a"}}]}`, param: "messages[0].content[0].file.file_data", code: "unsupported_parameter"},
		{messages: `{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://x.invalid/a.png"}}]}`, param: "messages[0].content[0].image_url.url", code: "unsupported_parameter"},
		{messages: `{"role":"user","content":[{"type":"file","file":{"file_id":"f-1"}}]}`, param: "messages[0].content[0].file.file_id", code: "unsupported_parameter"},
		{messages: `{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA==","format":"midi"}}]}`, param: "messages[0].content[0].input_audio.format", code: "unsupported_parameter"},
		{messages: message + `,{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"[1]"}}]}`, param: "messages[1].tool_calls[0].function.arguments", code: "invalid_value"},
		{messages: message + `,{"role":"assistant","content":null}`, param: "messages[1].content", code: "missing_required_parameter"},
	} {
		if c.messages == "" {
			c.messages = message
		}
		body := `{"model":"m","messages":[` + c.messages + `]` + c.more + `}`
		_, _, err := request(body, chatongemini.Options{UpstreamModel: c.model})
		translatetest.MustRefuse(t, body, err, c.param, c.code)
	}
}

func TestTheThoughtsThatAreAskedForFitTheModel(t *testing.T) {
	for _, c := range []struct{ model, more, want string }{
		{"gemini-2.5-flash", `,"reasoning_effort":"high"`, `"includeThoughts":true,"thinkingBudget":24576`},
		{"gemini-2.5-flash", `,"reasoning_effort":"low","max_tokens":1000`, `"includeThoughts":true,"thinkingBudget":200`},
		{"gemini-2.5-flash", `,"reasoning_effort":"none"`, `"thinkingBudget":0`},
		{"gemini-2.5-flash-image", `,"reasoning_effort":"none"`, ``},
		{"gemini-2.5-flash-preview-tts", ``, ``},
		{"gemini-2.5-flash-native-audio-latest", ``, ``},
		{"gemini-3-pro-image", ``, `"includeThoughts":true`},
		{"gemini-2.5-pro", `,"reasoning_effort":"none"`, `"includeThoughts":true,"thinkingBudget":128`},
		{"gemini-2.5-pro", `,"reasoning":{"max_tokens":99999}`, `"includeThoughts":true,"thinkingBudget":32768`},
		{"gemini-2.5-flash-lite-001", `,"reasoning":{"max_tokens":1,"exclude":true}`, `"thinkingBudget":512`},
		{"gemini-3.7-flash", `,"reasoning_effort":"high"`, `"includeThoughts":true,"thinkingLevel":"HIGH"`},
		{"gemini-3.7-flash", `,"reasoning_effort":"minimal"`, `"includeThoughts":true,"thinkingLevel":"LOW"`},
		{"models/gemini-3-flash-preview", `,"reasoning_effort":"minimal"`, `"includeThoughts":true,"thinkingLevel":"MINIMAL"`},
		{"gemini-3-pro-preview", `,"reasoning_effort":"none"`, `"includeThoughts":true,"thinkingLevel":"LOW"`},
		{"gemini-3-pro-preview", `,"reasoning_effort":"medium"`, `"includeThoughts":true,"thinkingLevel":"HIGH"`},
		{"gemini-4-argon", `,"reasoning_effort":"xhigh"`, `"includeThoughts":true,"thinkingLevel":"HIGH"`},
		{"gemini-4-argon", `,"reasoning":{"max_tokens":6000}`, `"includeThoughts":true,"thinkingLevel":"MEDIUM"`},
		{"1234567890", ``, `"includeThoughts":true`},
		{"gemini-2.0-flash", `,"reasoning_effort":"high"`, ``},
		{"gemma-3-27b-it", `,"reasoning_effort":"high"`, ``},
	} {
		body, _, err := request(`{"model":"m","messages":[{"role":"user","content":"hi"}]`+c.more+`}`, chatongemini.Options{UpstreamModel: c.model})
		if err != nil {
			t.Fatal(err)
		}
		if err := geminirules.Check(c.model, body); err != nil {
			t.Errorf("%s%s: %v", c.model, c.more, err)
		}
		want := `"thinkingConfig":{` + c.want + `}`
		if c.want == "" {
			want = `"contents"`
		}
		if !strings.Contains(string(body), want) || c.want == "" && strings.Contains(string(body), "thinking") {
			t.Errorf("%s%s: %s", c.model, c.more, body)
		}
	}
}

func TestTheOperatorSetsTheLimitAndTheSafety(t *testing.T) {
	body, _, err := request(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`,
		chatongemini.Options{MaxOutput: 7, Safety: []byte(`[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]`)})
	if err != nil || !jsontest.Has(t, body, `{"maxOutputTokens":7}`) || !jsontest.Has(t, body, `{"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]}`) {
		t.Errorf("%s %v", body, err)
	}
}

func FuzzRequest(f *testing.F) {
	translatetest.Requests{
		Accept: translatetest.Accepted(params.ParseChat),
		Translate: func(body string, _ byte) ([]byte, error) {
			sent, _, err := request(body, chatongemini.Options{})
			return sent, err
		},
		Sent: func(t *testing.T, _ *jsonscan.Body, body string, _ byte) {
			_, original, _ := request(body, chatongemini.Options{})
			refused := `{"error":{"message":"Corrupted thought signature."}}`
			if again := original.Refusal(http.StatusBadRequest, nil, []byte(refused)).Repeat; again != nil && !json.Valid(again) {
				t.Fatalf("no JSON: %s", again)
			}
		},
	}.Fuzz(f)
}

func TestAnAnswerDoesNotHoldTheRequest(t *testing.T) {
	translatetest.MustNotHold(t, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, func(b *jsonscan.Body) (*chatongemini.Original, error) {
		_, original, err := chatongemini.Request(conversation.OfChat(b), chatongemini.Options{UpstreamModel: plainModel})
		return original, err
	})
}
