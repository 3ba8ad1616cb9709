package desktop

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

const (
	tokenLength  = 26 // characters of 5 bits: 130 bits
	tokenBytes   = 17 // 136 bits, of which 130 are used
	prefixLength = 8  // what VNC authentication carries of a password (RFC 6143 section 7.2.2)
	minLife      = time.Second
)

// hash is what memory knows of a token.
type hash [sha256.Size]byte

// id is the token's name in logs and lists: too short to be one.
func (h hash) id() string { return hex.EncodeToString(h[:6]) }

// hashOf hashes a label as a viewer gave it. ok is false for a label that does not have the length
// of a token.
func hashOf(label string) (h hash, ok bool) {
	if len(label) != tokenLength {
		return hash{}, false
	}
	var folded [tokenLength]byte
	copy(folded[:], label)
	for i, c := range folded {
		if c >= 'A' && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		}
	}
	return sha256.Sum256(folded[:]), true
}

// The alphabet of RFC 4648 section 6 in lower case: a DNS label without a
// hyphen, which some viewers would not send as server name.
var alphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func mint(random io.Reader) (string, error) {
	var raw [tokenBytes]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return alphabet.EncodeToString(raw[:])[:tokenLength], nil
}

// Issuer is the key that asked for a token. Sessions and records name it.
type Issuer struct {
	Tenant, Key string
	KeyHash     string    // SHA-256 of the key's secret, hex
	User        string    // who used the key, if a single sign-on has said so
	Until       time.Time // the key's own end, which its tokens and their sessions share; zero = none

	Trace *tracing.Origin // of the request; nil: it is not recorded
}

// token is guarded by State.mu, except for the fields that are set when it is made.
type token struct {
	hash             hash
	prefix           string // "" unless VNC authentication was on
	entry            *entry
	issuer           Issuer
	viewOnly, shared bool
	once             bool      // it dies with its first use
	claim            Claim     // what it does where the workstation is in use
	until            time.Time // the latest end of token and sessions

	deadline           time.Time  // the end while no session is open
	open               int        // sessions
	client             netip.Addr // of the first use; invalid before it
	issued, generation int64      // where gateways share it: see SharedToken
	dead               tokenState // alive until it is set
}

func (t *token) live(now time.Time) bool {
	return t.dead == alive && now.Before(t.until) && (t.open > 0 || now.Before(t.deadline))
}

// pinned reports whether the token belongs to another client than viewer.
func (t *token) pinned(viewer netip.Addr) bool {
	return t.client.IsValid() && t.client != plain(viewer)
}

// tokenState is whether a token is live, or why it no longer is.
type tokenState uint8

const (
	alive tokenState = iota
	expired
	released
	revoked
	used // it was good for one session
)
