package openai_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// An event repeats another if it differs from it only in text, number and padding.
func TestWhichEventsAreLikeAnother(t *testing.T) {
	first := `{"type":"response.x.delta","sequence_number":9,"delta":"hello","obfuscation":"ab","index":0}`
	for event, want := range map[string]string{
		first: `"hello" 9 "ab"`,
		` {"type":"response.x.delta","sequence_number":10,"delta":"","obfuscation":"","index":0}` + "\n":      `"" 10 ""`,
		`{"type":"response.x.delta","sequence_number":9,"delta":"\"q\" \\","obfuscation":"ab","index":0}`:     `"\"q\" \\" 9 "ab"`,
		`{"type":"response.x.delta","sequence_number":9,"delta":"a","obfuscation":"ab","index":1}`:            "",
		`{"type":"response.y.delta","sequence_number":9,"delta":"a","obfuscation":"ab","index":0}`:            "",
		`{"type":"response.x.delta","sequence_number":09,"delta":"a","obfuscation":"ab","index":0}`:           "",
		`{"type":"response.x.delta","sequence_number":9.5,"delta":"a","obfuscation":"ab","index":0}`:          "",
		`{"type":"response.x.delta","sequence_number":-9,"delta":"a","obfuscation":"ab","index":0}`:           "",
		`{"type":"response.x.delta","sequence_number":9,"delta":"a","x":"y","obfuscation":"ab","index":0}`:    "",
		`{"type":"response.x.delta","sequence_number":9,"delta":null,"obfuscation":"ab","index":0}`:           "",
		`{"type":"response.x.delta","sequence_number":9,"delta":"a` + "\n" + `","obfuscation":"a","index":0}`: "",
		`{"type":"response.x.delta","sequence_number":9,"delta":"a","obfuscation":"ab","index":0} x`:          "",
		`{"type":"response.x.delta","sequence_number":9,"delta":"a`:                                           "",
	} {
		var events openai.Events
		s := openai.NewResponsesStream(newCall())
		s.Data(nil, events.Next([]byte("n"), []byte(first)))
		if e := events.Next([]byte("other"), []byte(event)); e.Repeats() {
			t.Errorf("%s repeats an event of another name", event)
		}
		e := events.Next([]byte("n"), []byte(event))
		got := ""
		if e.Repeats() {
			got = string(e.Value(openai.VarText)) + " " + string(e.Value(openai.VarNumber)) + " " + string(e.Value(openai.VarPadding))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", event, got, want)
		}
	}
}

// learning is the step of a stream whose events differ in their text and usage.
func learning(e *openai.Event) {
	var vars [openai.Variables]openai.Variable
	for kind, value := range map[int]string{openai.VarText: `"a"`, openai.VarUsage: `{"total": 99,"of":[{"n":1}],"kind":"x1"}`} {
		at := strings.Index(string(e.Data), value)
		vars[kind] = openai.Variable{Start: at, End: at + len(value)}
	}
	e.Learn(vars)
}

// Usage may differ in its whole numbers, which stay numbers that are no nonsense.
func TestWhichUsageIsLikeAnother(t *testing.T) {
	const before = `{"total": 99,"of":[{"n":1}],"kind":"x1"}`
	for usage, want := range map[string]bool{
		before: true,
		`{"total": 100,"of":[{"n":12}],"kind":"x1"}`:        true,
		`{"total": 9,"of":[{"n":0}],"kind":"x1"}`:           true,
		`{"total": 9999999999,"of":[{"n":1}],"kind":"x1"}`:  true,
		`{"total": 10000000000,"of":[{"n":1}],"kind":"x1"}`: false,
		`{"total": 099,"of":[{"n":1}],"kind":"x1"}`:         false,
		`{"total": ,"of":[{"n":1}],"kind":"x1"}`:            false,
		`{"total": -9,"of":[{"n":1}],"kind":"x1"}`:          false,
		`{"total": 9.5,"of":[{"n":1}],"kind":"x1"}`:         false,
		`{"total": 99e1,"of":[{"n":1}],"kind":"x1"}`:        false,
		`{"total": "9","of":[{"n":1}],"kind":"x1"}`:         false,
		`{"total": 99,"of":[{"n":1}],"kind":"x2"}`:          false,
		`{"total": 99,"of":[{"n":1},{"n":1}],"kind":"x1"}`:  false,
		`{"total": 99,"of":[{"n":1}],"kind":"x1","more":1}`: false,
		`{"total": 99,"of":[{"n":1}],"kind":"x1"`:           false,
		`{"total": 99,"of":[{"n":`:                          false,
	} {
		var events openai.Events
		first := events.Next(nil, []byte(`{"text":"a","usage":`+before+`,"index":0}`))
		learning(first)
		first.Release()
		e := events.Next(nil, []byte(`{"text":"\"","usage":`+usage+`,"index":0}`))
		if e.Repeats() != want || want && (string(e.Value(openai.VarText)) != `"\""` || string(e.Value(openai.VarUsage)) != usage) {
			t.Errorf("%s: %v, %s, %s", usage, e.Repeats(), e.Value(openai.VarText), e.Value(openai.VarUsage))
		}
	}
}

func TestALongEventIsNotRemembered(t *testing.T) {
	for n, want := range map[int]bool{100: true, 2000: false} {
		var events openai.Events
		s := openai.NewResponsesStream(newCall())
		data := []byte(`{"type":"response.x.delta","delta":"` + strings.Repeat("x", n) + `"}`)
		s.Data(nil, events.Next(nil, data))
		if e := events.Next(nil, data); e.Repeats() != want {
			t.Errorf("with %d bytes it repeats: %v", n, e.Repeats())
		}
	}
}

// An edit that changes the length of a value moves the members behind it.
func TestARewrittenEventKeepsItsMembers(t *testing.T) {
	e := openai.NewEvent(nil, []byte(`{"type":"response.x.delta","logprobs":{"a":1},"delta":"abc"}`))
	if _, err := e.Members(); err != nil {
		t.Fatal(err)
	}
	e.Rewrite([]byte(`{"type":"response.x.delta","logprobs":null,"delta":"abc"}`), func(members []jsonscan.Member) {
		shift := len("null") - len(`{"a":1}`)
		members[1].ValueEnd += shift
		for _, at := range []*int{&members[2].KeyStart, &members[2].KeyEnd, &members[2].ValueStart, &members[2].ValueEnd} {
			*at += shift
		}
	})
	members, _ := e.Members()
	if m := members[1]; m.Kind != 'n' || string(m.Value(e.Data)) != "null" {
		t.Errorf("%c %s", m.Kind, m.Value(e.Data))
	}
	if m := members[2]; string(m.Key(e.Data)) != "delta" || string(m.Value(e.Data)) != `"abc"` {
		t.Errorf("%s %s", m.Key(e.Data), m.Value(e.Data))
	}
}

// A stream that waits must not keep the buffer of its reader.
func TestAReleasedEventRefersToNothing(t *testing.T) {
	var events openai.Events
	e := events.Next([]byte("n"), []byte(typical))
	openai.NewChatStream(newCall()).Data(nil, e)
	e.Release()
	if e.Name != nil || e.Data != nil {
		t.Errorf("it keeps %s, %s", e.Name, e.Data)
	}
}
