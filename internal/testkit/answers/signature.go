package answers

import (
	"crypto/sha256"
	"encoding/base64"
)

// sign makes the signature of thinking, or the data of redacted thinking. It
// holds the text, as Anthropic's does, and a checksum in place of their secret.
func sign(model, thinking string) string {
	content := model + "\x00" + thinking
	sum := sha256.Sum256([]byte(content))
	return base64.StdEncoding.EncodeToString(append(sum[:], content...))
}
