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

// Hash is what is known of a token.
type Hash [sha256.Size]byte

// MarshalText gives the hex digits.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText is the inverse of MarshalText.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("a hash of %d digits", len(text))
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// id is the token's name in logs and lists: too short to be one.
func (h Hash) id() string { return hex.EncodeToString(h[:6]) }

// hashOf hashes a label as a viewer gave it. ok is false for a label that does not have the length
// of a token.
func hashOf(label string) (h Hash, ok bool) {
	if len(label) != tokenLength {
		return Hash{}, false
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
	Tenant  string    `json:"tenant"`
	Key     string    `json:"key"`
	KeyHash string    `json:"key_hash,omitempty"` // SHA-256 of the key's secret, hex
	User    string    `json:"user,omitempty"`     // who used the key, if a single sign-on has said so
	Agent   bool      `json:"agent,omitempty"`    // the gateway asks on behalf of a program that looks and acts through it
	Until   time.Time `json:"-"`                  // the key's own end, which its tokens and their sessions share; zero = none

	Trace *tracing.Origin `json:"-"` // of the request; nil: it is not recorded
}

// Token is a VNC address as gateways know it.
type Token struct {
	Hash       Hash         `json:"hash"`
	Prefix     string       `json:"prefix,omitempty"` // "" unless VNC authentication was on
	Issuer     Issuer       `json:"issuer"`
	ViewOnly   bool         `json:"view_only,omitempty"`
	Shared     bool         `json:"shared,omitempty"`
	Once       bool         `json:"once,omitempty"`  // it dies with its first use
	Claim      Claim        `json:"claim,omitempty"` // what it does where the workstation is in use
	Rules      SessionRules `json:"rules,omitzero"`  // that its request has; those of other levels are of the configuration
	Guest      Guest        `json:"guest,omitzero"`  // of which session, if of one
	Issued     time.Time    `json:"issued"`
	Until      time.Time    `json:"until"`                // the latest end of token and sessions
	Deadline   time.Time    `json:"deadline"`             // the end while no session is open
	Client     netip.Addr   `json:"client"`               // of the first use; invalid before it
	Generation int64        `json:"generation,omitempty"` // of the workstation when it was issued
	Machine    string       `json:"machine,omitempty"`    // that its source had named
	Asked      time.Time    `json:"-"`                    // when that was asked; zero: no source was
}

// pinned reports whether the token belongs to another client than viewer.
func (t *Token) pinned(viewer netip.Addr) bool {
	return t.Client.IsValid() && t.Client != plain(viewer)
}

// until is when a session of it ends whose rules allow most (0: any time) since the issue.
func (t *Token) until(most time.Duration) time.Time {
	if end := t.Issued.Add(most); most > 0 && end.Before(t.Until) {
		return end
	}
	return t.Until
}

// endAt has the token end at a time at the latest.
func (t *Token) endAt(end time.Time) {
	if !end.IsZero() && end.Before(t.Until) {
		t.Until = end
	}
	if t.Until.Before(t.Deadline) {
		t.Deadline = t.Until
	}
}
