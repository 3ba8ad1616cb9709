// Package secret resolves the secrets of a configuration, which stand there as {env.NAME} or
// {file./path}, and reads files again that change.
package secret

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// ErrUnset is wrapped when a placeholder's environment variable or file is missing or empty.
var ErrUnset = errors.New("is not set or empty")

var placeholder = regexp.MustCompile(`\{(env|file)\.([^{}]+)\}`)

// Resolve is the value of Parse at present. Literal reports whether it is written in the configuration
// itself.
func Resolve(text string) (value string, literal bool, err error) {
	t, err := Parse(text)
	if err != nil {
		return "", false, err
	}
	return t.Value(), t.Literal(), nil
}

var errBraces = errors.New("a secret with braces that is neither {env.NAME} nor {file./path}")

// Text is a text of the configuration with at most one placeholder. It is safe for concurrent use.
type Text struct {
	before, after string // of the placeholder; the whole text without one
	secret        string // what stands for the placeholder, if that is a variable
	file          *File  // or a file
}

// Parse resolves {env.NAME} or {file.PATH}; any other text without a placeholder is a literal secret,
// which the caller should warn about. The error names the variable or file, never its value.
func Parse(text string) (*Text, error) {
	t, err := Expand(text)
	if err == nil && !t.Literal() && t.before+t.after != "" {
		return nil, errBraces
	}
	return t, err
}

// Expand is Parse for a text with more around the placeholder, such as "Bearer {env.NAME}".
func Expand(text string) (*Text, error) {
	found := placeholder.FindStringSubmatchIndex(text)
	if found == nil {
		if text == "" {
			return nil, errors.New("an empty secret")
		}
		found = []int{len(text), len(text)}
	}
	t := &Text{before: text[:found[0]], after: text[found[1]:]}
	if strings.ContainsAny(t.before+t.after, "{}") {
		return nil, errBraces
	}
	if len(found) == 2 {
		return t, nil
	}
	name := text[found[4]:found[5]]
	if text[found[2]:found[3]] == "env" {
		if t.secret = os.Getenv(name); t.secret == "" {
			return nil, fmt.Errorf("environment variable %s %w", name, ErrUnset)
		}
		return t, nil
	}
	var err error
	t.file, err = open(name)
	return t, err
}

// Literal reports whether the text has no placeholder.
func (t *Text) Literal() bool { return t.secret == "" && t.file == nil }

// File returns the file of the placeholder, nil if it is none.
func (t *Text) File() *File { return t.file }

// Secret returns what stands for the placeholder at present, or the whole text without one.
func (t *Text) Secret() string {
	switch {
	case t.file != nil:
		return t.file.Value()
	case t.secret != "":
		return t.secret
	}
	return t.before
}

// Check checks what stands for the placeholder, or the whole text without one, and each later content
// of its file. The error of valid must not show the value.
func (t *Text) Check(valid func(value string) error) error {
	if t.file != nil {
		t.file.valid = valid
	}
	return valid(t.Secret())
}

// Value returns the text with what stands for the placeholder at present.
func (t *Text) Value() string {
	if t.Literal() {
		return t.before
	}
	return t.before + t.Secret() + t.after
}
