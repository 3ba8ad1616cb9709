package testprovider

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// sign makes the signature of thinking, or the data of redacted thinking. It
// holds the text, as Anthropic's does, and a checksum in place of their secret.
func sign(model, thinking string) string {
	content := model + "\x00" + thinking
	sum := sha256.Sum256([]byte(content))
	return base64.StdEncoding.EncodeToString(append(sum[:], content...))
}

// signed returns the thinking that sign made this signature for, and whether it
// did so for this model: Anthropic refuses thinking that it did not write.
func signed(model, signature string) (thinking string, ok bool) {
	data, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(data) < sha256.Size {
		return "", false
	}
	sum := sha256.Sum256(data[sha256.Size:])
	madeFor, thinking, found := strings.Cut(string(data[sha256.Size:]), "\x00")
	return thinking, found && madeFor == model && bytes.Equal(sum[:], data[:sha256.Size])
}
