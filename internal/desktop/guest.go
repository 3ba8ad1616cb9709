package desktop

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Guest is an address, or a session, of a second person at somebody's desktop. It stands beside its host's
// session whether that is shared or not, conflicts with none, and ends with it. The zero value is no
// guest.
type Guest struct {
	Host  string `json:"host"`            // the session that it is a guest of
	Label string `json:"label,omitempty"` // by whom it was invited, or for whom; for lists
}

// DefaultMaxGuests is how many guests a session without a rule may have.
const DefaultMaxGuests = 3

// RoleGuest is the role of a guest's session in lists and records.
const RoleGuest = "guest"

// Role is RoleGuest, RoleAgent, or "" for any other session.
func Role(by Issuer, g Guest) string {
	switch {
	case g.Host != "":
		return RoleGuest
	case by.Agent:
		return RoleAgent
	}
	return ""
}

// maxGuests is how many there may be.
func (r SessionRules) maxGuests() int {
	if r.MaxGuests == 0 {
		return DefaultMaxGuests
	}
	return max(r.MaxGuests, 0)
}

// hostOf returns the host of a guest at a workstation, nil where it has ended.
func hostOf(g Guest, w *Workstation, now time.Time) *SessionRecord {
	if x := w.session(g.Host); x != nil && x.open(now) && x.Token.Guest.Host == "" {
		return x
	}
	return nil
}

// mayInvite refuses an address for a guest that could not come: not_found where there is no such host,
// and workstation_guests_exceeded. Its rules are those of its host's session too.
func (t *Token) mayInvite(w *Workstation, now time.Time) error {
	if t.Guest.Host == "" {
		return nil
	}
	host := hostOf(t.Guest, w, now)
	if host == nil {
		return noSession(w.ID, t.Guest.Host)
	}
	invited := 0
	for _, other := range w.Tokens {
		if other.Guest.Host == host.ID {
			invited++
		}
	}
	if most := host.Rules.maxGuests(); invited >= most {
		return apierror.New(apierror.WorkstationGuestsExceeded, "session %q may have %d guests, and as many are invited", host.ID, most)
	}
	t.Rules = t.Rules.Within(host.Rules)
	t.endAt(host.Until)
	return nil
}

// admitGuest returns why a guest cannot join its host now, "" if it can or is none.
func admitGuest(g Guest, w *Workstation, now time.Time) RefusalCode {
	if g.Host == "" {
		return ""
	}
	host := hostOf(g, w, now)
	if host == nil {
		return RefusedHostLeft
	}
	guests := 0
	for _, x := range w.open(now) {
		if x.Token.Guest.Host == host.ID {
			guests++
		}
	}
	if guests >= host.Rules.maxGuests() {
		return RefusedGuests
	}
	return ""
}

// endGuests ends the guests of a session, and their addresses.
func endGuests(w *Workstation, host string, now time.Time) {
	for _, x := range w.open(now) {
		if x.Token.Guest.Host == host {
			w.end(x, ReasonHostLeft, "", now)
		}
	}
	w.retireAll(func(t *Token) RefusalCode {
		if t.Guest.Host == host {
			return RefusedHostLeft
		}
		return ""
	})
}
