package guardrail_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

// denying is a guardrail that denies a word, or a card number.
func denying(t testing.TB, word string) *guardrail.Set {
	return compiled(t, guardrail.Spec{Name: "g", Rules: []guardrail.Rule{
		{Action: guardrail.Deny, Detector: guardrail.Words, Words: []string{word}},
		{Action: guardrail.Deny, Detector: guardrail.Card},
	}})
}

// data is base64 of n characters that are words too.
func data(n int) string { return strings.Repeat("forbidden/", n/10+1)[:n] }

func TestWhatOnlyNamesOrEncodesIsNotRead(t *testing.T) {
	set := denying(t, "forbidden")
	for _, body := range []string{
		`{"model":"forbidden","models":["a/forbidden"],"previous_response_id":"forbidden.1","prompt_cache_key":"forbidden-2"}`,
		`{"messages":[{"role":"tool","tool_call_id":"call-forbidden-1","content":"x"},{"tool_calls":[{"id":"forbidden:0","type":"function"}]}]}`,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data(40) + `","detail":"auto"}}]}]}`,
		`{"messages":[{"content":[{"image_url":{"url":"data:image\/png;base64,` + strings.ReplaceAll(data(40), "/", `\/`) + `"}}]}]}`,
		`{"messages":[{"content":[{"input_audio":{"data":"` + data(32) + `"}},{"file":{"file_data":"data:application/pdf;base64,` + data(32) + `","file_id":"forbidden.1"}}]}]}`,
		`{"input":[{"type":"reasoning","id":"forbidden.1","encrypted_content":"` + data(99) + `"},{"type":"message","content":[{"file_id":"forbidden.1"}]}]}`,
		`{"input":[{"result":"` + data(2000) + `","type":"image_generation_call"},{"output":{"type":"computer_screenshot","image_url":"data:image/png;base64,` + data(50) + `"}}]}`,
		`{"input":[{"call_id":"forbidden|1","output":[{"type":"input_image","image_url":"data:image/png;base64,` + data(50) + `"}]}]}`,
	} {
		if r, err := set.Request(t.Context(), []byte(body)); err != nil || r.Verdict != nil {
			t.Errorf("%.120s: %v, %v", body, r.Verdict, err)
		}
	}
	signed := `{"tool_calls":[{"index":0,"extra_content":{"google":{"thought_signature":"` + data(40) + `"}}}]}`
	if r, err := set.Request(t.Context(), []byte(`{"messages":[`+signed+`]}`)); err != nil || r.Verdict != nil {
		t.Errorf("a signature in a request: %v, %v", r.Verdict, err)
	}
	if r, err := set.Answer(t.Context(), []byte(`{"choices":[{"message":`+signed+`}]}`)); err != nil || r.Verdict != nil {
		t.Errorf("a signature in an answer: %v, %v", r.Verdict, err)
	}
	for _, delta := range []string{signed, `{"audio":{"id":"a","data":"forbidden"}}`} {
		event := `{"choices":[{"index":0,"delta":` + delta + `}]}`
		events, v, err := set.Stream(guardrail.Chat).Push(nil, []byte(event))
		if v != nil || err != nil || len(events) != 1 || string(events[0].Data) != event {
			t.Errorf("%s became %s: %v, %v", event, events, v, err)
		}
	}
	// Words of the APIs are no find, whatever is on the list.
	for _, word := range []string{"tool", "function", "auto", "stop", "completed"} {
		body := `{"tool_choice":"auto","messages":[{"role":"tool","content":"x"},{"tool_calls":[{"type":"function"}]}],"input":[{"status":"completed"}]}`
		if r, err := denying(t, word).Request(t.Context(), []byte(body)); err != nil || r.Verdict != nil {
			t.Errorf("request, %s: %v, %v", word, r.Verdict, err)
		}
		body = `{"object":"chat.completion","choices":[{"finish_reason":"stop","message":{"role":"tool","tool_calls":[{"type":"function"}]}}],"output":[{"status":"completed"}]}`
		if r, err := denying(t, word).Answer(t.Context(), []byte(body)); err != nil || r.Verdict != nil {
			t.Errorf("answer, %s: %v, %v", word, r.Verdict, err)
		}
	}
}

func TestNoMemberHidesAText(t *testing.T) {
	set := denying(t, "forbidden")
	for _, body := range []string{
		`{"messages":[{"role":"forbidden","content":"x"}]}`,
		`{"messages":[{"role":"tool","tool_call_id":"forbidden","content":"x"}]}`,
		`{"messages":[{"role":"tool","tool_call_id":"a forbidden 1","content":"x"}]}`,
		`{"messages":[{"role":"tool","tool_call_id":"4111111111111111","content":"x"}]}`,
		`{"messages":[{"role":"tool","tool_call_id":"1-forbidden-` + data(128) + `","content":"x"}]}`,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"https://x.example/1?q=forbidden"}}]}]}`,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:text/plain,forbidden"}}]}]}`,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:` + data(200) + `"}}]}]}`,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"x","detail":"forbidden","more":["forbidden"]}}]}]}`,
		`{"messages":[{"content":[{"input_audio":{"data":"forbidden"}}]}]}`,
		`{"messages":[{"tool_calls":[{"extra_content":{"google":{"thought_signature":"forbidden"}}}]}]}`,
		`{"messages":[{"tool_calls":[{"extra_content":{"google":{"thought":"` + data(40) + `"}}}]}]}`,
		`{"documents":[{"id":"forbidden-1","detail":"auto"}]}`,
		`{"chat_template_kwargs":{"detail":"forbidden"}}`,
		`{"chat_template_kwargs":{"image_url":{"url":["forbidden"]}}}`,
		`{"input":[{"type":"file_search_call","results":[{"attributes":{"status":"forbidden"},"text":"x"}]}]}`,
		`{"input":[{"type":"mcp_list_tools","tools":[{"annotations":{"detail":"forbidden"}}]}]}`,
		`{"input":[{"type":"image_generation_call","result":"` + data(99) + `"}]}`,
		`{"input":"x","prompt_cache_key":"forbidden"}`,
		`{"input":"x","provider":{"order":["forbidden"]}}`,
		`{"input":"x","session_id":{"id":"forbidden"}}`,
	} {
		if r, err := set.Request(t.Context(), []byte(body)); err != nil || r.Verdict == nil {
			t.Errorf("%.120s passes, %v", body, err)
		}
	}
}

