package cli

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// The printed key is valid in the configuration printed with it.
func TestANewKeyAuthenticatesByItsPrintedHash(t *testing.T) {
	var out bytes.Buffer
	if err := printNewKey(&out, strings.NewReader(strings.Repeat("r", 32)), "ci", []string{"chat:write", "models:read"}); err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`(?s)\n\n(gh-\S{43})\n\n.*\nkey ci \{\n\thash (sha256:[0-9a-f]{64})\n\tscopes chat:write models:read\n\}\n\n.*\n\n(\{.*\})\n$`).FindStringSubmatch(out.String())
	if match == nil {
		t.Fatalf("printed\n%s", out.String())
	}
	if line := `{"name":"ci","hashes":["` + match[2] + `"],"scopes":["chat:write","models:read"]}`; match[3] != line {
		t.Errorf("the line for a file is %s", match[3])
	}
	ring, err := keys.NewKeyring([]keys.Spec{{Name: "ci", Hashes: []string{match[2]}, Scopes: []string{"chat:write", "models:read"}}})
	if err != nil {
		t.Fatal(err)
	}
	credential, err := ring.Authenticate(match[1], time.Now())
	if err != nil || credential.Name != "ci" || !credential.Has(keys.ChatWrite|keys.ModelsRead) {
		t.Errorf("credential %+v, %v", credential, err)
	}
}

func TestANewKeyIsNotPrintedWhenItCouldNotBeUsed(t *testing.T) {
	for want, c := range map[string]struct {
		random io.Reader
		name   string
		scopes []string
	}{
		"a key's name":   {strings.NewReader(strings.Repeat("r", 32)), "", []string{"chat:write"}},
		"no scopes":      {strings.NewReader(strings.Repeat("r", 32)), "ci", nil},
		"unknown scope":  {strings.NewReader(strings.Repeat("r", 32)), "ci", []string{"chat"}},
		"reading random": {iotest.ErrReader(io.ErrUnexpectedEOF), "ci", []string{"chat:write"}},
	} {
		var out bytes.Buffer
		if err := printNewKey(&out, c.random, c.name, c.scopes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
		if out.Len() != 0 {
			t.Errorf("%+v printed %q", c, out.String())
		}
	}
	if err := printNewKey(fullDisk{}, strings.NewReader(strings.Repeat("r", 32)), "ci", []string{"chat:write"}); err == nil {
		t.Error("a failed write is not reported")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }
