package provider

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/watchdog"
)

// Causes of a cancelled request, which context.Cause returns.
var (
	ErrSilent  = errors.New("nothing arrived in time")
	ErrTooLong = errors.New("the answer took too long")
)

// Asked names the server that a request goes to, for errors.
type Asked struct {
	Kind string // "provider", "the MCP server"
	Name string
	// Shown returns a text of the server's own as callers may see it. Required for Failure.
	Shown func(string) string
}

func (a Asked) String() string { return fmt.Sprintf("%s %q", a.Kind, a.Name) }

// Waits are how long a request may wait, or has waited, for each of these: what its error tells.
type Waits struct {
	Answered bool          // the header of the answer has come
	Begin    time.Duration // for that
	Idle     time.Duration // for the next piece of the answer
	Call     time.Duration // for its end
}

// Failure returns what the caller gets for a request that failed with err. Cause is why it was
// cancelled; nil if it was not.
func (a Asked) Failure(err, cause error, w Waits) *apierror.Error {
	var redirect *RedirectError
	switch {
	case errors.Is(cause, ErrSilent) && !w.Answered:
		return a.late("first_byte", err, "did not answer within %s", w.Begin)
	case errors.Is(cause, ErrSilent):
		return a.late("idle", err, "sent nothing for %s", w.Idle)
	case errors.Is(cause, ErrTooLong):
		return a.late("call", err, "did not end its answer within %s", w.Call)
	case errors.As(err, &redirect):
		return a.Broken(err, "answered with a redirect%s, which is not followed", redirect.to(a.Shown))
	case w.Answered:
		return a.Broken(err, "broke off its answer")
	case errors.Is(err, ErrNoCredential):
		e := apierror.New(apierror.UpstreamError, "the gateway has no credential for %s at present", a).WithCause(err)
		e.Provider = a.Name
		return e
	case errors.Is(err, ErrConnectTimeout):
		return a.late("connect", err, "could not be reached in time")
	}
	return a.Broken(err, "could not be reached")
}

// Broken is a failure that is not the caller's fault. What was done follows the name.
func (a Asked) Broken(cause error, done string, args ...any) *apierror.Error {
	e := apierror.New(apierror.UpstreamError, "%s "+done, append([]any{a}, args...)...).WithCause(cause)
	e.Provider = a.Name
	return e
}

// Unreadable is the failure of an answer that cannot be read.
func (a Asked) Unreadable(cause error) *apierror.Error {
	return a.Broken(cause, "gave an answer that makes no sense")
}

// late is the failure of a request for which something took longer than the named limit.
func (a Asked) late(limit string, cause error, done string, args ...any) *apierror.Error {
	e := a.Broken(cause, done, args...)
	e.Code, e.Limit = apierror.UpstreamTimeout, limit
	return e
}

const (
	lingerTime  = 5 * time.Millisecond
	lingerBytes = 4 << 10
)

// Linger reads an answer to its end after everything of interest was read. The end is usually in the
// same packet, and a connection whose answer was not read to its end cannot be used again. Watch is not
// in use, and w ends the request.
func Linger(answer io.Reader, watch *watchdog.Timer, w watchdog.Waiter) {
	watch.Start(lingerTime, w)
	_, _ = io.CopyN(io.Discard, answer, lingerBytes) // whether it was the end does not matter
	watch.Stop()
}
