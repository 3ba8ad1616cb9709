// Package redact removes secrets from text: from a provider's before a client or a log sees it
// ([Redactor.Text]), and from a caller's before a record keeps it ([Redactor.Name]).
//
// It removes every secret that the gateway knows, anywhere in the text, and then everything in the
// form of a well-known credential. The second step is for secrets that only the provider knows:
// providers like to echo the key they were sent, partly masked.
package redact

import (
	"regexp"
	"slices"
	"strings"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// MaxText bounds provider text shown to a client, in bytes.
const MaxText = 1024

// minSecret keeps a careless one-letter "secret" from blanking every text.
const minSecret = 6

// authorization is the scheme and the token of an Authorization header.
var authorization = regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/*-]{6,}=*`)

// Redactor knows a fixed set of secrets. The nil Redactor knows none and still recognises forms. It
// is safe for concurrent use.
type Redactor struct {
	known *strings.Replacer // nil without secrets
	long  *strings.Replacer // those of minInName bytes and more; nil without such
	short map[string]bool   // the others
	isKey func(string) bool
}

// New returns a Redactor that knows the secrets; short ones are left out. isKey reports whether a
// text is a key of which only the hash is known; nil means that none is.
func New(secrets []string, isKey func(string) bool) *Redactor {
	// Longest first: a secret may begin with another one.
	secrets = slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	r := &Redactor{isKey: isKey, short: map[string]bool{}}
	var known, long []string
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		known = append(known, s, Mark)
		if len(s) < minInName {
			r.short[s] = true
		} else {
			long = append(long, s, Mark)
		}
	}
	if len(known) > 0 {
		r.known = strings.NewReplacer(known...)
	}
	if len(long) > 0 {
		r.long = strings.NewReplacer(long...)
	}
	return r
}

// Text returns text without secrets, cut to [MaxText]. Secrets are removed before the cut, so that
// no half of one is left at the end.
func (r *Redactor) Text(text string) string {
	if r != nil && r.known != nil {
		text = r.known.Replace(text)
	}
	text = withoutKeyForms(authorization.ReplaceAllString(text, Mark))
	if len(text) > MaxText {
		text = strings.ToValidUTF8(text[:MaxText], "") + "…"
	}
	return text
}
