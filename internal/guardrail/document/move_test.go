package document_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

func TestMovedMembersAreThoseOfTheEditedBody(t *testing.T) {
	body := []byte(` { "a":"x", "list" : ["one",{"b":"two"}], "logprobs":[{"t":"u"}], "c":"last", "d":1}`)
	span := func(text string) document.Span {
		for i := range body {
			if len(body)-i >= len(text) && string(body[i:i+len(text)]) == text {
				return document.Span{Start: i, End: i + len(text)}
			}
		}
		t.Fatal(text)
		return document.Span{}
	}
	for _, edits := range [][][2]string{
		{},
		{{`"x"`, `"longer"`}},
		{{`"x"`, `""`}, {`"one"`, `"first of them"`}, {`"two"`, `2`}, {`"last"`, `""`}},
		{{`[{"t":"u"}]`, `[]`}, {`"u"`, `"inside what is replaced"`}, {`1`, `100`}},
	} {
		var e document.Edits
		e.Reset(body, false)
		for _, edit := range edits {
			e.PutValue(span(edit[0]), []byte(edit[1]))
		}
		members, err := jsonscan.Lenient(body, nil)
		if err != nil {
			t.Fatal(err)
		}
		out := e.Apply()
		if e.Move(members); out == nil {
			out = body
		}
		want, err := jsonscan.Lenient(out, nil)
		if err != nil || len(want) != len(members) {
			t.Fatalf("%s: %v", out, err)
		}
		for i, m := range members {
			w := want[i]
			if string(m.Key(out)) != string(w.Key(out)) || string(m.Value(out)) != string(w.Value(out)) {
				t.Errorf("%v: member %d is %s: %s, want %s: %s", edits, i, m.Key(out), m.Value(out), w.Key(out), w.Value(out))
			}
		}
	}
}
