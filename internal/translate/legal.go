package translate

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxLegal is how long the names of tools and the ids of their calls may be, in bytes. Anthropic
// documents it for names; OpenAI refuses longer ids.
const maxLegal = 64

// Legal returns the name of a tool, or the id of a call, as Anthropic's API takes it: letters,
// digits, _ and -. A text that is changed or shortened gets so many hexadecimal digits of its hash,
// so that different texts stay different. The same text always becomes the same: a call and its
// result have one id, in every request.
func Legal(text string, digits int) string {
	legal, changed := make([]byte, 0, min(len(text), maxLegal)), len(text) > maxLegal
	for i := range min(len(text), maxLegal) {
		c := text[i]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			c, changed = '_', true
		}
		legal = append(legal, c)
	}
	if !changed {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	legal = append(legal[:min(len(legal), maxLegal-1-digits)], '_')
	return string(append(legal, hex.EncodeToString(sum[:])[:digits]...))
}

// LegalID is Legal for the quoted id of a tool call.
func LegalID(quoted []byte, digits int) []byte {
	id, _ := jsonscan.String(quoted)
	return jsonscan.AppendString(nil, Legal(id, digits))
}
