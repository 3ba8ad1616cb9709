package wsconn

import (
	"context"
	"time"
)

// check is run by the timer. It sends a ping where a direction is silent, and closes the connection
// of a browser that does not answer it.
func (c *Conn) check() {
	silence, writing := c.silence()
	wait := PingAfter - silence
	if wait <= 0 {
		if !writing && !c.ping() { // of a write the deadline decides
			c.socket.abort()
			return
		}
		wait = PingAfter
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.timer.Reset(wait)
	}
}

// silence is how long nothing has come from the browser, or nothing was sent to it, whichever is
// longer. While nobody reads, nothing can be said of the browser.
//
// The deadline of writes is taken off the socket while there is no Write: pings and what answers the
// browser's own frames must not fail by it, as an error within a frame is final.
func (c *Conn) silence() (silence time.Duration, writing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.socket.now()
	quietest := now
	if !c.writing {
		quietest = c.said
		if c.armed && !c.over {
			c.armed = false
			_ = c.socket.SetWriteDeadline(time.Time{}) // a dead connection fails the ping
		}
	}
	if waiting := c.socket.waiting.Load(); waiting != notWaiting {
		quietest = min(quietest, waiting)
	}
	return time.Duration(now - quietest), c.writing
}

// ping reports whether the browser is there, as far as can be known: it has sent something, or nobody
// was reading all the time.
func (c *Conn) ping() bool {
	begun := c.socket.now()
	ctx, cancel := context.WithTimeout(context.Background(), PongWithin)
	defer cancel()
	if c.ws.Ping(ctx) == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.said = max(c.said, begun)
		return true
	}
	waiting := c.socket.waiting.Load()
	return waiting == notWaiting || waiting > begun
}
