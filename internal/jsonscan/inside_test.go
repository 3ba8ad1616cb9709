package jsonscan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func manyKeys(n int) string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"k%d":[]`, i)
	}
	return strings.Join(keys, ",")
}

// Inside an accepted text the two scans find what those find that check the grammar, and refuse the
// same keys.
func FuzzInside(f *testing.F) {
	f.Add(`{"a":{"b":1,"B":[2,{"x":"y\"}"}],"c":-1.5e3 , "d":null},"e":[ ],"f":[[],{},"]",true ]}`)
	f.Add(`{"a":{"b\u0061":1},"c":{"é":{}},"d":{ }}`)
	f.Add(`{"a":{"y":{"` + strings.Repeat("k", MaxKey+1) + `":0}}}`)
	f.Add(`{"a":{` + manyKeys(MaxMembers+1) + `}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Strict([]byte(text), nil); err != nil {
			return
		}
		tokens := Walk([]byte(text))
		for token, ok := tokens.Next(); ok; token, ok = tokens.Next() {
			value := []byte(text)[token.Start:]
			switch token.Kind {
			case '{':
				value = value[:ValueEnd(value, 0)]
				want, refused := Strict(value, nil)
				got, err := StrictInside(value, nil)
				for i := range want {
					want[i].Nested = 0
				}
				if (err == nil) != (refused == nil) || err != nil && err.Error() != refused.Error() || !slices.Equal(got, want) {
					t.Fatalf("%s: %v %v\nwant %v %v", value, got, err, want, refused)
				}
			case '[':
				value = value[:ValueEnd(value, 0)]
				if got, want := slices.Collect(Inside(value)), slices.Collect(AllElements(value)); !slices.Equal(got, want) {
					t.Fatalf("%s: %v, want %v", value, got, want)
				}
			}
		}
	})
}
