package realtime

import (
	"testing"

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
