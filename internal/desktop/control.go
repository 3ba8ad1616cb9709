package desktop

import (
	"errors"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Inputs tell who holds the input of workstations, and change it for people and agents that ask.
type Inputs struct {
	inventory *Inventory
	emit      emitter
}

// Control is who holds the input of a workstation, as it may be shown.
type Control struct {
	Holder   string        `json:"holder"` // HolderHuman, HolderAgent or HolderNone
	Key      string        `json:"key,omitempty"`
	User     string        `json:"user,omitempty"`
	Session  string        `json:"session_id,omitempty"`
	Since    time.Time     `json:"since,omitzero"`
	Until    time.Time     `json:"until,omitzero"` // the end of a person's hold without more input
	Requests []HelpRequest `json:"requests"`       // of agents that wait for a person, oldest first
}

func controlOf(w *Workstation, now time.Time) Control {
	c := Control{Holder: HolderNone, Requests: []HelpRequest{}}
	if by := holding(w, now); by != nil {
		h := w.Hold
		c = Control{by.holder(), by.Token.Issuer.Key, by.Token.Issuer.User, by.ID, wireTime(h.Since), wireTime(h.Until), c.Requests}
	}
	for _, r := range requests(w, now) {
		r.At = wireTime(r.At)
		c.Requests = append(c.Requests, r)
	}
	return c
}

// Of returns who holds the input of a workstation. Its errors are not_found and
// storage_unavailable.
func (p *Inputs) Of(tenant, name string) (Control, error) {
	return p.change(ID{tenant, name}, func(*Workstation, time.Time) error { return nil })
}

// Take gives the input to a session of a person: the newest of the key that may type, or the one
// that is named. Agents are refused from then on. It fails with not_found where there is no such
// session.
func (p *Inputs) Take(by Issuer, name, session string) (Control, error) {
	id, taken := ID{by.Tenant, name}, ""
	c, err := p.change(id, func(w *Workstation, now time.Time) error {
		taken = ""
		x := typist(w, by.Key, session, now)
		if x == nil {
			return apierror.New(apierror.NotFound, "key %q has no open session at workstation %q that may type: connect first", by.Key, clip(name))
		}
		if takeInput(w, x.ID, now.Add(p.inventory.config.policy.ReturnAfter), now) {
			taken = x.ID
		}
		return nil
	})
	if err == nil && taken != "" {
		p.emit.control(id, HolderHuman, taken)
	}
	return c, err
}

// Return gives back the input that the key holds, or any where it manages workstations. Where
// nobody holds it nothing changes. It fails with control_held where somebody else does.
func (p *Inputs) Return(by Issuer, name string, manages bool) (Control, error) {
	id, had := ID{by.Tenant, name}, ""
	c, err := p.change(id, func(w *Workstation, now time.Time) error {
		had = ""
		x := holding(w, now)
		switch {
		case x == nil:
			return nil
		case x.Token.Issuer.Key != by.Key && !manages:
			return controlHeld(id, x, w.Hold.Since)
		}
		releaseInput(w, x.ID, now)
		had = x.ID
		return nil
	})
	if err == nil && had != "" {
		p.emit.control(id, HolderNone, had)
	}
	return c, err
}

// RequestHelp asks for a person: the console shows the note at the workstation until somebody who
// took the input gives it back, for a day at most. A later request of a key replaces its earlier
// one. The note is plain text of at most [MaxNote] bytes. At a workstation of a source somebody
// must be.
func (p *Inputs) RequestHelp(by Issuer, name, note string) (Control, error) {
	if err := checkNote(note); err != nil {
		return Control{}, err
	}
	id := ID{by.Tenant, name}
	asked := sourcesOf(p.inventory).of(id) != nil
	c, err := p.change(id, func(w *Workstation, now time.Time) error {
		if asked && len(w.open(now)) == 0 { // nobody has asked the source whether there is such a workstation
			return apierror.New(apierror.NotFound, "workstation %q has no open session: look at it first", clip(name))
		}
		requestHelp(w, HelpRequest{by.Key, by.User, note, now})
		return nil
	})
	if err == nil {
		p.emit(EventHelp, func() map[string]any {
			return map[string]any{"tenant": id.Tenant, "workstation": id.Name, "key": by.Key, "note": note}
		})
	}
	return c, err
}

// change changes a workstation by a rule, and returns who holds its input then.
func (p *Inputs) change(id ID, rule func(w *Workstation, now time.Time) error) (c Control, err error) {
	if err := p.inventory.check(id); err != nil {
		return c, err
	}
	s := p.inventory.state.sessions
	ctx, cancel := message()
	defer cancel()
	err = s.swap(ctx, id, func(change *Change) error {
		err := rule(change.After, s.now())
		c = controlOf(change.After, s.now())
		return err
	})
	var refused *apierror.Error
	if err != nil && !errors.As(err, &refused) {
		return c, errNoStore(err)
	}
	return c, err
}

// typist returns the newest open session of a person with a key that may type, of a name if that is
// not "".
func typist(w *Workstation, key, session string, now time.Time) (newest *SessionRecord) {
	for _, x := range w.open(now) {
		if x.Token.Issuer.Key == key && !x.Token.Issuer.Agent && !x.Rules.ViewOnly && (session == "" || x.ID == session) {
			newest = x
		}
	}
	return newest
}
