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

// Turn waits until no other call acts: events of two would mix. Check returns the error that an event would
// have now; done is called at the end, with the actions that were done, and the characters that they typed,
// for the record.
func (x *Screen) Turn(ctx context.Context) (check func() error, done func(actions, typed int), err error) {
	select {
	case x.agent.turn <- struct{}{}:
	case <-x.Session().Ended():
		return nil, nil, x.conn.ended()
	case <-ctx.Done():
		return nil, nil, gone(ctx)
	}
	check = func() error {
		if x.Session().Why() != "" {
			return x.conn.ended()
		}
		return x.Session().Input.Act(func() error { return nil })
	}
	return check, func(actions, typed int) {
		x.conn.session.Actions.Add(int64(actions))
		x.conn.session.Typed.Add(int64(typed))
		<-x.agent.turn
	}, nil
}

// Last is the picture of the whole desktop that the agent was shown last, without the pixels; the zero
// value if there was none. Its Space is what coordinates refer to that name none.
func (x *Screen) Last() Shot {
	x.agent.mu.Lock()
	defer x.agent.mu.Unlock()
	return x.agent.shown
}

// show notes that the agent sees a picture.
func (a *agent) show(shot Shot) {
	if shot.Region.Size() != shot.Size {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	shot.PNG = nil
	a.shown = shot
}
