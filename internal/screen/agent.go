package screen

import (
	"context"
	"sync"
)

// agent is what the calls of an agent share.
type agent struct {
	turn chan struct{} // held by the call that acts

	mu    sync.Mutex // guards the following
	shown Shot       // without its pixels
}

// Turn waits until no other call acts: events of two would mix. The caller calls done at the end.
func (x *Screen) Turn(ctx context.Context) (done func(), err error) {
	select {
	case x.agent.turn <- struct{}{}:
		return func() { <-x.agent.turn }, nil
	case <-x.Ended():
		return nil, x.link.ended()
	case <-ctx.Done():
		return nil, gone(ctx)
	}
}

// Ended is closed at the end of the session.
func (x *Screen) Ended() <-chan struct{} { return x.Session().Ended() }

// Last is the picture of the whole desktop that the agent was shown last, without the pixels; the zero
// value if there was none. Its Space is what coordinates refer to that name none.
func (x *Screen) Last() Shot {
	x.agent.mu.Lock()
	defer x.agent.mu.Unlock()
	return x.agent.shown
}

// show notes that the agent sees a picture.
func (x *Screen) show(shot Shot) {
	if shot.Region.Size() != shot.Size {
		return
	}
	x.agent.mu.Lock()
	defer x.agent.mu.Unlock()
	shot.PNG = nil
	x.agent.shown = shot
}

// Buttons are those that are down, as Pointer has them.
func (x *Screen) Buttons() uint8 {
	x.hand.mu.Lock()
	defer x.hand.mu.Unlock()
	return x.hand.buttons
}
