package gemini

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// PublicURL reports whether Google reads a file from a public address. It reads others by the provider's
// account: what was uploaded, and what is in a bucket. Nobody knows whose they are.
func PublicURL(text string) bool {
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return false
	}
	host, err := asciiHost(u.Host)
	return err == nil && !strings.Contains(host, "googleapis.com")
}

// asciiHost returns a host as it is looked up. Letters of other widths and the full stops of other scripts
// are those of ASCII there (UTS 46). What cannot be looked up is an error.
func asciiHost(host string) (string, error) {
	for i := range len(host) {
		if host[i] >= utf8.RuneSelf {
			return idna.Lookup.ToASCII((&url.URL{Host: host}).Hostname())
		}
	}
	return host, nil
}
