package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

func TestNestedKeysOfOrdinaryMessages(t *testing.T) {
	body := []byte(`{"file_id":"x","messages":[{"role":"user","content":[{"type":"text","text":"file_id"}]}],"other":{"a":[[{"File_ID":1}]]},"odd":[{"f\u0069le_id":1}],"none":[]}`)
	members, err := jsonscan.Strict(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := jsonscan.KeysOf("vector_store_id", "file_id")
	for key, want := range map[string]bool{"file_id": false, "messages": false, "other": true, "odd": true, "none": false} {
		if i, _ := jsonscan.Find(body, members, key); members[i].Nested.MayHave(file) != want {
			t.Errorf("%s: MayHave is not %t", key, want)
		}
	}
	if !(jsonscan.Member{}).Nested.MayHave(0) {
		t.Error("a member that was not walked is known to have no keys")
	}
}

func TestStringEnd(t *testing.T) {
	for text, want := range map[string]int{`"a"`: 3, `"\""}`: 4, `""`: 2} {
		if end, ok := jsonscan.StringEnd([]byte(text), 0); !ok || end != want {
			t.Errorf("%q: %d %t", text, end, ok)
		}
	}
	for _, text := range []string{"", "a", `"`, `"a`, `"\x"`, "\"\n\"", "\"\xff\""} {
		if end, ok := jsonscan.StringEnd([]byte(text), 0); ok {
			t.Errorf("%q: %d", text, end)
		}
	}
}

// FuzzNestedLacksNoKey holds the set to the keys that encoding/json finds.
func FuzzNestedLacksNoKey(f *testing.F) {
	for _, seed := range []string{`[{"a":{"bc":[{"def":1}]}}]`, `{"":{"\u0041":1}}`, `[[{"K":1,"é":2}],{"x y_z-":null}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		body := append(append([]byte(`{"v":`), value...), '}')
		members, err := jsonscan.Strict(body, nil)
		if err != nil || len(members) != 1 {
			return
		}
		var decoded any
		if json.NewDecoder(bytes.NewReader(value)).Decode(&decoded) != nil {
			return
		}
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case []any:
				for _, e := range v {
					walk(e)
				}
			case map[string]any:
				for key, e := range v {
					for _, spelling := range []string{key, strings.ToLower(key), strings.ToUpper(key)} {
						if utf8.RuneCountInString(spelling) == len(spelling) && !members[0].Nested.MayHave(jsonscan.KeysOf(spelling)) {
							t.Fatalf("%q is not in the keys of %q", spelling, value)
						}
					}
					walk(e)
				}
			}
		}
		walk(decoded)
	})
}
