// Package redact removes secrets from text.
//
// What callers see, [Text] and [Own], lacks only secrets that the caller or the provider has itself,
// and everything in the form of a well-known credential. If it lacked other secrets that the gateway
// knows, callers could test their guesses of them. Those are removed for the log alone, by a
// [Redactor].
//
// The form counts because of secrets that only the provider knows: providers like to echo the key
// they were sent, partly masked.
package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// MaxText bounds provider text shown to a client, in bytes.
const MaxText = 1024

// minSecret keeps a careless one-letter "secret" from blanking every text.
const minSecret = 6

// authorization is the scheme and the token of an Authorization header.
var authorization = regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/*-]{6,}=*`)

// Redactor knows a set of secrets. The nil Redactor knows none and still recognises forms. It is safe
// for concurrent use.
type Redactor struct {
	isKey func(string) bool
	known atomic.Pointer[known]

	mu      sync.Mutex // guards the following
	secrets []string
}

// known is a set of secrets, prepared for the search.
type known struct {
	all   *strings.Replacer // nil without secrets
	long  *strings.Replacer // those of minInName bytes and more; nil without such
	short map[string]bool   // the others
}

// New returns a Redactor that knows the secrets; short ones are left out. isKey reports whether a
// text is a key of which only the hash is known; nil means that none is.
func New(secrets []string, isKey func(string) bool) *Redactor {
	r := &Redactor{isKey: isKey, secrets: slices.Clone(secrets)}
	r.known.Store(prepare(r.secrets))
	return r
}

// Replace adds a secret, and forgets one that was added before and is gone; "" is none.
func (r *Redactor) Replace(gone, secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := slices.Index(r.secrets, gone); at >= 0 {
		r.secrets = slices.Delete(r.secrets, at, at+1)
	}
	r.secrets = append(r.secrets, secret)
	r.known.Store(prepare(r.secrets))
}

func prepare(secrets []string) *known {
	// Longest first: a secret may begin with another one.
	secrets = slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	k := &known{short: map[string]bool{}}
	var all, long []string
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		all = append(all, s, Mark)
		if len(s) < minInName {
			k.short[s] = true
		} else {
			long = append(long, s, Mark)
		}
	}
	if len(all) > 0 {
		k.all = strings.NewReplacer(all...)
	}
	if len(long) > 0 {
		k.long = strings.NewReplacer(long...)
	}
	return k
}

// Text returns a provider's text without all known secrets, for the log. It is cut as by the
// function Text.
func (r *Redactor) Text(text string) string {
	if r != nil {
		if k := r.known.Load(); k.all != nil {
			text = k.all.Replace(text)
		}
	}
	return Text(text)
}

// Text returns a provider's text without these secrets, as its caller may see it, cut to [MaxText].
// Secrets are removed before the cut, so that no half of one is left at the end.
func Text(text string, secrets ...string) string {
	text = withoutKeyForms(authorization.ReplaceAllString(without(text, secrets), Mark))
	if len(text) > MaxText {
		text = strings.ToValidUTF8(text[:MaxText], "") + "…"
	}
	return text
}

// Bytes returns a text of JSON without these secrets, however they are spelled. It is text itself if that has
// none.
func Bytes(text []byte, secrets ...string) []byte {
	for _, secret := range secrets {
		if len(secret) >= minSecret && bytes.Contains(text, []byte(secret)) {
			text = bytes.ReplaceAll(text, []byte(secret), []byte(Mark))
		}
		text = withoutSpellings(text, secret)
	}
	return text
}

func without(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			text = string(withoutSpellings([]byte(strings.ReplaceAll(text, secret, Mark)), secret))
		}
	}
	return text
}
