package realtime

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

// leave is the end of the client's side. Answers that are under way are cancelled, and for a moment
// the provider may say what they have used.
func (c *answers) leave() {
	c.mu.Lock()
	c.left = true
	cancel := make([][]byte, 0, len(c.running))
	for id := range c.running {
		cancel = append(cancel, cancelOf(id))
	}
	c.checkQuiet()
	c.mu.Unlock()
	for _, event := range cancel {
		_ = c.s.o.Upstream.Send(event) // else its usage is estimated
	}
	late := time.NewTimer(usageWait)
	defer late.Stop()
	select {
	case <-c.quiet:
	case <-c.s.served:
	case <-late.C:
	}
}

// hasLeft reports whether the client has.
func (c *answers) hasLeft() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// provided notes that the provider's side has ended.
func (c *answers) provided() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = !c.left
}

// checkQuiet closes quiet when nobody waits for the provider. The mutex is held.
func (c *answers) checkQuiet() {
	select {
	case <-c.quiet:
	default:
		if c.left && c.busy() == 0 && len(c.heard.waiting) == 0 && c.heard.commits == 0 {
			close(c.quiet)
		}
	}
}

// settle ends what is left when both sides have ended, and returns why the session has.
func (c *answers) settle() (ended string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late != nil {
		c.late.Stop()
	}
	failure := goneError()
	if c.broken {
		failure = brokenError(c.s.provider)
	}
	for _, a := range c.asked {
		a.finish(failure)
	}
	for _, a := range c.running {
		a.finish(failure)
	}
	for _, a := range c.heard.waiting {
		a.finish(failure)
	}
	for _, a := range []**answer{&c.held, &c.heard.held, &c.heard.wanted} {
		dropped(a)
	}
	c.asked = nil
	clear(c.running)
	clear(c.heard.waiting)
	if c.over != nil {
		return c.over.Reason
	}
	return socket.Gone.Reason
}

// end notes that the session ends, for the first reason. It returns that if the session ends now:
// at once, or because no answer is under way.
func (c *answers) end(e *socket.End, atOnce bool) *socket.End {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil || atOnce {
		c.over = e
	}
	if c.ended || !atOnce && c.busy() > 0 {
		if c.late == nil && !c.ended {
			c.late = time.AfterFunc(overtime, c.overdue)
		}
		return nil
	}
	c.ended = true
	return c.over
}

// overdue ends a session at once that has waited long enough for its answers.
func (c *answers) overdue() {
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	if now := c.end(over, true); now != nil {
		c.hangUp(*now)
	}
}

// ending returns an error if the session ends now.
func (c *answers) ending() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil || c.busy() > 0 {
		return nil
	}
	return c.over
}

// idle returns since when no answer is under way, or nothing of one has come; the zero time if one
// is made.
func (c *answers) idle() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy() > 0 && c.s.o.Uploads.Now().Sub(c.used) < IdleTime {
		return time.Time{}
	}
	return c.used
}

func brokenError(provider string) *apierror.Error {
	return apierror.New(apierror.UpstreamError, "the provider %q broke off the session", provider)
}

func goneError() *apierror.Error {
	return apierror.New(apierror.ClientGone, "the session ended before the answer did")
}
