package keys

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// Keyring holds all keys of one configuration. Its keys, their names and the hashes are one piece of
// memory each, and the index has no pointers, so that many keys do not make each garbage collection
// longer.
type Keyring struct {
	keys   []Key
	owners []int32                     // of each secret, the position in keys
	hashes string                      // of each secret, in hex
	byHash map[[sha256.Size]byte]int32 // the position of the secret
}

// hexLen is the length of a hash in hex.
const hexLen = 2 * sha256.Size

// NewKeyring checks the specs and builds the keyring. Errors name the key: no secret, a secret
// shorter than [MinSecret], an unknown scope, a bad pattern, two keys with one name, or one secret
// used by two keys.
func NewKeyring(specs []Spec) (*Keyring, error) {
	ring := &Keyring{keys: make([]Key, 0, len(specs)), byHash: make(map[[sha256.Size]byte]int32, len(specs))}
	named := make(map[string]struct{}, len(specs))
	var names, hashes strings.Builder
	for _, spec := range specs {
		names.WriteString(spec.Name)
	}
	rest := names.String()
	common := common{tenants: map[string]string{}, bounds: map[string]bounds{}}
	for _, spec := range specs {
		if _, twice := named[spec.Name]; twice {
			return nil, fmt.Errorf("key %q is configured twice", spec.Name)
		}
		named[spec.Name] = struct{}{}
		spec.Name, rest = rest[:len(spec.Name)], rest[len(spec.Name):]
		if err := ring.add(spec, common, &hashes); err != nil {
			return nil, fmt.Errorf("key %q: %w", spec.Name, err)
		}
	}
	ring.hashes = hashes.String()
	return ring, nil
}

// common has what many keys of a configuration have in common, so that it is kept once.
type common struct {
	tenants map[string]string
	bounds  map[string]bounds // by the patterns, joined by spaces, and lists by line ends, which no pattern contains
}

func (c common) tenant(name string) string {
	if kept, ok := c.tenants[name]; ok {
		return kept
	}
	c.tenants[name] = name
	return name
}

func (c common) boundsOf(own, tenant []string) bounds {
	joined := strings.Join(own, " ") + "\n" + strings.Join(tenant, " ")
	kept, ok := c.bounds[joined]
	if !ok {
		kept = boundsOf(own, tenant)
		c.bounds[joined] = kept
	}
	return kept
}

func (r *Keyring) add(spec Spec, common common, hashes *strings.Builder) error {
	if !validName(spec.Name) {
		return fmt.Errorf("a key's name is 1 to 64 letters, digits and . _ @ -, beginning with a letter or digit")
	}
	tenant := cmp.Or(spec.Tenant, DefaultTenant)
	if !validName(tenant) {
		return fmt.Errorf("tenant %q: a tenant's name follows the rules of a key's name", tenant)
	}
	key := Key{
		Name:        spec.Name,
		Tenant:      common.tenant(tenant),
		HostedTools: spec.HostedTools,
		AllTenants:  spec.AllTenants,
		Expires:     spec.Expires,
		disabled:    spec.Disabled,
	}
	if len(spec.Scopes) == 0 {
		return errors.New("no scopes: name at least one")
	}
	var err error
	if key.Scopes, err = ParseScopes(spec.Scopes); err != nil {
		return err
	}
	for _, p := range spec.Models {
		if err := pattern.Valid(p); err != nil {
			return fmt.Errorf("models: %w", err)
		}
	}
	if err := ValidTools(spec.Tools, nil); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	key.models = common.boundsOf(spec.Models, nil)
	key.tools = tools{common.boundsOf(spec.Tools, spec.TenantTools), len(spec.Tools) > 0}
	sums, err := spec.hashes()
	if err != nil {
		return err
	}
	r.keys = append(r.keys, key)
	for _, sum := range sums {
		if other, taken := r.byHash[sum]; taken {
			return fmt.Errorf("its secret is also that of key %q", r.keys[r.owners[other]].Name)
		}
		r.byHash[sum] = int32(len(r.owners))
		r.owners = append(r.owners, int32(len(r.keys)-1))
		hashes.WriteString(hex.EncodeToString(sum[:]))
	}
	return nil
}

// Tenants returns the names of all tenants that have a key, each once, in the order of their keys.
func (r *Keyring) Tenants() []string {
	var names []string
	seen := make(map[string]struct{})
	for i := range r.keys {
		name := r.keys[i].Tenant
		if _, again := seen[name]; !again {
			seen[name] = struct{}{}
			names = append(names, name)
		}
	}
	return names
}

// Of returns the keys of tenants, in their order in the configuration.
func (r *Keyring) Of(tenants Tenants) (list []*Key) {
	for i := range r.keys {
		if tenants.Has(r.keys[i].Tenant) {
			list = append(list, &r.keys[i])
		}
	}
	return list
}

// Authenticate returns the key of the presented secret at the given time. The error is always
// [ErrInvalid].
func (r *Keyring) Authenticate(secret string, now time.Time) (Credential, error) {
	found, ok := r.find(secret)
	if !ok || !found.Valid(now) {
		return Credential{}, ErrInvalid
	}
	return found, nil
}

// IsSecret reports whether text is the secret of a key, valid or not.
func (r *Keyring) IsSecret(text string) bool {
	_, ok := r.find(text)
	return ok
}

func (r *Keyring) find(secret string) (Credential, bool) {
	sum, ok := Sum(secret)
	if !ok {
		return Credential{}, false
	}
	return r.hashed(sum)
}

func (r *Keyring) hashed(sum [sha256.Size]byte) (Credential, bool) {
	i, ok := r.byHash[sum]
	if !ok {
		return Credential{}, false
	}
	return Credential{Key: &r.keys[r.owners[i]], Hash: r.hashes[int(i)*hexLen : int(i+1)*hexLen]}, true
}

// Named returns the key with this name, valid or not, as if the first of its secrets had been presented.
func (r *Keyring) Named(name string) (Credential, bool) {
	for i, owner := range r.owners {
		if key := &r.keys[owner]; key.Name == name {
			return Credential{Key: key, Hash: r.hashes[i*hexLen : (i+1)*hexLen]}, true
		}
	}
	return Credential{}, false
}

// Held returns the key that has a secret with this SHA-256 (hex), valid or not, as if that secret had
// been presented.
func (r *Keyring) Held(hash string) (Credential, bool) {
	sum, ok := ParseSum(hash)
	if !ok {
		return Credential{}, false
	}
	return r.hashed(sum)
}

// Holding returns the key that has a secret with this SHA-256 (lower-case hex), valid or not.
func (r *Keyring) Holding(hash string) (key *Key, ok bool) {
	found, ok := r.Held(hash)
	return found.Key, ok
}
