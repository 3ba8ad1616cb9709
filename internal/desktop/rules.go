package desktop

import (
	"errors"
	"net/netip"
	"slices"
	"time"
)

// Errors of the rules, besides refusals.
var (
	errTaken = errors.New("a token like it lives")
	errStale = errors.New("the workstation was released since this gateway last read the records")
	errGone  = errors.New("the token is dead")
	errMoved = errors.New("the source has named another machine since it was asked")
)

// issue makes a token live.
func (w *Workstation) issue(t *Token, most int, now time.Time) error {
	switch {
	case w.Token(t.Hash) != nil:
		return errTaken
	case t.Generation < w.Generation:
		return errStale
	}
	w.raise(t.Generation, "", now)
	if w.Shut {
		return errReleased(w.ID)
	}
	if !t.Asked.IsZero() {
		if err := occupy(w, t.Machine, t.Asked, now); err != nil {
			return err
		}
	}
	w.Sweep(now)
	if err := t.mayInvite(w, now); err != nil {
		return err
	}
	if len(w.Tokens) >= most {
		return tokensExceeded(w.ID, len(w.Tokens))
	}
	w.Tokens = append(w.Tokens, t)
	return nil
}

// join opens a session, and ends those that it replaces. It is the first use of its token. most is how
// many sessions there may be in all before it.
func (w *Workstation) join(x *SessionRecord, terms *Terms, now time.Time) (most int, err error) {
	w.raise(terms.Generation, "", now)
	t := w.Token(x.Token.Hash)
	if t == nil {
		return 0, errGone
	}
	if code := w.dead(t, now); code != "" {
		return 0, refuse(code)
	}
	until := t.until(x.Rules.MaxDuration)
	if !now.Before(until) { // by rules that are stricter now: it must not replace anybody
		return 0, refuse(RefusedExpired)
	}
	if terms.Pin && t.pinned(terms.Client) {
		return 0, refuse(RefusedPinned)
	}
	if code := admitGuest(t.Guest, w, now); code != "" {
		return 0, refuse(code)
	}
	x.Token = t
	conflicting, refused := w.conflicts(x, terms.Rule, t.Claim, terms.Client, now)
	if refused {
		return 0, refuse(RefusedBusy)
	}
	for _, other := range conflicting {
		w.end(other, ReasonReplaced, x.Token.Issuer.Key, now)
	}
	if t = w.Token(t.Hash); !t.Client.IsValid() && terms.Client.IsValid() {
		w.change(t, func(t *Token) { t.Client = terms.Client })
		t = w.Token(t.Hash)
	}
	x.Started, x.Until, x.Token = now, until, t
	w.Sessions = append(w.Sessions, x)
	if t.Issuer.Agent {
		changeHold(w, now, func(*Hold) {}) // the others hear that it is there
	}
	w.Sweep(now)
	if t.Once {
		w.retire(w.Token(t.Hash), RefusedUsed)
	}
	return terms.MaxSessions + len(conflicting), nil
}

// conflicts returns the sessions that a new one would replace, and whether it is refused instead. See
// [Claim] for which it may replace. Even where new sessions are refused, a token's holder may replace
// its own session: its viewer came back before the lost connection was noticed. The address must be
// known and the same, as others can read a token on the way.
func (w *Workstation) conflicts(
	x *SessionRecord, rule Conflict, claim Claim, client netip.Addr, now time.Time,
) (conflicting []*SessionRecord, refused bool) {
	for _, other := range w.open(now) {
		if x.Token.Guest.Host != "" || other.Token.Guest.Host != "" { // it stands beside its host
			continue
		}
		alone := x.Rules.NotShared || other.Rules.NotShared
		beside, first := x.Token.Issuer.beside(other.Token.Issuer, alone)
		if beside {
			continue
		}
		conflict, wins := claim.over(rule, x.Shared && other.Shared, alone, other.Token.Issuer.Key == x.Token.Issuer.Key)
		wins = wins || first
		back := client.IsValid() && other.Token.Hash == x.Token.Hash && plain(other.Viewer.Addr()) == client
		if conflict && !wins && !back {
			return nil, true
		}
		if conflict {
			conflicting = append(conflicting, other)
		}
	}
	return conflicting, false
}

// end ends a session by a key, "" for an unknown one. Its token can be used again for a while.
func (w *Workstation) end(x *SessionRecord, why Reason, by string, now time.Time) {
	at := slices.Index(w.Sessions, x)
	if at < 0 { // a guest, which has ended with its host
		return
	}
	ended := *x
	ended.Ended, ended.EndedBy = why, by
	w.Sessions[at] = &ended
	w.linger(x, now)
	endGuests(w, x.ID, now)
}

