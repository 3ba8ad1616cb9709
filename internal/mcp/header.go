package mcp

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// CheckHeaders reports whether the headers of a request say what its message says. The stateless era
// requires them; in both eras one that is present must be equal, because a server may act on it. The
// headers of arguments (Mcp-Param-*) are for the server to check, who has the schema of the tool.
func CheckHeaders(h http.Header, m *Message) *Error {
	version, err := single(h, HeaderVersion)
	if err != nil {
		return err
	}
	if m.Kind == Response {
		return nil
	}
	// A server of both eras may choose by the body.
	stateless := version == Latest
	switch {
	case m.version != "" && m.version != version:
		return mismatch("the header " + HeaderVersion + " must equal the version in params._meta")
	case m.version == "" && stateless && m.Kind == Request:
		return badParams(`params._meta must have "`+metaVersion+`"`, http.StatusBadRequest)
	}
	required := stateless && m.Kind == Request
	if err := equal(h, HeaderMethod, m.Method, required, plain); err != nil {
		return err
	}
	if m.Name == "" {
		return nil
	}
	return equal(h, HeaderName, m.Name, required, DecodeName)
}

func equal(h http.Header, name, want string, required bool, decode func(string) (string, bool)) *Error {
	value, err := single(h, name)
	switch {
	case err != nil:
		return err
	case value == "" && required:
		return mismatch("the header " + name + " is required")
	case value == "":
		return nil
	}
	if got, ok := decode(value); !ok || got != want {
		return mismatch("the header " + name + " must equal the body")
	}
	return nil
}

// The marks of a value that is not plain ASCII.
const (
	encodedPrefix = "=?base64?"
	encodedSuffix = "?="
)

func plain(value string) (string, bool) { return value, visible(value) }

// DecodeName decodes a value of Mcp-Name. It is false for bytes that a header cannot have, and for
// base64 that is wrong.
func DecodeName(value string) (string, bool) {
	encoded, ok := strings.CutPrefix(value, encodedPrefix)
	if ok {
		encoded, ok = strings.CutSuffix(encoded, encodedSuffix)
	}
	if !ok {
		return value, visible(value)
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return string(decoded), err == nil
}

// EncodeName returns name as a value of Mcp-Name: in base64 if it is not plain ASCII, has white space
// at an end, or would be taken for base64.
func EncodeName(name string) string {
	if visible(name) && strings.TrimSpace(name) == name &&
		!(strings.HasPrefix(name, encodedPrefix) && strings.HasSuffix(name, encodedSuffix)) {
		return name
	}
	return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(name)) + encodedSuffix
}

// visible reports whether a header can have the value as it is (RFC 9110, section 5.5, without the
// obsolete bytes).
func visible(value string) bool {
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}
