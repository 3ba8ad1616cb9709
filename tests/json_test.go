package tests

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"testing"
)

// parse decodes JSON and keeps its numbers as they are written.
func parse(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v: %.300s", err, text)
	}
	return v
}

// at follows keys and indices; it returns nil if there is nothing.
func at(v any, path ...any) any {
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

// has reports whether an object has the key, even with null.
func has(v any, key string) bool {
	object, _ := v.(map[string]any)
	_, ok := object[key]
	return ok
}

// number is a JSON number as at returns it.
func number(text string) json.Number { return json.Number(text) }

func itoa(n int) string { return strconv.Itoa(n) }

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// textIn returns a string at the top level of an object, "" if there is none.
func textIn(object []byte, name string) string {
	var v map[string]any
	_ = json.Unmarshal(object, &v) // in anything but an object nothing is found
	text, _ := v[name].(string)
	return text
}
