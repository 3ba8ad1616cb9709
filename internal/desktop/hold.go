package desktop

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Hold is who holds the input of a workstation, and who has asked a person for help there. There is
// none before an agent was there. It never changes: a rule replaces it.
type Hold struct {
	Number         int64         `json:"number"`            // one more after each change: a lower one is older, or another build has lost it
	Session        string        `json:"session,omitempty"` // that holds the input; "": nobody does
	Since          time.Time     `json:"since,omitzero"`
	Until          time.Time     `json:"until,omitzero"`    // the end of a person's hold without more input
	Unacknowledged []string      `json:"unheard,omitempty"` // agents' sessions of other gateways that may not know of a person's hold yet
	Requests       []HelpRequest `json:"requests,omitempty"`
}

// HelpRequest is a question of an agent for a person.
type HelpRequest struct {
	Key  string    `json:"key"`
	User string    `json:"user,omitempty"`
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at"`
}

const (
	// DefaultReturnAfter is how long a person who does nothing holds the input.
	DefaultReturnAfter = 10 * time.Minute
	// MaxNote bounds what an agent says to the person, in bytes: a line or two on a page.
	MaxNote = 500
	// maxRequests bounds the keys that wait for a person at one workstation. The oldest goes first.
	maxRequests = 8
	// requestLife is how long a request waits for a person.
	requestLife = 24 * time.Hour
)

// Holders of the input of a workstation.
const (
	HolderHuman = "human"
	HolderAgent = "agent"
	HolderNone  = "none"
)

// Idle reports whether nothing has to be kept where no session is.
func (h *Hold) Idle() bool { return h == nil || len(h.Requests) == 0 }

// Shift returns a hold with all times later, for a store whose clock is another.
func (h *Hold) Shift(by time.Duration) *Hold {
	if h == nil {
		return nil
	}
	s := *h
	s.Requests = slices.Clone(h.Requests)
	for _, t := range []*time.Time{&s.Since, &s.Until} {
		if !t.IsZero() {
			*t = t.Add(by)
		}
	}
	for i := range s.Requests {
		s.Requests[i].At = s.Requests[i].At.Add(by)
	}
	return &s
}

func holdOf(w *Workstation) Hold {
	if w.Hold == nil {
		return Hold{}
	}
	return *w.Hold
}

// changeHold replaces the hold by a copy that f has changed. Its number is above all before, also
// of those that the store has forgotten with the last session.
func changeHold(w *Workstation, now time.Time, f func(h *Hold)) {
	h := holdOf(w)
	h.Number = max(h.Number+1, now.UnixMicro())
	h.Requests = slices.Clone(h.Requests)
	f(&h)
	w.Hold = &h
}

// give gives the input to a session, or to nobody if session is "".
func (h *Hold) give(session string, now time.Time) {
	h.Session, h.Since, h.Until, h.Unacknowledged = session, now, time.Time{}, nil
	if session == "" {
		h.Since = time.Time{}
	}
}

// holding returns the open session that holds the input, nil where nobody does.
func holding(w *Workstation, now time.Time) *SessionRecord {
	h := w.Hold
	if h == nil || h.Session == "" {
		return nil
	}
	x := w.session(h.Session)
	if x == nil || !x.open(now) || !x.Token.Issuer.Agent && !now.Before(h.Until) {
		return nil
	}
	return x
}

// claimInput gives the input to an agent, unless another session holds it: control_held.
func claimInput(w *Workstation, id string, now time.Time) error {
	switch by := holding(w, now); {
	case by != nil && by.ID != id:
		return controlHeld(w.ID, by, holdOf(w).Since)
	case by == nil:
		changeHold(w, now, func(h *Hold) { h.give(id, now) })
	}
	return nil
}

