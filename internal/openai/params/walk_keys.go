package params

import (
	"bytes"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// known are the keys that a walker acts on.
var known = func() map[string]knownName {
	keys := map[string]knownName{"id": {name: "id"}, "tools": {name: "tools"}}
	for key := range stateFields.nested {
		keys[key] = knownName{name: key}
	}
	for key := range stateFields.within {
		keys[key] = knownName{name: key}
	}
	for key := range schemaFields {
		keys[key] = knownName{name: key}
	}
	for key := range opaqueFields {
		keys[key] = knownName{name: key}
	}
	for key, says := range factKeys {
		keys[key] = knownName{name: key, says: says}
	}
	return keys
}()

type knownName struct {
	name string
	says fact // the fact that it decides
}

// longestKnown is the length of the longest known key.
var longestKnown = func() (n int) {
	for key := range known {
		n = max(n, len(key))
	}
	return n
}()

// knownKey returns the known key that a decoder that folds case takes a quoted key for, or "". The
// fact is that of the exact spelling only.
func knownKey(quoted []byte) (string, fact) {
	raw := quoted[1 : len(quoted)-1]
	upper := false
	for _, c := range raw {
		if c == '\\' || c >= 0x80 {
			s, _ := jsonscan.String(quoted)
			// To upper and back folds U+017F to s and U+212A to k too.
			return known[strings.ToLower(strings.ToUpper(s))].name, known[s].says
		}
		upper = upper || 'A' <= c && c <= 'Z'
	}
	k := known[string(raw)]
	if !upper || len(raw) > longestKnown {
		return k.name, k.says
	}
	return known[string(bytes.ToLower(raw))].name, k.says
}

func keysOf(fields map[string]openai.Kind) (s jsonscan.KeySet) {
	for key := range fields {
		s |= jsonscan.KeysOf(key)
	}
	return s
}
