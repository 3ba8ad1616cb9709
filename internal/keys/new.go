package keys

import (
	"encoding/base64"
	"fmt"
	"io"
)

const (
	secretPrefix = "gh-" // lets scanners find leaked keys
	secretBytes  = 32    // 256 bits
)

// NewSecret makes a new gateway key: "gh-" and 256 random bits in base64url. random is
// crypto/rand.Reader outside tests.
func NewSecret(random io.Reader) (string, error) {
	var raw [secretBytes]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return secretPrefix + base64.RawURLEncoding.EncodeToString(raw[:]), nil
}
