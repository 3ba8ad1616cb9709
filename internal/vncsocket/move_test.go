package vncsocket

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// A page that should connect to another gateway loses its desktop when nobody has typed for a while, at
// the latest after a minute.
func TestASessionMovesWhenNobodyTypes(t *testing.T) {
	for name, c := range map[string]struct {
		typed []time.Duration // after the last one
		moved time.Duration
	}{
		"nobody types":     {nil, 5 * time.Second},
		"typed in between": {[]time.Duration{3 * time.Second, 4 * time.Second}, 12 * time.Second},
		"typed all the time": {[]time.Duration{4 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second,
			4 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, options{}, nil)
				var move context.CancelCauseFunc
				f.Context, move = context.WithCancelCause(context.Background())
				b := f.desktop()
				time.Sleep(time.Second)
				b.play(conversation{"C " + pointer, "S " + pointer})
				begun := time.Now()
				move(vncsession.ErrMove)
				for _, wait := range c.typed {
					time.Sleep(wait)
					b.play(conversation{"C " + pointer, "S " + pointer})
				}
				b.wantClose(1001, "The gateway is stopping.")
				if took := time.Since(begun); took != c.moved {
					t.Errorf("it moved after %v, want %v", took, c.moved)
				}
				<-f.Left
				f.WantRecord("", "shutdown")
			})
		})
	}
}

// The end of model calls, or a session that ends by itself, has nothing to do with it.
func TestASessionStaysWhereItNeedNotMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, nil)
		var move context.CancelCauseFunc
		f.Context, move = context.WithCancelCause(context.Background())
		b := f.desktop()
		move(context.Canceled)
		time.Sleep(10 * time.Second)
		b.play(conversation{"C " + pointer, "S " + pointer})
		b.leave()
		<-f.Left
		f.WantRecord("", "viewer_left")
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, nil)
		var move context.CancelCauseFunc
		f.Context, move = context.WithCancelCause(context.Background())
		b := f.desktop()
		time.Sleep(time.Second)
		b.play(conversation{"C " + pointer, "S " + pointer})
		move(vncsession.ErrMove)
		b.send(websocket.MessageBinary, "\x4d")
		b.wantClose(1002, "A message was sent that the protocol does not allow.")
		<-f.Left // and no goroutine is left
		f.WantRecord("message", "protocol_error")
	})
}
