package provider

import (
	"fmt"
	"net/url"
)

// RedirectError is a 3xx answer. It wraps [ErrRedirect].
type RedirectError struct {
	Status int
	Target string // where it leads, as the provider wrote it; "" if that is not known
}

func (e *RedirectError) Error() string {
	return fmt.Sprintf("status %d%s: %v", e.Status, e.to(func(text string) string { return text }), ErrRedirect)
}

func (e *RedirectError) Unwrap() error { return ErrRedirect }

// to is the target within a sentence.
func (e *RedirectError) to(shown func(string) string) string {
	if e.Target == "" {
		return ""
	}
	return fmt.Sprintf(" to %q", shown(e.Target))
}

// maxTarget bounds the target of a redirect that an error names, in bytes.
const maxTarget = 200

// redirectTarget returns the address of a field Location without what can be secret in it: the user, the
// query and the fragment.
func redirectTarget(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return ""
	}
	target := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	return target[:min(len(target), maxTarget)]
}
