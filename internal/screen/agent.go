package screen

import "context"

// agent is what the calls of an agent share.
type agent struct {
	turn chan struct{} // held by the call that acts
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
