package authserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxManaged bounds the managed settings of a role, in bytes.
const MaxManaged = 1 << 20

// Managed are settings of Claude Code that an operator gives to a role (Claude Code gateway
// protocol 1, "Managed settings").
type Managed struct {
	// Answer is the body of the answer, and Tag its ETag.
	Answer []byte
	Tag    string
}

// ParseManaged reads the settings of a file: a JSON object, as in managed-settings.json.
func ParseManaged(role string, text []byte) (*Managed, error) {
	settings, err := canonical(text)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(settings)
	checksum := "sha256:" + hex.EncodeToString(sum[:])
	answer, err := json.Marshal(struct {
		ID       string          `json:"uuid"`
		Checksum string          `json:"checksum"`
		Settings json.RawMessage `json:"settings"`
	}{role, checksum, settings})
	return &Managed{answer, `"` + checksum + `"`}, err
}

// canonical returns a JSON object with sorted keys and without spaces, as JavaScript writes it: the
// client computes the checksum of it.
func canonical(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var settings map[string]any
	if err := d.Decode(&settings); err != nil {
		return nil, fmt.Errorf("want a JSON object: %w", err)
	}
	if d.More() || settings == nil {
		return nil, errors.New("want one JSON object")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(settings); err != nil {
		return nil, err
	}
	plain := strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(out.String())
	return []byte(strings.TrimSpace(plain)), nil
}
