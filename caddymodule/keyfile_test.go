package caddymodule

import (
	"strings"
	"testing"
)

func TestKeysOfAFileAreThoseOfItsLines(t *testing.T) {
	got, err := appendKeys([]Key{{Name: "first"}}, []byte("\n"+`{"name":"a","hashes":["x"],"rates":["60/min"],"max_tools":3}`+"\r\n\n"+`{"name":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0].Name != "first" || got[1].Hashes[0] != "x" || got[1].Rates[0] != "60/min" || got[1].MaxTools != 3 || got[2].Name != "b" {
		t.Errorf("keys %+v", got)
	}
	if got[2].Hashes != nil || got[2].MaxTools != 0 {
		t.Errorf("a key has what the line before it says: %+v", got[2])
	}
}

func TestARefusedLineOfAKeyFileIsNamedAndNotShown(t *testing.T) {
	const good = `{"name":"a","hashes":["x"]}` + "\n"
	for line, want := range map[string]string{
		`{"name":"b","scope":["hunter2"]}`:    `unknown field "scope"`,
		`{"name":"b","secrets":"hunter2"}`:    "cannot unmarshal string",
		`{"secrets":["hunter2"]}`:             "a key without a name",
		`["hunter2"]`:                         "cannot unmarshal array",
		`hunter2`:                             "invalid character",
		`{"name":"b","secrets":["hunter2"]`:   "unexpected EOF",
		`key b { secret hunter2 }`:            "invalid character",
		`null`:                                "a key without a name",
		`{"name":"b","secrets":["hunter2"]}}`: "invalid character",
	} {
		_, err := appendKeys(nil, []byte(good+good+line))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line 3: ") {
			t.Errorf("%s: %v, want line 3: … %s", line, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the secret: %v", line, err)
		}
	}
}

func TestEmptyLinesReserveNoKeys(t *testing.T) {
	got, err := appendKeys(nil, []byte(strings.Repeat("\n", 1<<20)))
	if err != nil || len(got) != 0 || cap(got) > 1<<20/leastKey {
		t.Errorf("%d keys in room for %d, %v", len(got), cap(got), err)
	}
}
