package judge_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

func TestAnnotationsOfAChangedTextAreEmptied(t *testing.T) {
	const list = `[{"type":"url_citation","start_index":21,"end_index":24,"title":"%s"}]`
	tests := []struct{ body, want string }{
		{ // of the same part, before and behind
			`{"output":[{"content":[{"text":"ann@example.com says [1]","annotations":%s},{"annotations":%s,"text":"says [1]"}]}]}`,
			`{"output":[{"content":[{"text":"[REDACTED:email] says [1]","annotations":[]},{"annotations":%s,"text":"says [1]"}]}]}`,
		}, {
			`{"choices":[{"message":{"annotations":%s,"content":"ann@example.com"}},{"message":{"annotations":%s,"content":"x"}}]}`,
			`{"choices":[{"message":{"annotations":[],"content":"[REDACTED:email]"}},{"message":{"annotations":%s,"content":"x"}}]}`,
		},
	}
	for _, test := range tests {
		for _, title := range []string{"a title", "bob@example.com"} {
			kept, redacted := fmt.Sprintf(list, title), fmt.Sprintf(list, "a title")
			if title != "a title" { // a change of its own moves nothing
				redacted = fmt.Sprintf(list, "[REDACTED:email]")
			}
			body, want := fmt.Sprintf(test.body, kept, kept), fmt.Sprintf(test.want, redacted)
			if r, err := golden(t).Answer(t.Context(), []byte(body)); err != nil || string(r.Body) != want {
				t.Errorf("%s became\n%s, %v", body, r.Body, err)
			}
			event := `{"type":"response.completed","response":` + body + `}`
			events, v, err := newWire(golden(t), guardrail.Responses).push("", event)
			if v != nil || err != nil || string(events[0].data) != `{"type":"response.completed","response":`+want+`}` {
				t.Errorf("%s became\n%s, %v", event, events, err)
			}
		}
	}
	set := hooked(t, answering(200, `{"action":"redact","redactions":[{"text":0,"start":0,"end":3}]}`), false)
	r, err := set.Answer(t.Context(), []byte(`{"output":[{"text":"ann says","annotations":[{"start_index":4}]}]}`))
	if want := `{"output":[{"text":"[REDACTED:webhook] says","annotations":[]}]}`; err != nil || string(r.Body) != want {
		t.Errorf("by a webhook %s, %v", r.Body, err)
	}
}

func TestAnnotationsOfARequestStay(t *testing.T) {
	body := `{"messages":[{"content":"%s","annotations":[{"start_index":4}]}]}`
	r, err := golden(t).Request(t.Context(), fmt.Appendf(nil, body, "ann@example.com"))
	if want := fmt.Sprintf(body, "[REDACTED:email]"); err != nil || string(r.Body) != want {
		t.Errorf("%s, %v", r.Body, err)
	}
}

func TestTokenProbabilitiesAreEmptied(t *testing.T) {
	body := []byte(`{"choices":[{"logprobs":{"content":[{"token":"forb"},{"token":"idden"}]},"message":{"content":"x"}}],"output":[{"logprobs":[{"token":"forbidden"}],"text":"x"}],"a":{"logprobs":[]}}`)
	want := `{"choices":[{"logprobs":null,"message":{"content":"x"}}],"output":[{"logprobs":[],"text":"x"}],"a":{"logprobs":[]}}`
	for name, set := range map[string]guardrail.Set{
		"rules":   denying(t, "forbidden"),
		"webhook": hooked(t, answering(200, `{"action":"allow"}`), false),
	} {
		if r, err := set.Answer(t.Context(), body); err != nil || r.Verdict != nil || r.Redacted != nil || string(r.Body) != want {
			t.Errorf("%s: %s, %v", name, r.Body, err)
		}
		if r, err := set.Request(t.Context(), []byte(`{"logprobs":["x"]}`)); err != nil || r.Body != nil {
			t.Errorf("%s: of a request: %s, %v", name, r.Body, err)
		}
	}
}