func TestOnlyAResponseRepeatsItsRequest(t *testing.T) {
	set := denying(t, "forbidden")
	for _, key := range []string{"text", "reasoning", "prompt", "input", "instructions"} {
		for object, passes := range map[string]bool{"response": true, "chat.completion": false} {
			body := fmt.Sprintf(`{"%s":{"a":"forbidden"},"object":"%s"}`, key, object)
			r, err := set.Answer(t.Context(), []byte(body))
			if err != nil || (r.Verdict == nil) != passes {
				t.Errorf("%s: %v, %v", body, r.Verdict, err)
			}
			event := `{"type":"response.created","response":` + body + `}`
			if _, v, err := set.Stream(guardrail.Responses).Push(nil, []byte(event)); err != nil || (v == nil) != passes {
				t.Errorf("%s: %v, %v", event, v, err)
			}
		}
		event := `{"type":"response.created","object":"response","` + key + `":"forbidden"}`
		if _, v, err := set.Stream(guardrail.Responses).Push(nil, []byte(event)); err != nil || v == nil {
			t.Errorf("%s passes, %v", event, err)
		}
	}
}

func TestArgumentsThatAreNoStringAreReadAsTheirText(t *testing.T) {
	set := denying(t, "forbidden")
	for _, arguments := range []string{
		`{"id":"forbidden"}`, `{"type":"message","status":"a forbidden b"}`, `{"image_url":{"x":["forbidden"]}}`, `{"forbidden":1}`, `{"a":{"arguments":{"forbidden":1}}}`,
		`{"card":4111111111111111}`, `["forbidden"]`, ` [4111111111111111]`, `4111111111111111`, ` 4111111111111111 `, `{"a":[{"b":4111111111111111}]}`,
	} {
		message := `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":` + arguments + `}}]}`
		answer := []byte(`{"object":"chat.completion","choices":[{"index":0,"message":` + message + `}]}`)
		if r, err := set.Answer(t.Context(), answer); err != nil || r.Verdict == nil {
			t.Errorf("in an answer %s passes, %v", arguments, err)
		}
		chunk := []byte(`{"choices":[{"index":0,"delta":` + message + `}]}`)
		s := set.Stream(guardrail.Chat)
		_, v, err := s.Push(nil, chunk)
		if v == nil && err == nil {
			_, v = s.Close()
		}
		if v == nil || err != nil {
			t.Errorf("in a stream %s passes, %v", arguments, err)
		}
		request := []byte(`{"messages":[` + message + `],"input":[{"type":"mcp_call","arguments":` + arguments + `}]}`)
		if r, err := set.Request(t.Context(), request); err != nil || r.Verdict == nil {
			t.Errorf("in a request %s passes, %v", arguments, err)
		}
	}
	for _, body := range []string{`{"input":[{"arguments":null},{"arguments":{}},{"arguments":true,"a":4111111111111111}]}`} {
		if r, err := set.Request(t.Context(), []byte(body)); err != nil || r.Verdict != nil || r.Body != nil {
			t.Errorf("%s: %v, %v", body, r, err)
		}
	}
}

func TestArgumentsStayWhatTheyAre(t *testing.T) {
	set := golden(t)
	for _, test := range [][2]string{
		{`{"input":[{"arguments": {"to":["a@b.de",1.50]} }]}`, `{"input":[{"arguments": {"to":["[REDACTED:email]",1.50]} }]}`},
		{`{"input":[{"arguments":["a@b.de"],"b":"a@b.de"}]}`, `{"input":[{"arguments":["[REDACTED:email]"],"b":"[REDACTED:email]"}]}`},
	} {
		if r, err := set.Request(t.Context(), []byte(test[0])); err != nil || string(r.Body) != test[1] {
			t.Errorf("%s became %s, %v", test[0], r.Body, err)
		}
	}
	if r, err := set.Request(t.Context(), []byte(`{"input":[{"arguments":{"a":{"b":1,"b":2}}}]}`)); err == nil {
		t.Errorf("a key twice in arguments: %v", r)
	}
	// What the cut of a window leaves of an object goes out in pieces, as text.
	s := set.Stream(guardrail.Chat)
	got := client{texts: map[string]string{}, finished: map[int]bool{}}
	events, _, _ := s.Push(nil, []byte(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":{"to":"a@b.de","next":"abc"}}}]}}]}`))
	got.read(t, events)
	events, _ = s.Close()
	got.read(t, events)
	if got := got.texts["0call0"]; got != `{"to":"[REDACTED:email]","next":"abc"}` {
		t.Errorf("got %s", got)
	}
}
