package keys

import (
	"crypto/sha256"
	"strings"
	"unsafe"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// NewRuntimeKey returns a key that was made at run time. It may use the models that fit both lists;
// an empty list allows every model. Its name and tenant are not checked. It may call no tool.
func NewRuntimeKey(k Key, models, within pattern.List) *Key {
	k.models = boundsOf(models, within)
	return &k
}

// WithTools lets a key that was made at run time call the tools that fit its own list, what its
// configuration allows such keys, and the list of its tenant. Either of the first two allows nothing if it
// is empty, that of the tenant everything.
func (k *Key) WithTools(own, within, tenant pattern.List) *Key {
	k.tools = tools{boundsOf(own, within, tenant), len(own) > 0 && len(within) > 0}
	return k
}

// Sum returns the SHA-256 of a presented secret. Ok is false for a text that cannot be one, because
// it is too short or too long.
func Sum(secret string) (sum [sha256.Size]byte, ok bool) {
	if len(secret) < MinSecret || len(secret) > MaxSecret {
		return sum, false
	}
	// The bytes are only read: no copy of the secret is made.
	return sha256.Sum256(unsafe.Slice(unsafe.StringData(secret), len(secret))), true
}

// ParseScopes parses the names of scopes.
func ParseScopes(names []string) (all Scope, err error) {
	for _, name := range names {
		scope, err := ParseScope(name)
		if err != nil {
			return 0, err
		}
		all |= scope
	}
	return all, nil
}

// Names lists the names of the scopes in s.
func (s Scope) Names() []string { return strings.Fields(s.String()) }

// ValidTenant reports whether name can be that of a tenant.
func ValidTenant(name string) bool { return validName(name) }