// leave takes out a session that is over.
func (w *Workstation) leave(id string, now time.Time) {
	x := w.session(id)
	if x == nil {
		return
	}
	w.Sessions = slices.DeleteFunc(w.Sessions, func(other *SessionRecord) bool { return other == x })
	leaveHold(w, x, now)
	if x.Ended == "" {
		w.linger(x, now)
		endGuests(w, id, now)
	}
}

// linger has the token of a session that ends live for a while.
func (w *Workstation) linger(x *SessionRecord, now time.Time) {
	if t := w.Token(x.Token.Hash); t != nil {
		w.change(t, func(t *Token) { t.Deadline = now.Add(x.Reconnect) })
	}
}

// endByHand ends a session for a key, and revokes its token. It reports whether there is such a session.
func (w *Workstation) endByHand(id, by string, now time.Time) bool {
	x := w.session(id)
	if x == nil || !x.open(now) {
		return false
	}
	w.end(x, ReasonEnded, by, now)
	w.retire(w.Token(x.Token.Hash), RefusedRevoked)
	return true
}

// release ends everything, by a key: sessions and tokens of a generation before this one. Generation 0
// is a release without a number. No token is issued until reopen, or a release with a number. A release
// that comes twice, or late, changes nothing. It returns the sessions that end.
func (w *Workstation) release(generation int64, by string, now time.Time) (ended []*SessionRecord) {
	if generation > 0 {
		return w.raise(generation, by, now)
	}
	w.Shut = true
	return w.endBefore(w.Generation+1, by, now)
}

// raise notes a later release that a gateway knows of.
func (w *Workstation) raise(generation int64, by string, now time.Time) (ended []*SessionRecord) {
	if generation <= w.Generation {
		return nil
	}
	w.Generation, w.Shut = generation, false
	return w.endBefore(generation, by, now)
}

// endBefore ends the tokens and sessions of generations before one.
func (w *Workstation) endBefore(generation int64, by string, now time.Time) (ended []*SessionRecord) {
	return endOf(w, func(t *Token) bool { return t.Generation < generation }, by, now)
}

// revoke ends at a time what a key has asked for.
func (w *Workstation) revoke(key string, end, now time.Time) {
	over := !now.Before(end)
	for _, x := range w.open(now) {
		switch {
		case x.Token.Issuer.Key != key:
		case over:
			w.end(x, ReasonRemoved, "", now)
		case end.Before(x.Until):
			sooner := *x
			sooner.Until = end
			w.Sessions[slices.Index(w.Sessions, x)] = &sooner
		}
	}
	for _, t := range slices.Clone(w.Tokens) {
		switch {
		case t.Issuer.Key != key:
		case over:
			w.retire(t, RefusedRevoked)
		case end.Before(t.Until):
			w.change(t, func(t *Token) { t.endAt(end) })
		}
	}
}

// restate says again what a gateway knows of a token, which is known as such to the store, and of its
// session unless x is nil. The token is written if the store has lost it. why is the reason for which
// the session must end.
func (w *Workstation) restate(t *Token, x *SessionRecord, known RefusalCode, rule Conflict, now time.Time) (why Reason) {
	there := w.Token(t.Hash)
	lost := there == nil && known == RefusedUnknown && t.Generation >= w.Generation && now.Before(t.Until)
	switch {
	case lost:
		w.Tokens = append(w.Tokens, t)
	case there != nil && !there.Client.IsValid() && t.Client.IsValid():
		w.change(there, func(there *Token) { there.Client = t.Client })
	}
	if x == nil {
		return ""
	}
	if t.Once && w.Token(t.Hash) != nil {
		w.retire(w.Token(t.Hash), RefusedUsed)
	}
	return w.reopenSession(t, x, known, rule, now)
}

func (w *Workstation) reopenSession(t *Token, x *SessionRecord, known RefusalCode, rule Conflict, now time.Time) (why Reason) {
	there := w.session(x.ID)
	switch {
	case there != nil && there.Ended != "":
		return there.Ended
	case known == RefusedRevoked:
		return ReasonRemoved
	case known == RefusedReleased || w.Shut || x.Token.Generation < w.Generation:
		return ReasonReleased
	case !now.Before(x.Until):
		return ReasonMaxDuration
	case t.Guest.Host != "" && hostOf(t.Guest, w, now) == nil: // nobody knows whether it is open
		return ReasonHostLeft
	case there != nil:
		w.Sessions[slices.Index(w.Sessions, there)] = x // its gateway has another ID now
		return ""
	}
	if rule != Share {
		rule = Replace
	}
	if conflicting, refused := w.conflicts(x, rule, ByRule, netip.Addr{}, now); refused || len(conflicting) > 0 {
		return ReasonReplaced
	}
	w.Sessions = append(w.Sessions, x)
	return ""
}
