package secret_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/secret"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSecretResolves(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_SECRET", "from-the-environment")
	for text, want := range map[string]string{
		"{env.GATEHOUSE_TEST_SECRET}":                        "from-the-environment",
		"{file." + write(t, "from-a-file\n") + "}":           "from-a-file",
		"{file." + write(t, "\r\n from-windows \r\n") + "}":  "from-windows",
		"{file." + write(t, "two words\nand a line\n") + "}": "two words\nand a line",
	} {
		value, literal, err := secret.Resolve(text)
		if value != want || literal || err != nil {
			t.Errorf("%s: %q, literal %v, %v", text, value, literal, err)
		}
	}
	if value, literal, err := secret.Resolve("plain-text-secret"); value != "plain-text-secret" || !literal || err != nil {
		t.Errorf("a literal: %q, literal %v, %v", value, literal, err)
	}
}

// The error of an unset secret must be distinguishable (for an optional provider), and name it.
func TestAnUnsetSecretIsNamed(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_EMPTY", "")
	missing := filepath.Join(t.TempDir(), "missing")
	for text, name := range map[string]string{
		"{env.GATEHOUSE_TEST_EMPTY}":          "GATEHOUSE_TEST_EMPTY",
		"{env.GATEHOUSE_TEST_NOBODY_SETS_IT}": "GATEHOUSE_TEST_NOBODY_SETS_IT",
		"{file." + missing + "}":              missing,
		"{file." + write(t, " \n") + "}":      "secret",
	} {
		_, _, err := secret.Resolve(text)
		if !errors.Is(err, secret.ErrUnset) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSecretRefuses(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_SECRET", "canary-0123456789")
	big := write(t, "canary-0123456789"+strings.Repeat("x", 64<<10))
	for text, want := range map[string]string{
		"":                                      "empty secret",
		"x{env.GATEHOUSE_TEST_SECRET}":          "braces",
		"{env.GATEHOUSE_TEST_SECRET}{env.HOME}": "braces",
		"{http.request.header.X}":               "braces",
		"{$GATEHOUSE_TEST_SECRET}":              "braces",
		"{env.}":                                "braces",
		"{file." + big + "}":                    "more than 65536 bytes",
		"{file." + t.TempDir() + "}":            "secret file",
	} {
		value, _, err := secret.Resolve(text)
		if err == nil || value != "" || errors.Is(err, secret.ErrUnset) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %q", text, value, err, want)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: the error shows the secret: %v", text, err)
		}
	}
}

func TestATextMayHaveOnePlaceholder(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_SECRET", "from-the-environment")
	for text, want := range map[string][2]string{
		"Bearer {env.GATEHOUSE_TEST_SECRET}":            {"Bearer from-the-environment", "from-the-environment"},
		"key={file." + write(t, "from-a-file\n") + "};": {"key=from-a-file;", "from-a-file"},
		"2023-06-01": {"2023-06-01", "2023-06-01"},
	} {
		got, err := secret.Expand(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got.Value() != want[0] || got.Secret() != want[1] || got.Literal() != (want[0] == want[1]) {
			t.Errorf("%q: %q, secret %q, literal %v", text, got.Value(), got.Secret(), got.Literal())
		}
	}
	for _, text := range []string{"{env.GATEHOUSE_TEST_SECRET}{env.GATEHOUSE_TEST_SECRET}", "a } b", ""} {
		if _, err := secret.Expand(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
