package desktop

import "time"

// Watch calls refused, in a goroutine of its own, once the pass would not be let in any more: its workstation
// was released or is reached otherwise, or its key was withdrawn. Nobody need wait for the workstation then.
// Stop takes it back; where refused has begun it waits for it. The error is a [*Refusal], or internal where
// randomness fails.
func (p *Pass) Watch(refused func(why *Refusal)) (stop func(), err error) {
	id, err := newSessionID(p.service.random)
	if err != nil {
		return nil, err
	}
	state := p.service.state
	x := &Session{ID: id, Workstation: p.Workstation, sessions: state.sessions, kind: waiting, ended: make(chan struct{})}
	x.record = SessionRecord{ID: id, Token: p.token, Rules: p.Rules}
	x.Input = &Input{session: id, at: p.Workstation, sessions: state.sessions}
	unwatch := x.OnEnd(func() { refused(NewRefusal(endedMeanwhile(x.Why()))) })
	state.sessions.add(x)
	stop = func() {
		unwatch()
		state.sessions.remove(x)
	}
	if _, err := state.judge(p.service.config, p.Workstation, p.token, p.token.Client); err != nil { // since it was found
		stop()
		return nil, err
	}
	return stop, nil
}

// settleWait ends the wait for a workstation with a token that opens nothing any more.
func (x *Session) settleWait(w *Workstation, now time.Time) {
	if x.kind != waiting {
		return
	}
	t, why := x.token(), RefusalCode("")
	if w.Token(t.Hash) != nil {
		why = w.dead(t, now)
	}
	for _, dead := range w.Dead {
		if dead.Hash == t.Hash {
			why = dead.Why
		}
	}
	switch why {
	case "":
	case RefusedReleased:
		x.end(ReasonReleased, "", now)
	default:
		x.end(ReasonRemoved, "", now)
	}
}
