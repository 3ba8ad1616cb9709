package keys

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

const (
	secretPrefix = "gh-" // lets scanners find leaked keys
	secretBytes  = 32    // 256 bits
)

// HasForm reports whether text has the form of a key that [NewSecret] makes, of this gateway or another.
func HasForm(text string) bool {
	rest, ok := strings.CutPrefix(text, secretPrefix)
	if !ok || len(rest) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return false
	}
	_, err := base64.RawURLEncoding.DecodeString(rest)
	return err == nil
}

// NewSecret makes a new gateway key: "gh-" and 256 random bits in base64url. random is
// crypto/rand.Reader outside tests.
func NewSecret(random io.Reader) (string, error) {
	var raw [secretBytes]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return secretPrefix + base64.RawURLEncoding.EncodeToString(raw[:]), nil
}
