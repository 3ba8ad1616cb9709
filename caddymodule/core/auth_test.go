package core

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

func init() { caddy.RegisterModule(new(stamp)) }

// stamp is an account of another module. Its credential is the text in a field of the header.
type stamp struct {
	Text  string `json:"text" placeholders:"yes"`
	Field string `json:"field"`

	current func() string
}

func (*stamp) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.credentials.stamp", New: func() caddy.Module { return new(stamp) }}
}

func (s *stamp) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return caddykit.Options{"text": caddykit.Word(&s.Text), "field": caddykit.Word(&s.Field)}.Block(d)
}

func (s *stamp) Prepare(at *guest.Server) (guest.NewCredential, error) {
	if at.Place.Region == "" {
		at.Place.Region = "us-stamp-1"
	}
	var err error
	s.current, err = at.Secret("text", s.Text)
	return func(context.Context) (guest.Credential, error) { return s, errOf(s.Field == "", "field is missing") }, err
}

func errOf(is bool, text string) error {
	if is {
		return errors.New(text)
	}
	return nil
}

func (s *stamp) Sign(r *http.Request) error { r.Header.Set(s.Field, s.current()); return nil }
func (*stamp) Refused(int) bool             { return false }
func (s *stamp) Secrets() []string          { return []string{s.current()} }
func (*stamp) Fetch(context.Context) error  { return nil }
func (s *stamp) Status() guest.CredentialStatus {
	return guest.CredentialStatus{Kind: "stamp", Static: true}
}

func TestAnAccountIsAModuleOfItsNamespace(t *testing.T) {
	t.Setenv("STAMP", "stamped-secret")
	t.Setenv("AWS_REGION", "")
	for block, want := range map[string]string{
		"auth stamp {\ntext {env.STAMP}\nfield X-Stamp\n}": "stamped-secret at us-stamp-1",
		"auth stamp {\ntext {env.STAMP}\n}":                "auth: field is missing",
		"auth stamp {\ntext {env.UNSET_STAMP}\n}":          "auth: text: environment variable UNSET_STAMP is not set or empty",
		"auth stamp {\nfield {env.STAMP}\n}":               "is not replaced in this option",
		"auth stamp {\ntxet a\n}":                          `unknown option "txet"`,
		"auth stamp\noauth client_credentials":             "auth and oauth: give only one of them",
		"auth google":                                      "build it with github.com/gatehouse-proxy/gatehouse/caddymodule/clouds",
		"oauth client_credentials {\nclient_id a\n}":       "build it with github.com/gatehouse-proxy/gatehouse/caddymodule/clouds",
		"auth gcp": `auth "gcp": want google, aws, azure or stamp`,
	} {
		if got, err := signed(t, block); err != nil && !strings.Contains(err.Error(), want) || err == nil && got != want {
			t.Errorf("%s: %q, %v, want %q", block, got, err, want)
		}
	}
	for text, want := range map[string]Auth{
		"auth: want exactly one of google, aws, azure, oauth and stamp": {},
		"want google, aws, azure, oauth or stamp":                       {"gcp": []byte("{}")},
	} {
		if _, err := want.kind(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: %v, want %s", want, err, text)
		}
	}
}

// signed returns what the account of a block signs a request with, and the region of the place.
func signed(t *testing.T, block string) (string, error) {
	var account Account
	d := caddyfile.NewTestDispenser("account {\n" + block + "\n}")
	d.Next()
	if err := account.Options().Block(d); err != nil {
		return "", err
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	held := new(heldCredentials)
	defer held.release()
	a := accounts{ctx: ctx, logger: zap.NewNop(), credentials: held}
	made, err := a.endpoint("provider", account, "")
	if err != nil {
		return "", err
	}
	r, _ := http.NewRequest(http.MethodPost, "https://acme.invalid/v1", nil)
	err = made.Auth.Sign(r)
	return r.Header.Get("X-Stamp") + " at " + made.Place.Region, err
}

// A dialect of a feature that is not in the build is refused with the path of its package.
func TestADialectIsInTheBuild(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "anthropic": "", "bedrock": "build it with github.com/gatehouse-proxy/gatehouse/caddymodule/clouds",
		"gemini": "build it with github.com/gatehouse-proxy/gatehouse/caddymodule/gemini", "cobol": `unknown dialect "cobol"`,
	} {
		if err := checkDialect(name); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}
