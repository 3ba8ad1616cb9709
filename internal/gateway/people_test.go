package gateway

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// oneKey is a source with one key, by its hash.
type oneKey string

func (oneKey) Authenticate(string, time.Time) (keys.Credential, *policy.KeyLimits, error) {
	return keys.Credential{}, nil, keys.ErrInvalid
}
func (oneKey) Held([sha256.Size]byte, time.Time) (keys.Credential, *policy.KeyLimits, error) {
	return keys.Credential{}, nil, keys.ErrInvalid
}
func (oneKey) IsSecret(string) bool { return false }
func (k oneKey) MayStill(hash, _ string, scope keys.Scope) bool {
	return hash == string(k) && scope == keys.WorkstationsConnect
}
func (oneKey) LimitsOf(string, string) *policy.KeyLimits { return nil }
func (oneKey) IsSubject(string) bool                     { return false }

// A sign-on says who may use keys of the configuration. It knows nobody who has a token of an
// identity provider, and must not end their desktops.
func TestASignOnEndsNoDesktopOfKeysThatItDoesNotGive(t *testing.T) {
	keyring, err := keys.NewKeyring(nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &Gateway{
		keyring: keyring, others: keySources{oneKey("person")}, now: time.Now,
		features: []Feature{{MayUse: func(user, _ string) bool { return user == "" }}},
	}
	for hash, want := range map[string]bool{"person": true, "somebody": false} {
		if got := mayConnectWith(g)(desktop.Issuer{KeyHash: hash, User: "ann@example.com"}); got != want {
			t.Errorf("%s: %v", hash, got)
		}
	}
}
