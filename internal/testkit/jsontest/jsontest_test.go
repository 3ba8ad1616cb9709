package jsontest

import (
	"fmt"
	"testing"
)

func TestBrokenJSONIsNotStrict(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":1,"b":[{"a":1},{"a":1}]}`: true, `[]`: true, `"a"`: true, ` {} `: true,
		``: false, `{} {}`: false, `{"a":1`: false, `{"a":1,}`: false, `{,"a":1}`: false, `[1,]`: false, `{"a" 1}`: false, `{"a":}`: false,
		`{"a":1,"a":1}`: false, `{"b":[{"a":1,"\u0061":1}]}`: false, `{"a":1}x`: false, `{"a":01}`: false, `data: {}`: false,
	} {
		if err := Strict([]byte(text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// failing is a test that may fail.
type failing struct {
	testing.TB
	failed bool
}

func (f *failing) Errorf(string, ...any) { f.failed = true }
func (f *failing) Fatalf(string, ...any) { f.failed = true }
func (*failing) Helper()                 {}

func fails(f func(t testing.TB)) bool {
	t := new(failing)
	f(t)
	return t.failed
}

func TestMembersAreCountedWhereverTheyStand(t *testing.T) {
	const stream = "event: a\ndata: {\"a\":{\"b\":1,\"c\":\"x\"}}\n\n: beat\n\nid: 3\ndata: {\"b\":1,\ndata: \"d\":{}}\r\n\r\ndata: [DONE]\n\n"
	for _, c := range []struct {
		text, want string
		n          int
	}{
		{`{"a":{"b":1}}`, `{"b":1}`, 1}, {`{"a":{"b":1}}`, `{"a":{"b":1}}`, 1}, {`{"a":{"b":1,"c":2}}`, `{"a":{"b":1}}`, 0},
		{`{"b":1.0}`, `{"b":1}`, 0}, {`{"b":"1"}`, `{"b":1}`, 0}, {`{"b":null}`, `{"b":null}`, 1}, {`{}`, `{"b":null}`, 0},
		{`[{"b":1,"c":2},{"c":2,"b":1},{"c":2}]`, `{"b":1,"c":2}`, 2}, {`{"b":{"b":{"b":[]}}}`, `{"b":[]}`, 1},
		{`{"text":"{\"b\":1}"}`, `{"b":1}`, 0}, {"{\"b\":1}\n{\"b\":1}\n", `{"b":1}`, 2}, {stream, `{"b":1}`, 2}, {stream, `{"d":{}}`, 1},
		{"[DONE]", `{"b":1}`, 0}, {"", `{"b":1}`, 0},
	} {
		if n := Count(t, c.text, c.want); n != c.n || Has(t, []byte(c.text), c.want) != (n > 0) {
			t.Errorf("%s has %s %d times, want %d", c.text, c.want, n, c.n)
		}
	}
	if got := fmt.Sprint(Values(t, `{"a":[{"b":2},{"b":[{"b":"x"}]}],"b":"y"}`, "b")); got != "[y 2 [map[b:x]] x]" {
		t.Errorf("values %s", got)
	}
	if a, b := String(t, stream, "c"), String(t, stream, "b"); a != "x" || b != "" {
		t.Errorf("strings %q and %q", a, b)
	}
	if got := fmt.Sprintf("%q", Events(t, stream)); got != `["{\"a\":{\"b\":1,\"c\":\"x\"}}" "{\"b\":1,\n\"d\":{}}" "[DONE]"]` {
		t.Errorf("events %s", got)
	}
}

func TestATestFailsOnWhatIsNotJSON(t *testing.T) {
	for _, text := range []string{`{"b":1`, "data: {,\"b\":1}\n\n", "data: {\"b\":1,\"b\":1}\n\n", "dat: {\"b\":1}\n\n", `{"b":1}x`, "true story"} {
		if !fails(func(t testing.TB) { Has(t, text, `{"b":1}`) }) || !fails(func(t testing.TB) { String(t, text, "b") }) {
			t.Errorf("%s passes", text)
		}
	}
	for _, want := range []string{`{}`, `[1]`, `"b"`} {
		if !fails(func(t testing.TB) { Has(t, `{"b":1}`, want) }) {
			t.Errorf("%s can be wanted", want)
		}
	}
}
