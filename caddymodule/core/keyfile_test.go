package core

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
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

func TestAKeyFileMayBeginWithAByteOrderMark(t *testing.T) {
	got, err := appendKeys(nil, []byte("\ufeff"+`{"name":"a"}`+"\r\n"))
	if err != nil || len(got) != 1 || got[0].Name != "a" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err = appendKeys(nil, []byte("\ufeff\n"+`{"name":1}`)); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("the line of an error behind the mark: %v", err)
	}
}

// The size of a device is 0 by its metadata, and it has no end.
func TestAFileWithoutAnEndIsNotReadWithoutABound(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skip(err)
	}
	if _, err := ReadBounded("key_file", endless, 1000); err == nil || err.Error() != `key_file "/dev/zero" has more than 1000 bytes` {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("whole"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadBounded("key_file", path, 5); err != nil || string(text) != "whole" {
		t.Errorf("a file of the largest size: %q, %v", text, err)
	}
	if _, err := ReadBounded("key_file", path, 4); err == nil || err.Error() != fmt.Sprintf("key_file %q has 5 bytes; at most 4 are read", path) {
		t.Error(err)
	}
}

// Caddy does not show a key file in its admin API, so many secrets in one are no reason for as many
// warnings.
func TestASecretInAKeyFileIsNoSecretInTheConfiguration(t *testing.T) {
	core, seen := observer.New(zapcore.WarnLevel)
	list, err := appendKeys([]Key{{Name: "configured", Secrets: []string{"literal-1"}}}, []byte(`{"name":"filed","secrets":["literal-2"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, secrets, err := keySpecs(&Build{Settings: &Settings{Keys: list}}, zap.New(core)); err != nil || len(secrets) != 2 {
		t.Errorf("secrets %q, %v", secrets, err)
	}
	if all := seen.All(); len(all) != 1 || all[0].ContextMap()["of"] != `key "configured"` {
		t.Errorf("warnings %+v, want one, of the key in the configuration", all)
	}
}
