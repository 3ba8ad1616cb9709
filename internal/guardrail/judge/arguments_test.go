package judge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

// argumentRules find the contents of the tables of this file.
func argumentRules(t testing.TB, action judge.Action) guardrail.Set {
	return compiled(t, judge.Spec{Name: "g", Rules: []judge.Rule{
		{Action: action, Detector: judge.Email},
		{Action: action, Detector: judge.Card},
		{Action: action, Detector: judge.Secrets},
		{Action: action, Detector: judge.Words, Words: []string{"café", "nachtigall", "forbidden", "b c", "𝄞"}},
	}})
}

// callOf returns a whole answer with a tool call; argumentsIn returns its arguments.
func callOf(arguments string) []byte {
	quoted, _ := json.Marshal(arguments)
	return fmt.Appendf(nil, `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":%s}}]}}]}`, quoted)
}

func argumentsIn(t testing.TB, body []byte) string {
	var in struct {
		Choices []struct {
			Message struct {
				ToolCalls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return in.Choices[0].Message.ToolCalls[0].Function.Arguments
}

// callInPieces streams arguments in pieces of size characters and returns what a client joins.
func callInPieces(t *testing.T, set guardrail.Set, arguments string, size int) (string, *guardrail.Verdict) {
	t.Helper()
	s := newWire(set, guardrail.Chat)
	got := client{texts: map[string]string{}, finished: map[int]bool{}}
	var cuts []byte
	for range utf8.RuneCountInString(arguments)/size + 1 {
		cuts = append(cuts, byte(size))
	}
	for _, piece := range cut(arguments, cuts) {
		quoted, _ := json.Marshal(piece)
		events, v, err := s.push("", fmt.Sprintf(deltas[2].form, quoted))
		if err != nil || v != nil {
			return "", v
		}
		got.read(t, events)
	}
	events, v := s.close()
	got.read(t, events)
	return got.texts["0call0"], v
}

func TestEscapesInArgumentsHideNothing(t *testing.T) {
	set := argumentRules(t, judge.Deny)
	for _, text := range []string{
		`{"a":"hello\nforbidden fruit"}`, `{"a":"hello\tforbidden"}`, `{"a":"pay:\n4111 1111 1111 1111"}`,
		`{"a":"key:\nAKIAQYLPMN5HXZ3RT7WB"}`, `{"a":"the caf\u00e9 at"}`, `{"a":"\u00fcber:\u00a04111 1111 1111 1111"}`,
		`{"a":"\u201cnachtigall\u201d"}`, `{"f\u006frbidden":1}`, `{"a":["\"forbidden\""]}`, `{"a":"\ud834\udd1e"}`,
		` [4111111111111111]`, `"forbi\u0064den"`, `{"cut":"x\nforbidden`, `{'odd': "x\nforbidden"}`, "x\nforbidden", `no \forbidden json`,
	} {
		if r, err := set.Answer(t.Context(), callOf(text)); r.Verdict == nil || err != nil {
			t.Errorf("%s passes: %v", text, err)
		}
		for size := 1; size < len(text); size++ {
			if _, v := callInPieces(t, set, text, size); v == nil {
				t.Errorf("%s in pieces of %d passes", text, size)
			}
		}
	}
}

func TestRedactedArgumentsStayJSON(t *testing.T) {
	set := argumentRules(t, judge.Redact)
	long := strings.Repeat("9", 80)
	for _, test := range []struct{ text, want string }{
		{`{"a":"to:\nann@example.com, \u00e9"}`, `{"a":"to:\n[REDACTED:email], \u00e9"}`},
		{`{"a":"to:\u000aann\u0040example.com"}`, `{"a":"to:\u000a[REDACTED:email]"}`},
		{`{"pan":4111111111111111}`, `{"pan":"[REDACTED:card]"}`},
		{`{"pan":[-4111111111111111,true]}`, `{"pan":["[REDACTED:card]",true]}`},
		{`[4111111111111111,-1.5e9, null]`, `["[REDACTED:card]",-1.5e9, null]`},
		{`[4111 1111 1111 1111]`, `["[REDACTED:card]" null null null]`},
		{`[` + long + `]`, `[` + long + `]`},
		{`{"forbidden":{"a":"x\\forbidden"}}`, `{"[REDACTED:words]":{"a":"x\\[REDACTED:words]"}}`},
		{`["b\nc","\ud834\udd1e \ud834"]`, `["[REDACTED:words]","[REDACTED:words] \ud834"]`},
		{`{"a":"ann@example.com","a\`, `{"a":"[REDACTED:email]","a\`},
		{`plain ann@example.com\n`, `plain [REDACTED:email]\n`},
	} {
		r, err := set.Answer(t.Context(), callOf(test.text))
		if err != nil || r.Verdict != nil {
			t.Fatal(r.Verdict, err)
		}
		got := test.text
		if r.Body != nil {
			got = argumentsIn(t, r.Body)
		}
		if got != test.want {
			t.Errorf("%s became %s, want %s", test.text, got, test.want)
		}
		for size := 1; size < len(test.text); size++ {
			if got, _ := callInPieces(t, set, test.text, size); got != test.want {
				t.Errorf("%s in pieces of %d became %s, want %s", test.text, size, got, test.want)
			}
		}
	}
}

func TestStretchesOverStringsLeaveTheSignsBetween(t *testing.T) {
	for _, test := range []struct{ pattern, text, want string }{
		{`a.*z`, `{"k":"xa","l":[1,"zy"]}`, `{"k":"x[REDACTED:pattern]","":[null,"y"]}`},
		{`[{]"k`, `{"kl":1}`, `{"[REDACTED:pattern]l":1}`},
		{`[{]`, `{"k":1}`, `{"k":1}`},
		{`[0-9]{3}$`, `[` + strings.Repeat("9", 100) + `777`, `[` + strings.Repeat("9", 100) + `0`},
	} {
		set := redacting(t, judge.Rule{Detector: judge.Regexp, Pattern: test.pattern}, 0)
		got := test.text
		if r, err := set.Answer(t.Context(), callOf(test.text)); err != nil {
			t.Fatal(err)
		} else if r.Body != nil {
			got = argumentsIn(t, r.Body)
		}
		if got != test.want {
			t.Errorf("%s became %s, want %s", test.text, got, test.want)
		}
	}
}

func FuzzRedactedArgumentsStayJSON(f *testing.F) {
	for _, text := range []string{`{"a":"x\nab","b":[1234,true,"a",{"a":"b"}]}`, `["\u0061","b"]`, `{"ab":123.5e1,"":"3\u00333"}`} {
		for i := range detectors {
			f.Add(text, uint8(i), uint8(i+1))
		}
	}
	sets := map[int]guardrail.Set{}
	f.Fuzz(func(t *testing.T, text string, pick, size uint8) {
		n := int(pick) % len(detectors)
		if sets[n] == nil {
			sets[n] = redacting(t, detectors[n], judge.MaxWindow)
		}
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) || !strings.ContainsAny(text[:1], `{["`) || len(text) > 4000 {
			return
		}
		r, err := sets[n].Answer(t.Context(), callOf(text))
		if err != nil {
			t.Fatal(err)
		}
		want := text
		if r.Body != nil {
			want = argumentsIn(t, r.Body)
		}
		if !json.Valid([]byte(want)) {
			t.Errorf("%s became %s", text, want)
		}
		if got, _ := callInPieces(t, sets[n], text, int(size)+1); got != want {
			t.Errorf("%s in pieces of %d became %s, want %s", text, int(size)+1, got, want)
		}
	})
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
		s := newWire(set, guardrail.Chat)
		_, v, err := s.push("", string(chunk))
		if v == nil && err == nil {
			_, v = s.close()
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
	// If the window cuts an object, it is sent in pieces, as text.
	s := newWire(set, guardrail.Chat)
	got := client{texts: map[string]string{}, finished: map[int]bool{}}
	events, _, _ := s.push("", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":{"to":"a@b.de","next":"abc"}}}]}}]}`)
	got.read(t, events)
	events, _ = s.close()
	got.read(t, events)
	if got := got.texts["0call0"]; got != `{"to":"[REDACTED:email]","next":"abc"}` {
		t.Errorf("got %s", got)
	}
}
