package desktop

import (
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Preview returns a pass for a small picture of a workstation on a page that lists it, which the rules let a key
// look at. No address is issued for it. Its session is in no list, takes no place, replaces nobody and leaves
// neither record nor event; it ends where others do. The errors are those of Issue and MayPreview.
func Preview(w *Service, by Issuer, name string, client netip.Addr) (*Pass, error) {
	if err := MayPreview(w, by, name); err != nil {
		return nil, err
	}
	id, now := ID{by.Tenant, name}, w.state.now()
	at, err := w.Sources.ask(by, id, Options{Client: client}, time.Time{})
	if err != nil {
		return nil, err
	}
	t := &Token{Issuer: by, Machine: at.machine, Asked: at.asked, Issued: now, Until: now.Add(w.config.policy.MaxDuration)}
	t.endAt(by.Until)
	if t.Generation, err = w.state.mayIssue(w.config, by, id); err != nil {
		return nil, err
	}
	pass, err := w.pass(&Found{Token: t, Workstation: &Workstation{ID: id}}, client)
	if err != nil {
		return nil, err
	}
	if pass.unlisted = true; pass.Rules.Within(at.session()).NotShared {
		return nil, errAlone(name)
	}
	return pass, nil
}

// MayPreview refuses a preview where somebody must be alone, and while a person holds the input, unless the
// configuration lets agents look then.
func MayPreview(w *Service, by Issuer, name string) error {
	id, policy := ID{by.Tenant, name}, &w.config.policy
	if err := MayAutomate(w, by, name, AutomationView); err != nil {
		return err
	}
	_, err := w.Input.change(id, func(there *Workstation, now time.Time) error {
		held := holding(there, now)
		switch {
		case alone(there, now):
			return errAlone(name)
		case held != nil && !held.Token.Issuer.Agent && !policy.ScreenshotsDuringHold:
			return controlHeld(id, held, there.Hold.Since)
		}
		return nil
	})
	return err
}

// alone reports whether somebody is there who must be alone.
func alone(w *Workstation, now time.Time) bool {
	for _, x := range w.open(now) {
		if x.Rules.NotShared {
			return true
		}
	}
	return false
}

func errAlone(name string) error {
	return apierror.New(apierror.WorkstationOccupied, "a rule says that nobody else may be at workstation %q beside a session", clip(name))
}

// Unlisted reports whether the session of the pass is a preview.
func (p *Pass) Unlisted() bool { return p.unlisted }

// peek opens the session of a preview.
func (p *Pass) peek(x *Session) error {
	_, err := p.service.state.judge(p.service.config, p.Workstation, p.token, plain(x.record.Viewer.Addr()))
	return err
}
