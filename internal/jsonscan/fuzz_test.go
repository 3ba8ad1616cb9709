package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

var bodies = []string{
	`{}`,
	` { "a" : [ ] , "b" : { "c" : [ 1 , -2.5e+3 , true , false , null , "x" ] } } `,
	`{"model":"a","Model":"b","mod\u0065l":"c","meſſages":[]}`,
	`{"model":"a/b","messages":[{"role":"user","content":"é \" \\ \u00e9 \ud800"}],"stream":true}`,
	"{\"a\":\"\xff\"}", "\xef\xbb\xbf{}", `{} {}`, `[1,2]`, `{"a":01}`, `{"a":1,}`, "{\"a\":\"\t\"}", `{"a":tru}`,
	`{"` + strings.Repeat("long key ", 14) + `":"` + strings.Repeat("東京 and so on ", 30) + `"}`,
}

// standardKeys returns the top-level keys as encoding/json reads them, in order.
func standardKeys(t *testing.T, data []byte) []string {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		t.Fatalf("encoding/json begins %q with %v, %v", data, open, err)
	}
	var keys []string
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
	}
	return keys
}

func FuzzStrictLeavesOneReading(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		members, err := jsonscan.Strict(data, nil)
		if err != nil {
			return
		}
		if !json.Valid(data) || !utf8.Valid(data) {
			t.Fatalf("%q was accepted", data)
		}
		keys := standardKeys(t, data)
		if len(keys) != len(members) {
			t.Fatalf("%q: %d members, encoding/json has keys %q", data, len(members), keys)
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		for i, m := range members {
			if string(m.Key(data)) != keys[i] || !bytes.Equal(m.Value(data), all[keys[i]]) {
				t.Fatalf("%q: member %q is %q, encoding/json has %q, %q", data, m.Key(data), m.Value(data), keys[i], all[keys[i]])
			}
			for _, other := range keys[:i] {
				if strings.EqualFold(other, keys[i]) {
					t.Fatalf("%q: %q and %q may be taken for one", data, other, keys[i])
				}
			}
		}
		// A decoder into a struct folds case.
		var folded struct{ Model, Messages, K json.RawMessage }
		if err := json.Unmarshal(data, &folded); err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]json.RawMessage{"model": folded.Model, "messages": folded.Messages, "k": folded.K} {
			for i, m := range members {
				if strings.EqualFold(keys[i], name) && !bytes.Equal(value, m.Value(data)) {
					t.Fatalf("%q: %s is %q, a folding decoder has %q", data, name, m.Value(data), value)
				}
			}
		}
	})
}

func FuzzLenientIsTheGrammar(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		members, err := jsonscan.Lenient(data, nil)
		var syntax *jsonscan.SyntaxError
		if errors.As(err, &syntax) {
			if syntax.Offset < 0 || syntax.Offset > len(data) {
				t.Fatalf("%q: offset %d", data, syntax.Offset)
			}
			if syntax.Reason == "nesting too deep" || syntax.Reason == "too many members" {
				return
			}
		}
		want := json.Valid(data) && utf8.Valid(data) && bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
		if (err == nil) != want {
			t.Fatalf("Lenient(%q) = %v, want accepted = %t", data, err, want)
		}
		if err != nil {
			return
		}
		keys := standardKeys(t, data)
		if len(keys) != len(members) {
			t.Fatalf("%q: %d members, encoding/json has keys %q", data, len(members), keys)
		}
		for i, m := range members {
			if key, good := jsonscan.String(data[m.KeyStart-1 : m.KeyEnd+1]); !good || key != keys[i] {
				t.Fatalf("%q: key %q, encoding/json has %q", data, key, keys[i])
			}
			walk(t, m.Value(data), m.Kind)
		}
		if again := jsonscan.Members(data, nil); len(again) != len(members) {
			t.Fatalf("%q: Members finds %d members, Lenient %d", data, len(again), len(members))
		}
	})
}

// walk goes down through a valid value and compares what it finds with what encoding/json finds.
func walk(t *testing.T, value []byte, kind byte) {
	t.Helper()
	switch kind {
	case '{':
		members := jsonscan.Members(value, nil)
		if keys := standardKeys(t, value); len(keys) != len(members) {
			t.Fatalf("%q: %d members, want %d", value, len(members), len(keys))
		}
		var each []jsonscan.Member
		for m := range jsonscan.AllMembers(value) {
			each = append(each, m)
		}
		if !slices.Equal(each, members) {
			t.Fatalf("%q: %v one by one, %v collected", value, each, members)
		}
		for _, m := range members {
			walk(t, m.Value(value), m.Kind)
		}
	case '[':
		var want []json.RawMessage
		if err := json.Unmarshal(value, &want); err != nil {
			t.Fatal(err)
		}
		spans := jsonscan.Elements(value, nil)
		if len(spans) != len(want) {
			t.Fatalf("%q: %d elements, want %d", value, len(spans), len(want))
		}
		for i, span := range spans {
			if !bytes.Equal(span.Value(value), want[i]) {
				t.Fatalf("%q: element %q, want %q", value, span.Value(value), want[i])
			}
			walk(t, span.Value(value), span.Kind)
		}
	}
}
