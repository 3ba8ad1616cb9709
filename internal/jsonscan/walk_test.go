package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// walked returns the tokens of a text as a walk yields them.
func walked(data []byte) (tokens []string) {
	w := jsonscan.Walk(data)
	for t, ok := w.Next(); ok; t, ok = w.Next() {
		tokens = append(tokens, fmt.Sprintf("%c %s", t.Kind, data[t.Start:t.End]))
	}
	return tokens
}

func TestAWalkYieldsEveryToken(t *testing.T) {
	got := walked([]byte(" { \"a\" : [ ] , \"b\\\"\":\t{\"c\":[1 ,-2.5e+3,true,false,null,\"x:\"]} ,\"\":\"\" }\n"))
	want := []string{"{ {", `: "a"`, "[ [", "] ]", `: "b\""`, "{ {", `: "c"`, "[ [", "0 1", "0 -2.5e+3", "t true", "f false", "n null", `" "x:"`, "] ]", "} }", `: ""`, `" ""`, "} }"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Strings of every length around the steps of the search, with an escape at every position.
func TestAWalkFindsTheEndOfStrings(t *testing.T) {
	for n := range 600 {
		for _, escape := range []string{"", `\"`, `\\`, `\\\"`, `\u005c`, "é"} {
			for _, at := range []int{0, n / 2, n} {
				text := strings.Repeat("a", at) + escape + strings.Repeat("b", n-at)
				data := []byte(`["` + text + `",1]`)
				want := []string{"[ [", `" "` + text + `"`, "0 1", "] ]"}
				if got := walked(data); !slices.Equal(got, want) {
					t.Fatalf("%s: %q", data, got)
				}
			}
		}
	}
}

func TestASkippedValueYieldsNothing(t *testing.T) {
	data := []byte(`{"a":{"b":["}",[]],"c":{}},"d":[[1],"]"],"e":2}`)
	w := jsonscan.Walk(data)
	w.Next()
	var got []string
	for t, ok := w.Next(); ok; t, ok = w.Next() {
		got = append(got, string(data[t.Start:t.End]))
		if t.Kind == '{' || t.Kind == '[' {
			w.Skip()
		}
	}
	if want := []string{`"a"`, "{", `"d"`, "[", `"e"`, "2", "}"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAWalkOfABrokenTextEnds(t *testing.T) {
	for _, text := range []string{"", " ", `"`, `"\`, `"` + strings.Repeat("a", 300) + `\`, `{"a`, `{"a":`, `[1,`, "}", `{]}"`, "\x00\xff", `"a":1`, strings.Repeat("[", 5000)} {
		walked([]byte(text))
		w := jsonscan.Walk([]byte(text))
		w.Next()
		w.Skip()
		if got := jsonscan.ValueEnd([]byte(text), 0); got > len(text) {
			t.Errorf("%.20q ends at %d", text, got)
		}
	}
}

func TestAWalkCostsNoMemory(t *testing.T) {
	data := []byte(strings.Repeat(`{"a":[`, 5000) + strings.Repeat(`]}`, 5000))
	if n := testing.AllocsPerRun(5, func() {
		w := jsonscan.Walk(data)
		for _, ok := w.Next(); ok; _, ok = w.Next() {
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzWalk compares the tokens of a walk with those of encoding/json.
func FuzzWalk(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := jsonscan.Walk(data)
		if _, err := jsonscan.Lenient(data, nil); err != nil {
			for _, ok := w.Next(); ok; _, ok = w.Next() {
				w.Skip()
			}
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		var open []json.Delim
		var starts []int
		key := false // the next string of the innermost object is a key
		for {
			want, err := decoder.Token()
			token, ok := w.Next()
			if err == io.EOF && !ok {
				return
			}
			if err != nil || !ok {
				t.Fatalf("%q: %v, %v; encoding/json has %v, %v", data, token, ok, want, err)
			}
			text := data[token.Start:token.End]
			kind, same := token.Kind, true
			switch v := want.(type) {
			case json.Delim:
				kind = byte(v)
				if v == '{' || v == '[' {
					open, starts = append(open, v), append(starts, token.Start)
				} else {
					if end := jsonscan.ValueEnd(data, starts[len(starts)-1]); end != token.End {
						t.Fatalf("%q: the value at %d ends at %d, not at %d", data, starts[len(starts)-1], token.End, end)
					}
					open, starts = open[:len(open)-1], starts[:len(starts)-1]
				}
			case string:
				kind = '"'
				if key {
					kind = jsonscan.Key
				}
				s, good := jsonscan.String(text)
				same = good && s == v
			case json.Number:
				kind, same = '0', string(text) == string(v)
			case bool:
				kind, same = 'f', string(text) == fmt.Sprint(v)
				if v {
					kind = 't'
				}
			case nil:
				kind, same = 'n', string(text) == "null"
			}
			if token.Kind != kind || !same {
				t.Fatalf("%q: %c %q, encoding/json has %v", data, token.Kind, text, want)
			}
			key = kind != jsonscan.Key && len(open) > 0 && open[len(open)-1] == '{'
		}
	})
}
