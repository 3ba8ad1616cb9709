package rfb

import (
	"fmt"
	"strings"
)

// result reads the SecurityResult.
func (c *client) result(used Security) error {
	const step = "reading the security result"
	c.within(c.step)
	result, err := c.readUint32(step)
	switch {
	case err != nil:
		return err
	case result == resultOK:
		return nil
	case result != resultFailed && result != resultTooMany:
		return fail(KindGarbage, step, "%d is none", result)
	}
	refusal := &RefusedError{}
	if c.version == Version38 {
		// One that ends before its reason is a refusal nevertheless.
		reason, err := c.readText(step, MaxReason)
		if err != nil && KindOf(err) != KindGone {
			return err
		}
		refusal.Reason = printable(reason)
	}
	kind := refusal.kind()
	if result == resultTooMany {
		kind = KindBlacklisted
	}
	if kind == KindRefused && used != SecurityNone && used != SecurityX509None {
		return &Error{Kind: KindWrongPassword, Step: "logging in", Err: fmt.Errorf("%w (%w)", ErrWrongPassword, refusal)}
	}
	return &Error{Kind: kind, Step: "logging in", Err: refusal}
}

// refused reads the reason that a server sends in place of a security type.
func (c *client) refused() error {
	const step = "reading a refusal"
	reason, err := c.readText(step, MaxReason)
	if err != nil {
		return err
	}
	refusal := &RefusedError{Reason: printable(reason)}
	return &Error{Kind: refusal.kind(), Step: "reading the security types", Err: refusal}
}

// kind tells from its words whether a server refuses this address for a while.
func (e *RefusedError) kind() Kind {
	reason := strings.ToLower(e.Reason)
	for _, words := range []string{"too many security failures", "too many authentication failures"} {
		if strings.Contains(reason, words) {
			return KindBlacklisted
		}
	}
	return KindRefused
}
