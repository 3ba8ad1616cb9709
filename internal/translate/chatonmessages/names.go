package chatonmessages

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// hashDigits are of a name or id that was changed.
const hashDigits = 8

// names are the names of the tools of a request.
type names struct {
	changed map[string][]byte // the caller's, quoted, by those that the provider gets
}

// allowed returns the name of a tool, quoted, as the API takes it.
func (n *names) allowed(quoted []byte) []byte {
	text, _ := jsonscan.String(quoted)
	name := translate.Legal(text, hashDigits)
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
