package gateway_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

func TestEveryWrongKeyGetsTheSameRefusal(t *testing.T) {
	scopes := []string{"chat:write"}
	r := newRig(t, gateway.Config{Keyring: newRing(t,
		keys.Spec{Name: "dev", Secrets: []string{secret}, Scopes: scopes},
		keys.Spec{Name: "old", Secrets: []string{"gk-old-0123456789"}, Scopes: scopes, Expires: time.Now().Add(-time.Hour)},
	)})
	for _, wrong := range []string{"", "short", "gk-unit-012345678X", strings.Repeat("a", 600), "gk-old-0123456789"} {
		_, err := r.Authenticate(wrong, "")
		wantRefusal(t, err, apierror.InvalidAPIKey, "the API key is missing or not valid")
	}
	if caller, err := r.Authenticate(secret, ""); err != nil || caller.Name != "dev" || caller.Secret != secret {
		t.Errorf("%+v, %v", caller, err)
	}
}
