package caddymodule

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func TestParseMoment(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2027-01-31":                time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC),
		"2027-01-31T18:00:00Z":      time.Date(2027, 1, 31, 18, 0, 0, 0, time.UTC),
		"2027-01-31T18:00:00+02:00": time.Date(2027, 1, 31, 16, 0, 0, 0, time.UTC),
	} {
		if got, err := parseMoment(text); err != nil || !got.Equal(want) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "tomorrow", "2027-13-01", "31.01.2027", "2027-01-31 18:00"} {
		if _, err := parseMoment(text); err == nil || !strings.Contains(err.Error(), "want a date") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"512MiB": 512 << 20, "10GB": 10e9, "1 KiB": 1 << 10, "4096": 4096} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "0MB", "-1MB", "much", "8EiB"} {
		if _, err := parseSize(text); err == nil || !strings.Contains(err.Error(), "want bytes with a unit") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTimeoutsTakeDefaultsFieldByField(t *testing.T) {
	got, err := Timeouts{Idle: caddy.Duration(time.Second), FirstByte: 2, Call: 3}.resolve()
	want := modelcall.DefaultTimeouts
	want.Idle, want.FirstByte, want.Call = time.Second, 2, 3
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := (Timeouts{Heartbeat: -1}).resolve(); !errors.Is(err, errNegative) || !strings.Contains(err.Error(), "heartbeat") {
		t.Errorf("error %v", err)
	}
}

func TestTimeoutsOfAProviderAreRefusedIfNegativeOrOfNoModel(t *testing.T) {
	got, err := ProviderTimeouts{Connect: 1, AnswerTimeouts: AnswerTimeouts{FirstByte: 2, Whole: 3, Idle: 4, Call: 5}}.resolve()
	if want := (provider.Timeouts{Connect: 1, FirstByte: 2, Whole: 3, Idle: 4, Call: 5}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, timeouts := range []ProviderTimeouts{{Connect: -1}, {AnswerTimeouts: AnswerTimeouts{Whole: -1}}} {
		if _, err := timeouts.resolve(); !errors.Is(err, errNegative) {
			t.Errorf("%+v: %v", timeouts, err)
		}
	}
	for want, m := range map[string]ModelTimeouts{
		"no models are given": {}, "pattern is empty": {Models: []string{""}}, "negative": {Models: []string{"m"}, AnswerTimeouts: AnswerTimeouts{Call: -1}},
	} {
		p := Provider{ModelTimeouts: []ModelTimeouts{m}}
		if _, err := p.modelTimeouts(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", m, err, want)
		}
	}
}

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
	want := Key{Name: "ci", Hashes: []string{match[2]}, Scopes: []string{"chat:write", "models:read"}, filed: true}
	if filed, err := appendKeys(nil, []byte(match[3])); err != nil || len(filed) != 1 || !reflect.DeepEqual(filed[0], want) {
		t.Errorf("the line for a file is %s: %+v, %v", match[3], filed, err)
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

func TestOnlyTheHTTPTransportIsTaken(t *testing.T) {
	if raw, err := withoutProtocol([]byte(`{"protocol":"http","compression":false}`)); err != nil || string(raw) != `{"compression":false}` {
		t.Errorf("got %s, %v", raw, err)
	}
	for _, raw := range []string{`{"protocol":"fastcgi"}`, `{}`, `[]`, `{`} {
		if _, err := withoutProtocol([]byte(raw)); err == nil {
			t.Errorf("%s was accepted", raw)
		}
	}
}
