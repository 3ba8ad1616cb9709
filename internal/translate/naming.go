package translate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Naming is how a target takes the names of tools, or the ids of calls. The zero value takes any.
type Naming struct {
	Most  int    // bytes
	Extra string // characters besides letters, digits, _ and -
	First bool   // the first one is a letter or _
	Any   bool   // any character
	Hash  int    // hexadecimal digits of the hash of a text that was changed; 0 stands for 8
}

// hashDigits are the digits of a hash where a Naming does not say how many.
const hashDigits = 8

// Legal returns a text as the target takes it. One that is changed or shortened gets the beginning
// of its hash, so that different texts stay different. The same text always becomes the same: a
// call and its result have one id, in every request.
func (n Naming) Legal(text string) string {
	if n.Most == 0 || fits(n, text) {
		return text
	}
	legal := make([]byte, 0, n.Most)
	for i := range min(len(text), n.Most) {
		c := text[i]
		if !n.takes(c, i == 0) {
			c = '_'
		}
		legal = append(legal, c)
	}
	sum, digits := sha256.Sum256([]byte(text)), cmp.Or(n.Hash, hashDigits)
	legal = append(legal[:min(len(legal), n.Most-1-digits)], '_')
	return string(append(legal, hex.EncodeToString(sum[:])[:digits]...))
}

// Takes reports whether a target takes a quoted text as it was written. One with escapes is decoded
// first.
func (n Naming) Takes(quoted []byte) bool {
	return n.Most == 0 || fits(n, quoted[1:len(quoted)-1]) && bytes.IndexByte(quoted, '\\') < 0
}

func fits[T string | []byte](n Naming, text T) bool {
	for i := range min(len(text), n.Most) {
		if !n.takes(text[i], i == 0) {
			return false
		}
	}
	return len(text) > 0 && len(text) <= n.Most
}

// Quoted is Legal for a quoted text.
func (n Naming) Quoted(quoted []byte) []byte {
	text, _ := jsonscan.String(quoted)
	return jsonscan.AppendString(nil, n.Legal(text))
}

func (n Naming) takes(c byte, first bool) bool {
	switch {
	case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_':
		return true
	case n.First && first:
		return false
	}
	return n.Any || c == '-' || c >= '0' && c <= '9' || strings.IndexByte(n.Extra, c) >= 0
}
