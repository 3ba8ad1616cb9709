package params_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

func strict(t testing.TB, text string) *jsonscan.Body {
	t.Helper()
	b := &jsonscan.Body{Own: true} // keys may repeat: no reader depends on the check
	if err := b.Parse([]byte(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b
}

// decodedFileIDs finds by decoding what request.References must find.
func decodedFileIDs(body []byte) (ids []string) {
	var v struct {
		Input any `json:"input"`
	}
	if json.Unmarshal(body, &v) != nil {
		return nil
	}
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		if depth > 20 {
			return
		}
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e, depth+1)
			}
		case map[string]any:
			for key, e := range v {
				if s, ok := e.(string); ok && strings.EqualFold(key, "file_id") {
					ids = append(ids, s)
				}
				if opaque(key) {
					continue
				}
				walk(e, depth+1)
			}
		}
	}
	walk(v.Input, 0)
	return ids
}

// opaque reports whether a decoder that minds no case takes a member for data of the caller's.
func opaque(key string) bool {
	return slices.ContainsFunc([]string{"arguments", "input", "env", "properties"}, func(s string) bool { return strings.EqualFold(s, key) })
}
