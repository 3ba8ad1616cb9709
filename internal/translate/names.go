package translate

import "github.com/gatehouse-proxy/gatehouse/internal/jsonscan"

// Names are the caller's names of tools, quoted, by those that the provider got in their place.
type Names map[string][]byte

// Caller returns the caller's name of a tool for that in an answer; both are quoted.
func (n Names) Caller(quoted []byte) []byte {
	if len(n) > 0 {
		name, _ := jsonscan.String(quoted)
		if own, ok := n[name]; ok {
			return own
		}
	}
	return quoted
}
