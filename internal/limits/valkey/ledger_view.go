package valkey

import (
	"sync"
	"time"
)

const (
	// viewFresh is how long a balance that the engine has told is believed.
	viewFresh = time.Second
	// maxView bounds the accounts that are remembered. They take about 40 MiB.
	maxView = 1 << 17
)

// seen is the balance of an account as the engine told it last.
type seen struct {
	begins          int64 // of the period, Unix seconds
	spent, reserved int64
	at              time.Time // when it was told, by the clock of this node
	pending         int64     // settlements of this node that the engine has not answered, in that period
}

// view is what this node knows of balances without asking. It may be late: only Exhausted uses it.
type view struct {
	fresh time.Duration

	mu  sync.Mutex // guards the following
	all map[string]*seen
}

func newView() *view { return &view{fresh: viewFresh, all: make(map[string]*seen)} }

// account must be called with mu held.
func (v *view) account(name string) *seen {
	s := v.all[name]
	if s == nil {
		if len(v.all) >= maxView {
			clear(v.all)
		}
		s = &seen{}
		v.all[name] = s
	}
	return s
}

// told notes what the engine has told.
func (v *view) told(name string, begins, spent, reserved int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.account(name)
	if begins > s.begins {
		s.pending = 0
	}
	s.begins, s.spent, s.reserved, s.at = begins, spent, reserved, time.Now()
}

// pend adds what a settlement will charge, or takes it away when that is answered.
func (v *view) pend(c *call, sign int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range c.lines {
		l := &c.lines[i]
		s, begins := v.all[l.account], seconds(l.begins)
		if s == nil || s.begins > begins {
			continue
		}
		if s.begins < begins {
			*s = seen{begins: begins, at: s.at}
		}
		s.pending = max(s.pending+sign*c.used.Of(l.budget.Unit), 0)
	}
}

// find returns what is known of an account in the period with that beginning, or a later one. Recent is
// false if nothing was told of it for a while.
func (v *view) find(name string, begins int64) (s seen, recent bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := v.all[name]
	if known == nil {
		return seen{begins: begins}, false
	}
	recent = time.Since(known.at) < v.fresh
	if known.begins < begins {
		return seen{begins: begins}, recent
	}
	return *known, recent
}
