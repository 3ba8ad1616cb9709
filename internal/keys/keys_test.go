package keys_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

const secret = "gh-a-secret-of-the-test"

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func spec(change func(*keys.Spec)) keys.Spec {
	s := keys.Spec{Name: "dev", Secrets: []string{secret}, Scopes: []string{"chat:write"}}
	if change != nil {
		change(&s)
	}
	return s
}

func ring(t testing.TB, specs ...keys.Spec) *keys.Keyring {
	t.Helper()
	r, err := keys.NewKeyring(specs)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestASecretOpensItsKey(t *testing.T) {
	r := ring(t, spec(func(s *keys.Spec) { s.Scopes = []string{"chat:write", "models:read"} }))
	c, err := r.Authenticate(secret, noon)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "dev" || c.Tenant != "default" {
		t.Errorf("got key %q of tenant %q", c.Name, c.Tenant)
	}
	if !c.Has(keys.ChatWrite|keys.ModelsRead) || c.Has(keys.ActivityRead) {
		t.Errorf("scopes %q", c.Scopes)
	}
	if "sha256:"+c.Hash != keys.Hash(secret) {
		t.Errorf("hash %q", c.Hash)
	}
}

func TestEveryBadKeyGetsTheSameAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		change    func(*keys.Spec)
		presented string
		at        time.Time
	}{
		"unknown":           {nil, "gh-another-secret-entirely", noon},
		"empty":             {nil, "", noon},
		"too long":          {nil, strings.Repeat("x", keys.MaxSecret+1), noon},
		"prefix of a key":   {nil, secret[:len(secret)-1], noon},
		"disabled":          {func(s *keys.Spec) { s.Disabled = true }, secret, noon},
		"expired":           {func(s *keys.Spec) { s.Expires = noon }, secret, noon},
		"hash is no secret": {nil, keys.Hash(secret), noon},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ring(t, spec(tc.change)).Authenticate(tc.presented, tc.at); !errors.Is(err, keys.ErrInvalid) {
				t.Fatalf("got %v, want ErrInvalid", err)
			}
		})
	}
}

func TestAKeyWorksUntilTheMomentItExpires(t *testing.T) {
	r := ring(t, spec(func(s *keys.Spec) { s.Expires = noon }))
	if _, err := r.Authenticate(secret, noon.Add(-time.Nanosecond)); err != nil {
		t.Fatal(err)
	}
}

func TestRotationTakesOldAndNewSecretForOneKey(t *testing.T) {
	old, fresh := "gh-the-old-secret", "gh-the-new-secret"
	r := ring(t, spec(func(s *keys.Spec) { s.Secrets, s.Hashes = []string{old}, []string{keys.Hash(fresh)} }))
	a, errA := r.Authenticate(old, noon)
	b, errB := r.Authenticate(fresh, noon)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a.Key != b.Key || a.Hash == b.Hash {
		t.Fatal("both secrets must open the same key and stay distinguishable by hash")
	}
}

func TestModelPatterns(t *testing.T) {
	open, _ := ring(t, spec(nil)).Authenticate(secret, noon)
	some, _ := ring(t, spec(func(s *keys.Spec) { s.Models = []string{"openai/*", "test/echo"} })).Authenticate(secret, noon)
	for id, want := range map[string]bool{"openai/gpt-x": true, "openai/a/b:free": true, "test/echo": true, "test/echo2": false, "other/x": false} {
		if !open.AllowsModel(id) {
			t.Errorf("a key without patterns must allow %s", id)
		}
		if some.AllowsModel(id) != want {
			t.Errorf("AllowsModel(%q) = %v", id, !want)
		}
	}
}

func TestBadConfigurationsAreNamed(t *testing.T) {
	twin := spec(func(s *keys.Spec) { s.Name = "twin" })
	for want, specs := range map[string][]keys.Spec{
		`key "dev": a secret has 5 characters`:             {spec(func(s *keys.Spec) { s.Secrets = []string{"short"} })},
		`key "dev": no secret and no hash`:                 {spec(func(s *keys.Spec) { s.Secrets = nil })},
		`key "dev": unknown scope "chat:wirte"`:            {spec(func(s *keys.Spec) { s.Scopes = []string{"chat:wirte"} })},
		`key "dev": no scopes`:                             {spec(func(s *keys.Spec) { s.Scopes = nil })},
		`key "dev" is configured twice`:                    {spec(nil), spec(nil)},
		`key "twin": its secret is also that of key "dev"`: {spec(nil), twin},
		`a hash is not sha256:`:                            {spec(func(s *keys.Spec) { s.Hashes = []string{"sha256:xyz"} })},
		`key "dev": models:`:                               {spec(func(s *keys.Spec) { s.Models = []string{""} })},
		`key "a b":`:                                       {spec(func(s *keys.Spec) { s.Name = "a b" })},
		`tenant "a b"`:                                     {spec(func(s *keys.Spec) { s.Tenant = "a b" })},
		`no Authorization header can carry`:                {spec(func(s *keys.Spec) { s.Secrets = []string{"has a space inside"} })},
	} {
		_, err := keys.NewKeyring(specs)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error contains the secret: %v", err)
		}
	}
}

func TestScopesPrintTheNamesTheyAreParsedFrom(t *testing.T) {
	for _, name := range []string{"chat:write", "models:read", "activity:read", "workstations:connect", "workstations:manage"} {
		s, err := keys.ParseScope(name)
		if err != nil || s.String() != name {
			t.Errorf("%s: got %q, %v", name, s, err)
		}
	}
}

func TestNewSecretsAreUsableAndDiffer(t *testing.T) {
	a, errA := keys.NewSecret(rand.Reader)
	b, errB := keys.NewSecret(rand.Reader)
	if errA != nil || errB != nil || a == b || len(a) != len("gh-")+43 || !keys.HasForm(a) || keys.HasForm(a+"x") || keys.HasForm(a[1:]) || keys.HasForm(a[:45]+"!") {
		t.Fatal(a, b, errA, errB)
	}
	if _, err := keys.NewKeyring([]keys.Spec{{Name: "a", Secrets: []string{a}, Scopes: []string{"chat:write"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.NewSecret(bytes.NewReader(nil)); err == nil {
		t.Fatal("a key without randomness")
	}
}

func TestAuthenticateDoesNotAllocate(t *testing.T) {
	r := ring(t, spec(nil))
	if n := testing.AllocsPerRun(100, func() { _, _ = r.Authenticate(secret, noon) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	r := ring(b, spec(nil))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Authenticate(secret, noon); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAKeyMayUseTheProvidersThatItsPatternsFit(t *testing.T) {
	for name, c := range map[string]struct {
		models []string
		want   bool
	}{
		"every model": {nil, true},
		"one model":   {[]string{"other/m", "acme/m"}, true},
		"others only": {[]string{"other/*", "acme2/*"}, false},
		"any ending":  {[]string{"*:free"}, true},
	} {
		credential, err := ring(t, spec(func(s *keys.Spec) { s.Models = c.models })).Authenticate(secret, noon)
		if err != nil {
			t.Fatal(err)
		}
		if got := credential.AllowsProvider("acme"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
