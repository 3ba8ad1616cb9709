// Package keys identifies callers: gateway keys, their scopes and tenants.
//
// A key is looked up by the SHA-256 of the presented secret: one hash and one map look-up. No
// secrets are compared, so there is no timing to measure. Random keys of 128 bits and more need no
// slow hash. A [Keyring] never changes; a reload makes a new one.
//
//	keyring, err := keys.NewKeyring([]keys.Spec{{Name: "dev", Secrets: []string{secret}, Scopes: []string{"chat:write"}}})
//	credential, err := keyring.Authenticate(presented, time.Now())
package keys

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// MinSecret is the shortest accepted gateway key, in bytes. Anything shorter can be guessed.
	MinSecret = 12
	// MaxSecret bounds what a caller can make the gateway hash, in bytes.
	MaxSecret = 512
	// DefaultTenant owns everything that names no tenant.
	DefaultTenant = "default"

	hashPrefix = "sha256:"
)

// ErrInvalid is the one error for a missing, unknown, expired or disabled key: a caller cannot tell
// which it was.
var ErrInvalid = errors.New("invalid key")

// ErrLoading is returned while a gateway that has just started does not know the keys that it
// shares with others: their database does not answer.
var ErrLoading = errors.New("the keys made at run time are not known yet")

// Spec is a key as configured, with its secrets resolved.
type Spec struct {
	Name        string    // unique; the identity in records and metrics
	Secrets     []string  // plain secrets, several for rotation
	Hashes      []string  // "sha256:<64 hex digits>" of secrets kept elsewhere
	Scopes      []string  // names; at least one
	Tenant      string    // default "default"
	Models      []string  // patterns over "<provider>/<model>"; empty = every callable model
	Tools       []string  // patterns over "<MCP server>/<tool>"; empty = none
	TenantTools []string  // those of the tenant, which bound Tools; empty = no bound
	Expires     time.Time // zero = never
	Disabled    bool
	HostedTools bool // may use tools that run at the provider
	AllTenants  bool // may see what belongs to other tenants
}

// Key is one configured identity.
type Key struct {
	Name        string
	Tenant      string
	Scopes      Scope
	HostedTools bool
	AllTenants  bool
	Expires     time.Time // zero = never

	models   bounds // of the key; of one that was made at run time also what its configuration allows
	tools    tools
	disabled bool
}

// Credential is a key and the secret that was presented for it.
type Credential struct {
	*Key
	Hash string // SHA-256 of the secret, lower-case hex; a filter of the activity
	// Issued reports whether the secret is a token that the gateway gave to a program of a person.
	Issued bool
}

// Has reports whether the key has every scope in s.
func (k *Key) Has(s Scope) bool { return k.Scopes&s == s }

// AllowsModel reports whether the key may use the model with this full name.
func (k *Key) AllowsModel(id string) bool { return k.models.match(id) }

// Patterns returns the two lists of a key of the configuration. Without a list of models it may use
// every model; without a list of tools it may use none. The list of its tenant bounds the tools.
func Patterns(k *Key) (models, tools []string) {
	if k.tools.some {
		tools = k.tools.bounds.own()
	}
	return k.models.own(), tools
}

// AllowsProvider reports whether the key may use a model of this provider, if there is one.
func (k *Key) AllowsProvider(name string) bool { return k.models.matchSome(name + "/") }

// AllowsSome reports whether the key may use a model that fits a pattern, if there is one.
func (k *Key) AllowsSome(pattern string) bool { return k.models.overlap(pattern) }

// maxName bounds the name of a key or a tenant, in bytes.
const maxName = 64

// validName reports whether name is 1 to 64 letters, digits and . _ @ -, beginning with a letter or
// digit.
func validName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z':
		case i > 0 && strings.IndexByte("._@-", c) >= 0:
		default:
			return false
		}
	}
	return 0 < len(name) && len(name) <= maxName
}

func (s *Spec) hashes() ([][sha256.Size]byte, error) {
	var out [][sha256.Size]byte
	for _, secret := range s.Secrets {
		if len(secret) < MinSecret {
			return nil, fmt.Errorf("a secret has %d characters; at least %d are needed", len(secret), MinSecret)
		}
		if len(secret) > MaxSecret {
			return nil, fmt.Errorf("a secret has %d characters; at most %d are possible", len(secret), MaxSecret)
		}
		if strings.ContainsFunc(secret, notVisibleASCII) {
			return nil, errors.New("a secret has characters that no Authorization header can carry")
		}
		out = append(out, sha256.Sum256([]byte(secret)))
	}
	for _, text := range s.Hashes {
		digits, prefixed := strings.CutPrefix(text, hashPrefix)
		sum, ok := ParseSum(digits)
		if !prefixed || !ok {
			return nil, errors.New("a hash is not sha256: and 64 hex digits") // it may be a secret in the wrong option
		}
		out = append(out, sum)
	}
	if len(out) == 0 {
		return nil, errors.New("no secret and no hash")
	}
	return out, nil
}

// ParseSum parses the 64 hex digits of a SHA-256.
func ParseSum(digits string) (sum [sha256.Size]byte, ok bool) {
	if len(digits) != hex.EncodedLen(len(sum)) {
		return sum, false // longer than sum
	}
	_, err := hex.Decode(sum[:], []byte(digits))
	return sum, err == nil
}

func notVisibleASCII(r rune) bool { return r <= ' ' || r > '~' }

// Valid reports whether the key is neither disabled nor expired.
func (k *Key) Valid(now time.Time) bool {
	return !k.disabled && (k.Expires.IsZero() || now.Before(k.Expires))
}

// Hash returns the hash of a secret as the configuration writes it: "sha256:<hex>".
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hashPrefix + hex.EncodeToString(sum[:])
}
