package tomessages

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxName is how long the names of tools and the ids of their calls may be, in bytes. The API
	// documents it for names only.
	maxName = 64

	hashBytes = 4 // of a name that was changed
)

// allowed returns a name or id as the API takes it: letters, digits, _ and -. Another text gets a
// hash, so that texts that are different stay so. The same text always becomes the same: a call and
// its result have one id, in every request.
func allowed(text string) string {
	name := make([]byte, 0, maxName)
	same := len(text) <= maxName
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '-' {
			name = append(name, c)
			continue
		}
		same = false
		name = append(name, '_')
	}
	if same {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	name = append(name[:min(len(name), maxName-1-2*hashBytes)], '_')
	return string(hex.AppendEncode(name, sum[:hashBytes]))
}

// allowedID returns the id of a tool call, quoted, as the API takes it.
func allowedID(quoted []byte) []byte {
	text, _ := jsonscan.String(quoted)
	return jsonscan.AppendString(nil, allowed(text))
}

// names are the names of the tools of a request.
type names struct {
	changed map[string][]byte // the caller's, quoted, by those that the provider gets
}

// allowed returns the name of a tool, quoted, as the API takes it.
func (n *names) allowed(quoted []byte) []byte {
	text, _ := jsonscan.String(quoted)
	name := allowed(text)
	if name != text {
		if n.changed == nil {
			n.changed = make(map[string][]byte)
		}
		n.changed[name] = bytes.Clone(quoted)
	}
	return jsonscan.AppendString(nil, name)
}

// nameOf returns the caller's name of a tool, quoted, for that in an answer.
func (o *Original) nameOf(quoted []byte) []byte {
	if len(o.names) > 0 {
		text, _ := jsonscan.String(quoted)
		if own, ok := o.names[text]; ok {
			return own
		}
	}
	return quoted
}

// tag returns the id of reasoning that is from a provider and its model. It does not show them.
func tag(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return "ant_" + hex.EncodeToString(sum[:8])
}
