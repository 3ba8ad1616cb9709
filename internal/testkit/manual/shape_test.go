package manual

import (
	"strings"
	"testing"
)

func TestAnAnswerOfAnotherShapeIsFound(t *testing.T) {
	const usage = "NAME  COST (USD)  P50\nada   1.25      -\n"
	for _, c := range []struct{ documented, real, difference string }{
		{`{"a":1,"b":[{"c":"x"}]}`, `{"a":2,"b":[{"c":"y"},{"c":"z"}]}`, ""},
		{`{"a":null,"b":"…"}`, `{"a":2,"b":{"c":3}}`, ""},
		{`{"a":1,…}`, `{"a":2,"b":3}`, ""},
		{`{"a":{…},"b":[…],"c":…}`, `{"a":{"x":1},"b":[1],"c":1}`, ""},
		{`{"a":"say \"…\" {"}`, `{"a":""}`, ""},
		{`{"a":1,"b":3}`, `{"a":2}`, ".b is documented"},
		{`{"a":1}`, `{"a":2,"b":3}`, ".b is in the real answer"},
		{`{"a":1}`, `{"a":"2"}`, ".a is string"},
		{`{"a":[{"b":1}]}`, `{"a":[]}`, ".a[0] is documented"},
		{`{"a":[{"b":1}]}`, `{"a":[{"c":1}]}`, ".a[0].b is documented"},
		{`{"a":{}}`, `{"a":[]}`, ".a is no object"},
		{`{"a":[]}`, `{"a":{}}`, ".a is no list"},
		{`{"a":1}`, `no`, "the real answer"},
		{`{"a"}`, `{}`, "the documented answer"},
		{usage, "NAME     COST (USD) P50\nbenjamin 0 -\n", ""},
		{usage, "NAME COST\nada 1.25\n", "the columns"},
		{"Call   a\nLimits now  b\n", "Call   x\nLimits now   y\n", ""},
		{"Call   a\nLimits now  b\n", "Call   x\n", `"Limits now"`},
		{"ready\n…", "it is\nready", ""},
		{"ready", "not ready", `"ready"`},
	} {
		err := SameShape(c.documented, c.real)
		if (err == nil) != (c.difference == "") || err != nil && !strings.Contains(err.Error(), c.difference) {
			t.Errorf("%s with %s: %v, want %q", c.documented, c.real, err, c.difference)
		}
	}
}