// takeInput gives the input to a person until a time; one who has it already keeps it until then.
// It reports whether the holder has changed. Agents at other gateways may not know of it yet.
func takeInput(w *Workstation, id string, until, now time.Time) bool {
	x, by := w.session(id), holding(w, now)
	switch {
	case x == nil || !x.open(now):
		return false
	case by != nil && by.ID == id:
		changeHold(w, now, func(h *Hold) { h.Until = until })
		return false
	}
	changeHold(w, now, func(h *Hold) {
		h.give(id, now)
		h.Until = until
		for _, agent := range w.open(now) {
			if agent.Token.Issuer.Agent && agent.Node != x.Node {
				h.Unacknowledged = append(h.Unacknowledged, agent.ID)
			}
		}
	})
	return true
}

// releaseInput takes the input from a session. What agents have asked a person for is done.
func releaseInput(w *Workstation, id string, now time.Time) bool {
	if holdOf(w).Session != id {
		return false
	}
	x := w.session(id)
	changeHold(w, now, func(h *Hold) {
		h.give("", now)
		if x == nil || !x.Token.Issuer.Agent {
			h.Requests = nil
		}
	})
	return true
}

// requestHelp notes that a key asks for a person, in place of what it has asked before.
func requestHelp(w *Workstation, r HelpRequest) {
	changeHold(w, r.At, func(h *Hold) {
		h.Requests = slices.DeleteFunc(h.Requests, func(other HelpRequest) bool { return other.Key == r.Key })
		h.Requests = append(h.Requests, r)
		h.Requests = h.Requests[max(0, len(h.Requests)-maxRequests):]
	})
}

// requests are those that wait for a person.
func requests(w *Workstation, now time.Time) []HelpRequest {
	return slices.DeleteFunc(slices.Clone(holdOf(w).Requests), func(r HelpRequest) bool { return !now.Before(r.At.Add(requestLife)) })
}

// automated reports whether an agent is there, or somebody holds the input.
func automated(w *Workstation, now time.Time) bool {
	return holding(w, now) != nil || slices.ContainsFunc(w.open(now), func(x *SessionRecord) bool { return x.Token.Issuer.Agent })
}

// leaveHold is called for a session that the workstation has no more.
func leaveHold(w *Workstation, x *SessionRecord, now time.Time) {
	if w.Hold != nil && !releaseInput(w, x.ID, now) && x.Token.Issuer.Agent {
		changeHold(w, now, func(h *Hold) {
			h.Unacknowledged = slices.DeleteFunc(slices.Clone(h.Unacknowledged), func(id string) bool { return id == x.ID })
		})
	}
}

// ControlHeld is why an agent may not act, for programs: error.details of the refusal.
type ControlHeld struct {
	Workstation string    `json:"workstation_id"`
	Holder      string    `json:"holder"` // HolderHuman or HolderAgent
	Session     string    `json:"session_id"`
	Key         string    `json:"key"`
	User        string    `json:"user,omitempty"`
	Since       time.Time `json:"since"`
}

func controlHeld(at ID, by *SessionRecord, since time.Time) error {
	held := ControlHeld{at.Name, by.holder(), by.ID, by.Token.Issuer.Key, by.Token.Issuer.User, wireTime(since)}
	who, free := "a person", "it is free when the person gives it back, leaves, or has not used it for return_after"
	if held.Holder == HolderAgent {
		who, free = "another agent", "it is free a minute after that agent's last call, or once its session is ended"
	}
	e := apierror.New(apierror.ControlHeld, "%s (key %q) holds the input of workstation %q since %s; nothing was sent: %s",
		who, held.Key, held.Workstation, held.Since.Format(time.RFC3339), free)
	e.Details, _ = json.Marshal(held) // of texts and times
	return e
}

// holder is what the session is if it holds the input.
func (x *SessionRecord) holder() string {
	if x.Token.Issuer.Agent {
		return HolderAgent
	}
	return HolderHuman
}

// checkNote refuses what is no plain text.
func checkNote(note string) error {
	if len(note) > MaxNote || !utf8.ValidString(note) || strings.ContainsFunc(note, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
		return apierror.New(apierror.InvalidValue, "note: want at most %d bytes of text without control characters", MaxNote).WithParam("note")
	}
	return nil
}
