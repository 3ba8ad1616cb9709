package desktop

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Workstation is what all gateways know together of one workstation. It is a value: a rule changes a
// copy, which a [Store] compares and stores. What its pointers lead to never changes.
type Workstation struct {
	ID         ID               `json:"-"`
	Generation int64            `json:"generation,omitempty"` // the number of its last release
	Shut       bool             `json:"shut,omitempty"`       // a release without a number: it holds until it is taken back
	Tokens     []*Token         `json:"tokens,omitempty"`     // some may have expired
	Sessions   []*SessionRecord `json:"sessions,omitempty"`
	Refreshed  time.Time        `json:"refreshed,omitzero"` // answers of its source that were asked for before do not count
	Hold       *Hold            `json:"hold,omitempty"`     // of its input; nil: no agent was there

	Version uint64      `json:"-"` // set by the store; 0: it is not stored
	Dead    []DeadToken `json:"-"` // tokens that a rule took out
}

// SessionRecord is a session as the store has it: from its beginning until its gateway has left it.
type SessionRecord struct {
	ID        string         `json:"id"`
	Token     *Token         `json:"token"` // as it was when the session began
	Node      string         `json:"node,omitempty"`
	Viewer    netip.AddrPort `json:"viewer"`
	Security  string         `json:"security"`
	Shared    bool           `json:"shared,omitempty"`
	Rules     SessionRules   `json:"rules,omitzero"` // of all levels
	Started   time.Time      `json:"started"`
	Until     time.Time      `json:"until"`
	Reconnect time.Duration  `json:"reconnect"`          // for which its token lives after it
	Ended     Reason         `json:"ended,omitempty"`    // why its gateway must end it
	EndedBy   string         `json:"ended_by,omitempty"` // the key that ended it, where that is known
	Lost      bool           `json:"-"`                  // its gateway is dead
	Up, Down  int64          `json:"-"`                  // bytes, as far as the store knows
}

// NodeName is the name of the session's gateway, which gets another ID when it starts again.
func (x *SessionRecord) NodeName() string {
	if i := strings.LastIndexByte(x.Node, '.'); i > 0 {
		return x.Node[:i]
	}
	return x.Node
}

// DeadToken is a token that opens nothing any more, and why.
type DeadToken struct {
	Hash   Hash
	Prefix string
	Why    RefusalCode
}

// Terms are the rules for a viewer.
type Terms struct {
	Client      netip.Addr // without a zone, IPv4 as such
	Rule        Conflict
	MaxSessions int // in all gateways
	Pin         bool
	Generation  int64 // of the workstation, as this gateway knows it
}

func (w *Workstation) clone() *Workstation {
	c := *w
	c.Tokens, c.Sessions, c.Dead = slices.Clone(w.Tokens), slices.Clone(w.Sessions), nil
	return &c
}

// Token returns the token of a hash, nil where there is none.
func (w *Workstation) Token(h Hash) *Token {
	for _, t := range w.Tokens {
		if t.Hash == h {
			return t
		}
	}
	return nil
}

// session returns nil where the workstation has no such session.
func (w *Workstation) session(id string) *SessionRecord {
	for _, x := range w.Sessions {
		if x.ID == id {
			return x
		}
	}
	return nil
}

// open reports whether others see the session.
func (x *SessionRecord) open(now time.Time) bool {
	return x.Ended == "" && !x.Lost && now.Before(x.Until)
}

// open returns the open sessions.
func (w *Workstation) open(now time.Time) (sessions []*SessionRecord) {
	for _, x := range w.Sessions {
		if x.open(now) {
			sessions = append(sessions, x)
		}
	}
	return sessions
}

// live is how many tokens are.
func (w *Workstation) live(now time.Time) (n int) {
	for _, t := range w.Tokens {
		if w.dead(t, now) == "" {
			n++
		}
	}
	return n
}

// dead returns why a token opens nothing, "" while it lives. The session of a dead gateway counts until
// it is taken out: its viewer comes back.
func (w *Workstation) dead(t *Token, now time.Time) RefusalCode {
	switch {
	case w.Shut || t.Generation < w.Generation:
		return RefusedReleased
	case !now.Before(t.Until):
		return RefusedExpired
	case now.Before(t.Deadline):
		return ""
	}
	for _, x := range w.Sessions {
		if x.Token.Hash == t.Hash && x.Ended == "" {
			return ""
		}
	}
	return RefusedExpired
}

// change replaces a token by a copy that f has changed.
func (w *Workstation) change(t *Token, f func(t *Token)) {
	changed := *t
	f(&changed)
	w.Tokens[slices.Index(w.Tokens, t)] = &changed
}

// retire takes a token out, if it is there.
func (w *Workstation) retire(t *Token, why RefusalCode) {
	if t == nil {
		return
	}
	w.Dead = append(w.Dead, DeadToken{t.Hash, t.Prefix, why})
	w.Tokens = slices.DeleteFunc(w.Tokens, func(other *Token) bool { return other == t })
}

// retireAll retires the tokens for which why returns a reason.
func (w *Workstation) retireAll(why func(t *Token) RefusalCode) {
	for _, t := range slices.Clone(w.Tokens) {
		if code := why(t); code != "" {
			w.retire(t, code)
		}
	}
}

// Sweep takes out what is over, and what a dead gateway had.
func (w *Workstation) Sweep(now time.Time) {
	for _, x := range slices.Clone(w.Sessions) {
		switch {
		case x.Lost, x.Ended != "" && !now.Before(x.Until):
			w.leave(x.ID, now)
		case x.Ended == "" && !now.Before(x.Until):
			w.end(x, ReasonMaxDuration, "", now)
		}
	}
	w.retireAll(func(t *Token) RefusalCode { return w.dead(t, now) })
}

// Swept returns a workstation without what is over.
func (w *Workstation) Swept(now time.Time) *Workstation {
	c := w.clone()
	c.Sweep(now)
	return c
}
