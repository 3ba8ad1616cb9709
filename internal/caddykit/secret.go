package caddykit

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// ErrUnset is wrapped when a placeholder's environment variable or file is missing or empty.
var ErrUnset = errors.New("is not set or empty")

var secretPlaceholder = regexp.MustCompile(`^\{(env|file)\.([^{}]+)\}$`)

// maxSecretFile bounds a secret's file, in bytes.
const maxSecretFile = 64 << 10

// Secret resolves {env.NAME} or {file.PATH}; any other text without a placeholder is a literal
// secret, which the caller should warn about (literal true). The error names the variable or file,
// never its value.
func Secret(text string) (value string, literal bool, err error) {
	match := secretPlaceholder.FindStringSubmatch(text)
	if match == nil {
		if strings.ContainsAny(text, "{}") {
			return "", false, errors.New("a secret with braces that is neither {env.NAME} nor {file./path}")
		}
		if text == "" {
			return "", false, errors.New("an empty secret")
		}
		return text, true, nil
	}
	name := match[2]
	if match[1] == "env" {
		if value = os.Getenv(name); value == "" {
			return "", false, fmt.Errorf("environment variable %s %w", name, ErrUnset)
		}
		return value, false, nil
	}
	info, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, fmt.Errorf("file %s %w", name, ErrUnset)
	}
	if err != nil {
		return "", false, fmt.Errorf("secret file: %w", err)
	}
	if info.Size() > maxSecretFile {
		return "", false, fmt.Errorf("secret file %s has more than %d bytes", name, maxSecretFile)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return "", false, fmt.Errorf("secret file: %w", err)
	}
	if value = strings.TrimSpace(string(raw)); value == "" {
		return "", false, fmt.Errorf("file %s %w", name, ErrUnset)
	}
	return value, false, nil
}
