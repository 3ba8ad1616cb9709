// Package identity recognises the people and programs of an organisation by tokens of its identity
// providers: JWTs (RFC 7519) that an issuer of the configuration has signed.
//
//	issuers, err := identity.New(configured, deps)
//	person, err := issuers.Person(ctx, token)
//
// Who somebody is depends on the issuer and its subject alone: names and addresses change hands.
// What they may do depends on a role, which the claims of the token choose.
package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

const (
	// DefaultMaxLife is the longest life of a token where the configuration has none: it cannot be
	// called back.
	DefaultMaxLife = 24 * time.Hour
	// leeway is by how much the clocks of an issuer and of the gateway may differ.
	leeway = time.Minute

	// maxToken bounds a token, in bytes. Tokens with the groups of a person have several thousand.
	maxToken = 16 << 10
	// maxSubject and maxShown bound what is kept of a claim, in bytes.
	maxSubject = 512
	maxShown   = 128

	// idBytes is how much of a hash tells people apart: nobody finds another subject with the same.
	idBytes = 10
)

// ErrInvalid is wrapped by the reason why a token is not valid. Callers are not told the reason.
var ErrInvalid = errors.New("the token is not valid")

// ErrUnavailable is wrapped if the keys of an issuer cannot be read, so that nobody knows whether a
// token is valid.
var ErrUnavailable = errors.New("the keys of the issuer cannot be read")

// NoRoleError says that a token is valid and no role is for its holder.
type NoRoleError struct {
	Issuer string // its name in the configuration
	Seen   string // the claims that the rules ask for, as the token has them: for the operator
}

func (e *NoRoleError) Error() string {
	return fmt.Sprintf("no role of identity %q is for the holder of this token; it has %s", e.Issuer, e.Seen)
}

// Person is somebody, or a program, that a token is of.
type Person struct {
	// ID is the same for all tokens of an issuer and a subject: the name of the issuer's block, a
	// hyphen and 20 hexadecimal digits.
	ID string
	// Hash stands for a secret, of which somebody has none that stays the same: HashOf(ID).
	Hash string
	// Name is for display: nothing depends on it.
	Name string
	// Role is the first whose rule fits.
	Role string
	// Ends is when the token does, with the leeway of clocks.
	Ends time.Time
	// By is a digest of the issuer, with its rules, as it was configured.
	By string
}

// idOf returns the identity of a subject of an issuer.
func idOf(name, issuer, subject string) string {
	sum := sha256.Sum256([]byte(issuer + "\n" + subject))
	return name + "-" + hex.EncodeToString(sum[:idBytes])
}

// HashOf returns the hash of a person by the ID, in hex.
func HashOf(id string) string {
	sum := sha256.Sum256([]byte("identity:" + id))
	return hex.EncodeToString(sum[:])
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, fmt.Errorf(format, args...))
}
