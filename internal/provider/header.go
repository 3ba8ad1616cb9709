package provider

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// HeaderField is a field of the header of every request to an endpoint.
type HeaderField struct {
	Name   string
	Value  func() string // at present
	Secret func() string // what of it errors do not show, at present; nil for nothing
}

// transportFields are those that belong to the connection (RFC 9110, 7.6.1) or that the gateway sets
// itself.
var transportFields = []string{
	"Accept", "Accept-Encoding", "Connection", "Expect", "Host", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// TransportField reports whether a field of a header, by its canonical name, belongs to the connection or
// to the body, or is one that the gateway sets itself.
func TransportField(name string) bool {
	return slices.Contains(transportFields, name) || strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "Proxy-")
}

// NamesSecret reports whether a header field of this name has a credential.
func NamesSecret(name string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(name), "-"), func(word string) bool {
		switch word {
		case "auth", "authorization", "key", "apikey", "token", "secret", "password", "cookie", "credential", "credentials":
			return true
		}
		return false
	})
}

// listField is a field of which the configured and a call's own values are sent together: the beta
// features of the Messages API.
const listField = "Anthropic-Beta"

// CheckFields refuses fields that cannot be sent, and the one with the credential, which the option
// sets. Their names become canonical.
func CheckFields(fields []HeaderField, keyField, option string) ([]HeaderField, error) {
	var checked []HeaderField
	for _, f := range fields {
		name := http.CanonicalHeaderKey(f.Name)
		switch {
		case !httpguts.ValidHeaderFieldName(f.Name):
			return nil, fmt.Errorf("header %q: this is not the name of a header field", f.Name)
		case TransportField(name):
			return nil, fmt.Errorf("header %s: the gateway sets it itself, or it belongs to the connection", f.Name)
		case name == keyField:
			return nil, fmt.Errorf("header %s: %s sets it; give only one of them", f.Name, option)
		case slices.ContainsFunc(checked, func(other HeaderField) bool { return other.Name == name }):
			return nil, fmt.Errorf("header %s is given twice; join its values with a comma", f.Name)
		}
		if err := ValidFieldValue(f.Value()); err != nil {
			return nil, fmt.Errorf("header %s: %w", f.Name, err)
		}
		f.Name = name
		checked = append(checked, f)
	}
	return checked, nil
}

// ValidFieldValue returns an error, which does not show the value, if no header field can carry it.
func ValidFieldValue(value string) error {
	if value != strings.TrimSpace(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return errors.New("the value has characters that no header field can carry, such as a line end")
	}
	return nil
}
