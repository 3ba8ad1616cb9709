package chatonmessages_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

func TestALimitOfTheGatewayReplacesTheRequests(t *testing.T) {
	opt := forModel(plainModel)
	opt.MaxOutput = 5
	for _, limits := range []string{`"max_tokens":null`, `"max_tokens":99`, `"max_completion_tokens":99`} {
		if r := translated(t, withField(limits), opt); !jsontest.Has(t, r.messages, `{"max_tokens":5}`) {
			t.Errorf("%s: got %s", limits, r.messages)
		}
	}
}

func TestNullIsNotSaid(t *testing.T) {
	members := translatetest.Nulls(chatonmessages.Fields(), "model", "messages")
	r := translated(t, `{"model":"m","messages":[{"role":"user","content":"hi"}]`+members+`}`, forModel("glm-5"))
	if want := `{"model":"glm-5","max_tokens":16384,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`; string(r.messages) != want {
		t.Errorf("got %s", r.messages)
	}
}

// A longer conversation begins with the bytes of the shorter one: prompt caches depend on it.
func TestALongerConversationBeginsLikeTheShorter(t *testing.T) {
	turns := []string{
		`{"role":"system","content":"be brief"}`, `{"role":"user","content":"a"}`,
		`{"role":"assistant","content":"b","tool_calls":[{"id":"call:1","type":"function","function":{"name":"x.y","arguments":"{\"k\": 1}"}}]}`,
		`{"role":"tool","tool_call_id":"call:1","content":"r"}`, `{"role":"assistant","content":"c"}`, `{"role":"user","content":[{"type":"text","text":"d"}]}`,
		`{"role":"assistant","content":"e"}`, `{"role":"user","content":"f"}`,
	}
	before := ""
	for _, n := range []int{2, 4, 6, 8} { // those that end with the user
		r := translated(t, `{"model":"m","messages":[`+strings.Join(turns[:n], ",")+`]}`, forModel("claude-opus-5-5"))
		text, _, _ := strings.Cut(strings.TrimSuffix(string(r.messages), "]}"), `],"tools"`)
		if !strings.HasPrefix(text, before) {
			t.Errorf("%s\ndoes not begin with %s", text, before)
		}
		before = text
	}
}

// Ids and names that the API does not take become others, always the same, and never one for two.
func TestIdsAndNamesAreReplacedTheSameWay(t *testing.T) {
	good := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := map[string]string{}
	for _, id := range []string{"call_1", "call:1", "call.1", "functions.x:0", "é", " ", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("a", 66), "call-1"} {
		quoted, _ := json.Marshal(id)
		r := translated(t, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":`+string(quoted)+`,"type":"function","function":{"name":`+string(quoted)+`,"arguments":"{}"}}]},
			{"role":"tool","tool_call_id":`+string(quoted)+`,"content":"r"}]}`, forModel(plainModel))
		var sent struct {
			Messages []struct {
				Content []struct {
					ID, Name string
					Use      string `json:"tool_use_id"`
				}
			}
		}
		if err := json.Unmarshal(r.messages, &sent); err != nil {
			t.Fatal(err)
		}
		call, result := sent.Messages[1].Content[0], sent.Messages[2].Content[0]
		if !good.MatchString(call.ID) || call.ID != result.Use || call.Name != call.ID || good.MatchString(id) != (call.ID == id) || seen[call.ID] != "" {
			t.Errorf("%q became %q and %q, name %q; before %q", id, call.ID, result.Use, call.Name, seen[call.ID])
		}
		seen[call.ID] = id
	}
}

func TestThoughtsReturnOnlyToWhereTheyAreFrom(t *testing.T) {
	answer := `{"type":"message","content":[{"type":"thinking","thinking":"hm \"x\"","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"a"}],"stop_reason":"end_turn"}`
	here := forModel(plainModel)
	out, _, err := result(translated(t, plainRequest, here).original, answer, true)
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal(out, &c); err != nil {
		t.Fatal(err)
	}
	message := strings.Replace(string(c.Choices[0].Message), `"refusal":null,`, "", 1)
	body := `{"model":"m","messages":[{"role":"user","content":"a"},` + message + `,{"role":"user","content":"b"}]}`
	want := `{"role":"assistant","content":[{"type":"thinking","thinking":"hm \"x\"","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"a"}]}`
	if r := translated(t, body, here); !strings.Contains(string(r.messages), want) {
		t.Errorf("the model gets %s", r.messages)
	}
	for _, elsewhere := range []chatonmessages.Options{forModel("claude-sonnet-4-5"), {UpstreamModel: plainModel, Origin: "other/" + plainModel}} {
		if r := translated(t, body, elsewhere); strings.Contains(string(r.messages), "thinking") {
			t.Errorf("another model gets %s", r.messages)
		}
	}
}

func TestAnAnswerDoesNotHoldTheRequest(t *testing.T) {
	translatetest.MustNotHold(t, plainRequest, func(b *jsonscan.Body) (*chatonmessages.Original, error) {
		_, original, err := chatonmessages.Request(conversation.OfChat(b), true, forModel(plainModel))
		return original, err
	})
}
