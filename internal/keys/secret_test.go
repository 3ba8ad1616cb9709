package keys_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

func TestASecretHas12To512VisibleCharacters(t *testing.T) {
	for name, tc := range map[string]struct {
		secret, want string // "" = accepted
	}{
		"11":             {strings.Repeat("x", 11), "a secret has 11 characters; at least 12 are needed"},
		"12":             {strings.Repeat("x", 12), ""},
		"512":            {strings.Repeat("x", 512), ""},
		"513":            {strings.Repeat("x", 513), "a secret has 513 characters; at most 512 are possible"},
		"first and last": {"!~!~!~!~!~!~", ""},
		"a space":        {"twelve chars", "no Authorization header can carry"},
		"a tab":          {"twelve\tchars", "no Authorization header can carry"},
		"delete":         {"twelve\x7fchars", "no Authorization header can carry"},
		"not ASCII":      {"zwölf Zeichen", "no Authorization header can carry"},
	} {
		r, err := keys.NewKeyring([]keys.Spec{spec(func(s *keys.Spec) { s.Secrets = []string{tc.secret} })})
		switch {
		case tc.want != "":
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", name, err, tc.want)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			if _, err := r.Authenticate(tc.secret, noon); err != nil {
				t.Errorf("%s: accepted in the configuration, then %v", name, err)
			}
		}
	}
}

// A hash does not show how long its secret is.
func TestASecretOfTheWrongLengthOpensNothingThoughItsHashIsConfigured(t *testing.T) {
	for length, want := range map[int]error{11: keys.ErrInvalid, 12: nil, 512: nil, 513: keys.ErrInvalid} {
		secret := strings.Repeat("x", length)
		r := ring(t, spec(func(s *keys.Spec) { s.Secrets, s.Hashes = nil, []string{keys.Hash(secret)} }))
		if _, err := r.Authenticate(secret, noon); !errors.Is(err, want) {
			t.Errorf("%d characters: got %v, want %v", length, err, want)
		}
	}
}

func TestAHashIsSHA256And64HexDigits(t *testing.T) {
	good := keys.Hash(secret)
	for _, bad := range []string{"", "sha256:", good[:len(good)-2], good + "00", good[:len(good)-1] + "x", strings.TrimPrefix(good, "sha256:"), "sha512" + strings.TrimPrefix(good, "sha256")} {
		_, err := keys.NewKeyring([]keys.Spec{spec(func(s *keys.Spec) { s.Hashes = []string{bad} })})
		if err == nil || !strings.Contains(err.Error(), "a hash is not sha256: and 64 hex digits") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func TestAKeyIsFoundByTheHashOfAnyOfItsSecrets(t *testing.T) {
	other := "gh-another-secret-of-the-test"
	r := ring(t, spec(func(s *keys.Spec) { s.Secrets, s.Disabled = []string{secret, other}, true }))
	for _, text := range []string{secret, other} {
		if key, ok := r.Holding(strings.TrimPrefix(keys.Hash(text), "sha256:")); !ok || key.Name != "dev" {
			t.Errorf("%q: got %v, %t", text, key, ok)
		}
	}
	hash := strings.TrimPrefix(keys.Hash(secret), "sha256:")
	unknown := strings.TrimPrefix(keys.Hash("gh-unknown-to-the-ring"), "sha256:")
	for _, text := range []string{"", hash[:62], hash[:63], hash + "0", hash + "00", hash + "zz", hash[:63] + "z", unknown} {
		if key, ok := r.Holding(text); ok || key != nil {
			t.Errorf("%q: got %v, %t", text, key, ok)
		}
	}
}

func TestTheNameOfAnUnknownScopeIsNoScope(t *testing.T) {
	scope, err := keys.ParseScope("chat:wirte")
	if scope != 0 || err == nil || !strings.HasSuffix(err.Error(), "known scopes: chat:write, models:read, activity:read, providers:read, workstations:connect, workstations:manage, limits:read, keys:manage, mcp:call, workstations:observe, workstations:automate, recordings:read, recordings:manage") {
		t.Errorf("got %d, %v", scope, err)
	}
	if keys.Scope(0).String() != "" {
		t.Errorf("no scopes are printed as %q", keys.Scope(0))
	}
}
