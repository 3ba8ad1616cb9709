package realtime

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

// An end that waits for an answer is carried out once, when the answer has ended or at once.
func TestAnEndThatWaitedIsCarriedOut(t *testing.T) {
	c := answers{running: map[string]*answer{"r": {}}}
	if now := c.end(&socket.HourLong, false); now != nil {
		t.Errorf("%v while an answer is under way", now)
	}
	delete(c.running, "r")
	if now := c.end(&socket.Old, false); now != &socket.HourLong {
		t.Errorf("%v, want the first reason", now)
	}
	if now := c.end(&socket.Old, false); now != nil {
		t.Errorf("%v, twice", now)
	}
}

// An answer that does not end keeps no session for longer than overtime.
func TestAnAnswerWithoutAnEndDoesNotKeepASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Pointer[socket.End]
		c := answers{running: map[string]*answer{"r": {}}, hangUp: func(e socket.End) { ended.Store(&e) }}
		c.end(&socket.Replaced, false)
		c.end(&socket.HourLong, false)
		time.Sleep(overtime - 1)
		synctest.Wait()
		if e := ended.Load(); e != nil {
			t.Errorf("too early: %v", e)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if e := ended.Load(); e == nil || *e != socket.Replaced {
			t.Errorf("ended by %v", e)
		}
	})
}
