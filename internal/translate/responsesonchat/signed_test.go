package responsesonchat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chat"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

// signedRequest translates for a provider that signs its reasoning.
func signedRequest(t *testing.T, body string) (string, *responsesonchat.Original) {
	t.Helper()
	var b jsonscan.Body
	if err := b.Parse([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if _, err := params.ParseResponses(&b); err != nil {
		t.Fatal(err)
	}
	chat, original, err := responsesonchat.Request(&b, false, responsesonchat.Options{UpstreamModel: "echo", SignedReasoning: true, Chat: chat.Options{Links: true}})
	if err != nil {
		t.Fatal(err)
	}
	return string(chat), original
}

const askForSigned = `,"include":["reasoning.encrypted_content"]`

// pieces are reasoning_details as a stream has them: a block of text, one without text, an
// encrypted one, and one that nobody signed.
var pieces = []string{
	`{"type":"reasoning.text","text":"I ","id":"m","format":"f","index":0}`, `{"type":"reasoning.text","text":"think","index":0}`,
	`{"type":"reasoning.text","signature":"s1","format":"f","index":0}`, `{"type":"reasoning.text","text":"","signature":"s2","id":"m","format":"f","index":1}`,
	`{"type":"reasoning.encrypted","data":"d","id":"m","format":"f","index":2}`, `{"type":"reasoning.text","text":"unsigned","id":"m","format":"f","index":3}`,
}

const joined = `{"type":"reasoning.text","text":"I think","signature":"s1","id":"m","format":"f"},{"type":"reasoning.text","text":"","signature":"s2","id":"m","format":"f"},` +
	`{"type":"reasoning.encrypted","data":"d","id":"m","format":"f"}`

// contentOf returns what the encrypted_content of the first output item holds.
func contentOf(t *testing.T, response []byte) string {
	t.Helper()
	var r struct {
		Output []struct {
			Type    string
			Content string `json:"encrypted_content"`
		}
	}
	if err := json.Unmarshal(response, &r); err != nil || len(r.Output) == 0 || r.Output[0].Type != "reasoning" {
		t.Fatalf("%v: %s", err, response)
	}
	elements, _ := translate.UnwrapReasoning(r.Output[0].Content)
	return string(elements)
}

func TestSignedReasoningReturnsInItsItem(t *testing.T) {
	_, original := signedRequest(t, `{"model":"m","input":"hi"`+askForSigned+`}`)
	s := responsesonchat.NewStream(original, translatetest.NewCall(), counter{})
	var out []byte
	for _, p := range pieces {
		out = translatetest.Write(s, out, &openai.Delta{ReasoningDetails: []byte("[" + p + "]")})
	}
	out = translatetest.Write(s, out, &openai.Delta{Content: []byte(`"hello"`)})
	out = translatetest.Write(s, out, &openai.Delta{Finish: "stop"})
	out, err := s.Close(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := checkEvents(string(out)); err != nil {
		t.Error(err)
	}
	_, last, _ := strings.Cut(string(out), "event: response.completed\ndata: ")
	var e struct{ Response json.RawMessage }
	if err := json.Unmarshal([]byte(strings.TrimSpace(last)), &e); err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, e.Response); got != joined {
		t.Errorf("streamed %s", got)
	}

	answer := `{"choices":[{"index":0,"message":{"role":"assistant","content":"hello","reasoning_details":[` + strings.Join(pieces, ",") + `]},"finish_reason":"stop"}]}`
	whole, _, err := responsesonchat.Result(nil, []byte(answer), original, translatetest.NewCall(), counter{})
	if err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, whole); got != joined {
		t.Errorf("whole %s", got)
	}
	_, stateless := signedRequest(t, `{"model":"m","input":"hi","store":false}`)
	if whole, _, err = responsesonchat.Result(nil, []byte(answer), stateless, translatetest.NewCall(), counter{}); err != nil || contentOf(t, whole) != joined {
		t.Errorf("nothing is stored: %v, %s", err, whole)
	}
	_, plain := signedRequest(t, `{"model":"m","input":"hi"}`)
	if whole, _, err = responsesonchat.Result(nil, []byte(answer), plain, translatetest.NewCall(), counter{}); err != nil || strings.Contains(string(whole), "encrypted_content") {
		t.Errorf("nobody asked: %v, %s", err, whole)
	}
}

func TestSignedReasoningReturnsToItsModel(t *testing.T) {
	const element = `{"type":"reasoning.text","text":"I think","signature":"s1","id":"m","format":"` + translate.ClaudeThoughts + `"}`
	item := `{"type":"reasoning","summary":[],"encrypted_content":` + string(translate.WrapReasoning([]byte(element))) + `}`
	const foreign = `{"type":"reasoning","summary":[],"encrypted_content":"gAAAAABm"}`
	var b jsonscan.Body
	if err := b.Parse([]byte(`{"model":"m","input":[` + foreign + `,{"role":"assistant","content":"a"},` + item + `,{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}`)); err != nil {
		t.Fatal(err)
	}
	request, _ := responsesonchat.Read(&b, responsesonchat.Options{SignedReasoning: true})
	c := request.Read(&conversation.Rules{Origin: "m"})
	if err := request.Err(); err != nil || len(c.Turns) != 2 || len(c.Turns[1].Parts) != 2 {
		t.Fatalf("%v %+v", request.Err(), c)
	}
	if d := c.Turns[1].Parts[0].Thought; d == nil || string(d.Text) != "I think" || string(d.Signature) != `"s1"` {
		t.Errorf("%+v", d)
	}
}

func TestAFileByItsURLNeedsAProviderThatTakesIt(t *testing.T) {
	const file = `{"model":"m","input":[{"role":"user","content":[{"type":"input_file","file_url":"https://e.org/a.pdf","filename":"a.pdf"}]}]}`
	if chat, _ := signedRequest(t, file); !jsontest.Has(t, chat, `{"type":"file","file":{"file_url":"https://e.org/a.pdf","filename":"a.pdf"}}`) {
		t.Errorf("got %s", chat)
	}
	var b jsonscan.Body
	if err := b.Parse([]byte(file)); err != nil {
		t.Fatal(err)
	}
	_, _, err := responsesonchat.Request(&b, false, responsesonchat.Options{UpstreamModel: "echo"})
	translatetest.MustRefuse(t, file, err, "input[0].content[0].file_url", "unsupported_parameter")
}

func TestALaterRefusalNamesTheCallersField(t *testing.T) {
	for param, want := range map[string]string{
		"max_completion_tokens": "max_output_tokens", "messages[3].content[0].type": "input", "reasoning_effort": "reasoning.effort",
		"response_format.type": "text.format", "logprobs": "include", "temperature": "temperature", "messages_more": "messages_more",
	} {
		err := responsesonchat.CallerError(translate.Unsupported(param))
		if e := translatetest.MustFail(t, err); e.Param != want || !strings.HasPrefix(e.Message, `"`+want+`"`) {
			t.Errorf("%s became %s: %s", param, e.Param, e.Message)
		}
	}
	other := apierror.New(apierror.Internal, "x")
	if responsesonchat.CallerError(other) != error(other) {
		t.Error("an error without a field changes")
	}
}
