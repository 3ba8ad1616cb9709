package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
)

// Parse decodes JSON and keeps its numbers as they are written.
func Parse(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v: %.300s", err, text)
	}
	return v
}

// At follows keys and indices; it returns nil if there is nothing.
func At(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[step]
		case int:
			list, _ := v.([]any)
			if step < 0 {
				step += len(list)
			}
			if step < 0 || step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// Has reports whether an object has the key, even with null.
func Has(v any, key string) bool {
	object, _ := v.(map[string]any)
	_, ok := object[key]
	return ok
}

// Number is a JSON number as at returns it.
func Number(text string) json.Number { return json.Number(text) }

// SHA256 is the hash in hexadecimal digits.
func SHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
