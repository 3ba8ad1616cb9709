package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// maxKeyFile bounds a file of keys, in bytes: more than a million keys, and no disk image that was
// named by mistake.
const maxKeyFile = 256 << 20

// leastKey is less than any key takes in a file, in bytes. It bounds what empty lines make the
// gateway allocate.
const leastKey = 64

// withKeyFiles returns the keys and those of the files.
func withKeyFiles(all []Key, paths []string) ([]Key, error) {
	for _, path := range paths {
		text, err := ReadBounded("key_file", path, maxKeyFile)
		if err != nil {
			return nil, err
		}
		if all, err = appendKeys(all, text); err != nil {
			return nil, fmt.Errorf("key_file %q: %w", path, err)
		}
	}
	return all, nil
}

// appendKeys reads keys: JSON objects, one a line. Unknown fields are refused: a typo must never
// silently widen access. Errors name the line and show no value.
func appendKeys(all []Key, text []byte) ([]Key, error) {
	newline := []byte{'\n'}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors begin a file with this mark of UTF-8
	all = slices.Grow(all, min(bytes.Count(text, newline)+1, len(text)/leastKey))
	values := json.NewDecoder(bytes.NewReader(text))
	values.DisallowUnknownFields()
	for {
		var k Key
		read := values.InputOffset()
		err := values.Decode(&k)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err == nil && k.Name == "" {
			err = errors.New("a key without a name")
		}
		if err == nil {
			err = caddykit.CheckPlaceholders(k)
		}
		if err != nil {
			begin := len(text) - len(bytes.TrimLeft(text[read:], " \t\r\n"))
			line := 1 + bytes.Count(text[:begin], newline)
			return nil, fmt.Errorf("line %d: %w; a line is a key as a JSON object, with the fields that it has in Caddy's JSON", line, err)
		}
		k.filed = true
		all = append(all, k)
	}
}
