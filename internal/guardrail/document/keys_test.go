package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
)

// duplicate returns the error about a key that a request has twice, nil if there is none.
func duplicate(t *testing.T, body string) *document.DuplicateError {
	t.Helper()
	_, err := judge(t, house, body, false)
	var twice *document.DuplicateError
	if err != nil && !errors.As(err, &twice) {
		t.Errorf("%.80s: %v", body, err)
	}
	return twice
}

// Few keys are compared in pairs, more of them in a map. Both find the same.
func TestDuplicateKeysAreFoundAmongAnyNumber(t *testing.T) {
	for n := range 40 {
		var keys strings.Builder
		for i := range n {
			fmt.Fprintf(&keys, `"Key%d":1,`, i)
		}
		for _, member := range []string{"input", "metadata"} {
			body := func(last string) string { return `{"` + member + `":{` + keys.String() + last + `}}` }
			for i := range n {
				if duplicate(t, body(fmt.Sprintf(`"Key%d":1`, i))) == nil {
					t.Errorf("%s: key %d of %d is not found", member, i, n)
				}
				if got := duplicate(t, body(fmt.Sprintf(`"kEY%d":1`, i))) != nil; got != (member == "input") {
					t.Errorf("%s: key %d of %d in another case is found: %t", member, i, n, got)
				}
			}
			for _, other := range []string{`"Key":1`, `"k\u0065y":1`, `"é":1`, `"Key100":{"Key0":1,"Key1":2}`} {
				if twice := duplicate(t, body(other)); twice != nil {
					t.Errorf("%s: %s after %d: %v", member, other, n, twice)
				}
			}
		}
	}
}

func TestTheKeysOfEachObjectAreItsOwn(t *testing.T) {
	for _, body := range []string{
		`{"a":{"b":1,"c":2},"b":{"b":1},"c":[{"b":1},{"b":2}]}`, `{"é":{"é":1},"f":{"é":{"é":1}}}`, `{"a":[{"é":1},{"é":1}]}`,
	} {
		if twice := duplicate(t, body); twice != nil {
			t.Errorf("%s: %v", body, twice)
		}
	}
	for body, param := range map[string]string{
		`{"a":{"b":1},"a":2}`: "a", `{"é":1,"é":2}`: "the body", `{"x":{"é":{},"é":2}}`: "x", `{"x":[{"a":1},{"a":{"b":1},"a":2}]}`: "x",
	} {
		if twice := duplicate(t, body); twice == nil || twice.Param != param {
			t.Errorf("%s: %v, want %s", body, twice, param)
		}
	}
}

func TestAnErrorShows64BytesOfAKey(t *testing.T) {
	for n, shown := range map[int]int{63: 63, 64: 64, 65: 64, 1000: 64} {
		key := strings.Repeat("k", n)
		twice := duplicate(t, `{"input":{"`+key+`":1,"`+key+`":2}}`)
		if twice == nil || twice.Key != key[:shown] || twice.Error() != `duplicate key "`+key[:shown]+`" in input` {
			t.Errorf("%d: %v", n, twice)
		}
	}
}

// The keys of open objects may cost 8 MiB, 64 bytes for each and their lengths.
func TestAKeyCosts64BytesAndItsLength(t *testing.T) {
	var limit *document.LimitError
	for more, want := range []bool{false, true} {
		key := "é" + strings.Repeat("k", 4<<20-64-len("é"))
		last := "é" + strings.Repeat("l", 4<<20-64-len("é")+more)
		body := `{"input":{"` + key + `":1,"` + last + `":1}}`
		if _, err := judge(t, house, body, false); errors.As(err, &limit) != want {
			t.Errorf("%d bytes more than 8 MiB: %v", more, err)
		}
	}
}
