package gemini

import (
	"net/url"
	"strings"
)

// PublicURL reports whether Google reads a file from a public address. It reads others by the provider's
// account: what was uploaded, and what is in a bucket. Nobody knows whose they are.
func PublicURL(text string) bool {
	u, err := url.Parse(strings.ToLower(text))
	return err == nil && u.Scheme == "https" && u.Host != "" && !strings.Contains(u.Host, "googleapis.com")
}
