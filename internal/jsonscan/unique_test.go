package jsonscan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// repeated returns the error about a key that a body has twice, nil if there is none.
func repeated(t *testing.T, body string, twoSpellings bool) *jsonscan.SyntaxError {
	t.Helper()
	b := jsonscan.Body{TwoSpellings: twoSpellings}
	defer b.Release()
	err := b.Parse([]byte(body))
	var syntax *jsonscan.SyntaxError
	if err != nil && (!errors.As(err, &syntax) || syntax.Reason != "duplicate key") {
		t.Errorf("%.80s: %v", body, err)
	}
	return syntax
}

func TestKeysAreUniqueAtEveryDepth(t *testing.T) {
	for _, c := range []struct {
		body string
		want string // "" for none
		both bool   // camel and snake case are one
	}{
		{body: `{"input_audio":{"data":"a","data":"b"}}`, want: `duplicate key "data" in "input_audio"`},
		{body: `{"input_audio":{"data":"a","Data":"b"}}`, want: `duplicate key "Data" beside "data", which is read as the same in "input_audio"`},
		{body: `{"a":[[{"b":[1,{"x":1,"y":{"z":[]},"x":2}]}]]}`, want: `duplicate key "x" in "a"`},
		{body: `{"a":{"data":1,"d\u0061ta":2}}`, want: `duplicate key "d\\u0061ta" beside "data", which is read as the same in "a"`},
		{body: `{"a":{"\u0064ata":1,"data":2}}`, want: `duplicate key "data" beside "\\u0064ata", which is read as the same in "a"`},
		{body: `{"a":{"mask":1,"maſk":2}}`, want: `duplicate key "maſk" beside "mask", which is read as the same in "a"`},
		{body: `{"a":{"maſk":1,"mas\u212a":2}}`, want: `duplicate key "mas\\u212a" beside "maſk", which is read as the same in "a"`},
		{body: `{"a":{"😀":1,"\ud83d\ude00":2}}`, want: `duplicate key "\\ud83d\\ude00" beside "😀", which is read as the same in "a"`},
		{body: `{"a":{"":1,"":2}}`, want: "duplicate key in \"a\""},

		{body: `{"a":{"mimeType":1,"mime_type":2}}`},
		{body: `{"a":{"mimeType":1,"mime_type":2}}`, both: true, want: `duplicate key "mime_type" beside "mimeType", which is read as the same in "a"`},
		{body: `{"a":{"_mimeType":1,"mime_type":2}}`, both: true, want: `duplicate key "mime_type" beside "_mimeType", which is read as the same in "a"`},
		{body: `{"system_instruction":1,"systemInstruction":2}`, both: true, want: `duplicate key "systemInstruction"`},
		{body: `{"a":{"parts":[],"b":{"parts":1},"parts":2}}`, both: true, want: `duplicate key "parts" in "a"`},

		// The caller's own words differ by case, and not at all.
		{body: `{"metadata":{"a":1,"A":2,"a_b":3,"aB":4}}`, both: true},
		{body: `{"metadata":{"a":1,"\u0061":2}}`, want: `duplicate key "\\u0061" beside "a", which is read as the same in "metadata"`},
		{body: `{"tools":[{"parameters":{"properties":{"Id":{"type":"x"},"id":{"Type":1,"type":2}}}}]}`},
		{body: `{"tools":[{"parameters":{"properties":{"id":{},"id":{}}}}]}`, want: `duplicate key "id" in "tools"`},
		{body: `{"contents":[{"parts":[{"functionCall":{"args":{"a":1,"A":2}}}]}]}`, both: true},
		{body: `{"contents":[{"parts":[{"functionCall":{"args":{"a":1},"Args":{}}}]}]}`, both: true, want: `duplicate key "Args" beside "args", which is read as the same in "contents"`},
		{body: `{"messages":[{"content":[{"input":{"a":1,"A":2}}]}]}`},
		{body: `{"input":[{"a":1,"A":2}]}`, want: `duplicate key "A" beside "a", which is read as the same in "input"`},

		{body: `{"a":{"b":1,"c":2},"b":{"b":1},"c":[{"b":1},{"b":2}]}`},
	} {
		err := repeated(t, c.body, c.both)
		got := ""
		if err != nil {
			_, got, _ = strings.Cut(err.Error(), ": ")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
}

// Few keys are compared in pairs, more of them are sorted. Both find the same.
func TestDuplicateKeysAreFoundAmongAnyNumber(t *testing.T) {
	for n := range 80 {
		var keys strings.Builder
		for i := range n {
			fmt.Fprintf(&keys, `"Key%d":1,`, i)
		}
		for _, member := range []string{"messages", "metadata"} {
			body := func(last string) string { return `{"` + member + `":{` + keys.String() + last + `}}` }
			for i := range n {
				if err := repeated(t, body(fmt.Sprintf(`"Key%d":1`, i)), false); err == nil || err.Key != fmt.Sprintf("Key%d", i) || err.In != member {
					t.Errorf("%s: key %d of %d: %v", member, i, n, err)
				}
				if got := repeated(t, body(fmt.Sprintf(`"kEY%d":1`, i)), false) != nil; got != (member == "messages") {
					t.Errorf("%s: key %d of %d in another case is found: %t", member, i, n, got)
				}
				if got := repeated(t, body(fmt.Sprintf(`"k_e_y%d":1`, i)), true) != nil; got != (member == "messages") {
					t.Errorf("%s: key %d of %d in another spelling is found: %t", member, i, n, got)
				}
			}
			for _, other := range []string{`"Key":1`, `"k\u0065y":1`, `"é":1`, `"Key100":{"Key0":1,"Key1":2}`} {
				if err := repeated(t, body(other), true); err != nil {
					t.Errorf("%s: %s after %d: %v", member, other, n, err)
				}
			}
		}
	}
}

func TestAnErrorShows64BytesOfAKey(t *testing.T) {
	for n, shown := range map[int]int{63: 63, 64: 64, 65: 64, 1000: 64} {
		key := strings.Repeat("k", n)
		err := repeated(t, `{"a":{"`+key+`":1,"`+key+`":2}}`, false)
		if err == nil || err.Key != key[:shown] {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestOpenKeysAreBounded(t *testing.T) {
	body := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%d":0`, i)
		}
		return []byte(`{"metadata":{` + b.String()[1:] + `}}`)
	}
	if _, err := jsonscan.StrictAll(body(jsonscan.MaxOpenKeys), nil); err != nil {
		t.Error(err)
	}
	var syntax *jsonscan.SyntaxError
	if _, err := jsonscan.StrictAll(body(jsonscan.MaxOpenKeys+1), nil); !errors.As(err, &syntax) || syntax.Reason != "too many keys" {
		t.Error(err)
	}
}

// FuzzKeysAreUnique holds the walk against encoding/json: an object that is accepted has as many keys
// in a map that ignores case as it has members.
func FuzzKeysAreUnique(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body), false)
	}
	f.Add([]byte(`{"contents":[{"parts":[{"inlineData":{"mimeType":"a","mime_type":"b"}}],"metadata":{"a":1,"A":{"b":1,"b":2}}}]}`), true)
	f.Fuzz(func(t *testing.T, data []byte, twoSpellings bool) {
		b := jsonscan.Body{TwoSpellings: twoSpellings}
		defer b.Release()
		deep := b.Parse(data)
		members, flat := jsonscan.Strict(data, nil)
		if flat != nil {
			if deep == nil {
				t.Fatalf("%q is refused at the top alone: %v", data, flat)
			}
			return
		}
		free, all := false, true
		for _, m := range members {
			name := string(m.Key(data))
			if !unique(t, m.Value(data), jsonscan.IsFree([]byte(name)) && name != "input", twoSpellings) {
				all = false
			}
		}
		for i, m := range members {
			for _, other := range members[:i] {
				all = all && !alike(string(m.Key(data)), string(other.Key(data)), free, twoSpellings)
			}
		}
		var syntax *jsonscan.SyntaxError
		if errors.As(deep, &syntax) && syntax.Reason == "too many keys" {
			return
		}
		if all != (deep == nil) {
			t.Fatalf("%q: unique %t, %v", data, all, deep)
		}
	})
}

func alike(a, b string, free, twoSpellings bool) bool {
	if free {
		return a == b
	}
	if twoSpellings {
		a, b = strings.ReplaceAll(a, "_", ""), strings.ReplaceAll(b, "_", "")
	}
	return strings.EqualFold(a, b)
}

// unique is the simple form of what Parse does.
func unique(t *testing.T, value []byte, free, twoSpellings bool) bool {
	switch value[0] {
	case '[':
		for e := range jsonscan.AllElements(value) {
			if !unique(t, e.Value(value), free, twoSpellings) {
				return false
			}
		}
	case '{':
		var keys []string
		for m := range jsonscan.AllMembers(value) {
			var key string
			if err := json.Unmarshal(value[m.KeyStart-1:m.KeyEnd+1], &key); err != nil {
				t.Fatal(err)
			}
			for _, other := range keys {
				if alike(key, other, free, twoSpellings) {
					return false
				}
			}
			keys = append(keys, key)
			if !unique(t, m.Value(value), free || jsonscan.IsFree(m.Key(value)), twoSpellings) {
				return false
			}
		}
	}
	return true
}
