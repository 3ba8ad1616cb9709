// Package redact takes secrets out of text that comes from a provider before a
// client or a log sees it.
//
// Two nets, one behind the other: every secret the gateway knows, wherever it
// stands, and whatever has the shape of a well-known credential. The second is
// there for secrets that only the provider knows (providers like to echo the
// key they were offered, partly masked).
package redact

import (
	"regexp"
	"slices"
	"strings"
)

// Mark stands where a secret stood.
const Mark = "[redacted]"

// MaxText bounds provider text shown to a client, in bytes.
const MaxText = 1024

// minSecret keeps a careless one-letter "secret" from blanking every text.
const minSecret = 6

// shapes are the credentials that are recognised without being known: scheme
// and token of an Authorization header, and vendor prefixes of API keys.
var shapes = regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/*-]{6,}=*|` +
	`\b(?:sk|pk|rk|gh|gsk|xai|hf|ghp|gho|glpat|AKIA|AIza)[-_A-Za-z0-9*]{12,}`)

// Redactor knows a fixed set of secrets. The nil Redactor knows none and
// still recognises shapes. Safe for concurrent use.
type Redactor struct {
	known *strings.Replacer
}

// New returns a Redactor that knows the secrets; short ones are left out.
func New(secrets []string) *Redactor {
	// Longest first: a secret may begin with another one.
	secrets = slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		if len(s) >= minSecret {
			pairs = append(pairs, s, Mark)
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	return &Redactor{known: strings.NewReplacer(pairs...)}
}

// Text returns text without secrets and cut to [MaxText]. Secrets are taken
// out before the cut, so that no half of one is left at its edge.
func (r *Redactor) Text(text string) string {
	if r != nil {
		text = r.known.Replace(text)
	}
	text = shapes.ReplaceAllString(text, Mark)
	if len(text) > MaxText {
		text = strings.ToValidUTF8(text[:MaxText], "") + "…"
	}
	return text
}
