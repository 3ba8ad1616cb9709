package desktop

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Claim says what a token's sessions do where the workstation is in use.
type Claim uint8

// The claims.
const (
	ByRule  Claim = iota // what the policy's rule says
	Yield                // they replace no other: they are refused instead
	TakeOwn              // they replace those of the same key, and others by the rule
	TakeAny              // they replace all
)

// over reports whether a session with this claim cannot stand beside another, and whether it then
// replaces it. Shared: both may be shared. Alone: a rule says that one must not. Own: both are of one key.
func (c Claim) over(rule Conflict, shared, alone, own bool) (conflict, wins bool) {
	take := c == TakeAny || c == TakeOwn && own
	return take || alone || rule != Share && !shared, take || rule == Replace && c != Yield
}

// beside reports whether two sessions stand side by side because one is an agent's: always, unless a
// rule says that one must be alone. Then a person replaces the agent, an agent its own older session.
func (by Issuer) beside(other Issuer, alone bool) (beside, wins bool) {
	if !by.Agent && !other.Agent {
		return false, false
	}
	return !alone, other.Agent && (!by.Agent || by.Key == other.Key)
}

// Occupied is why a workstation cannot be had, for programs: error.details of the refusal.
type Occupied struct {
	Workstation string    `json:"workstation_id"`
	Sessions    []Holding `json:"sessions"` // oldest first
	// Joinable reports whether a shared token would join the sessions.
	Joinable bool `json:"joinable"`
}

// Holding is a session that occupies a workstation.
type Holding struct {
	Session  string    `json:"session_id"`
	Key      string    `json:"key"`
	User     string    `json:"user,omitempty"`
	Own      bool      `json:"own"` // it is of the key that asks
	ViewOnly bool      `json:"view_only"`
	Shared   bool      `json:"shared"`
	Started  time.Time `json:"started_at"`
}

// errOccupied names who has the workstation. The sessions are those of the asking key's own tenant.
func errOccupied(by Issuer, name string, open []SessionView) error {
	o := Occupied{Workstation: name, Joinable: true}
	var holders []string
	for _, v := range open {
		if v.Role != "" {
			continue
		}
		h := Holding{v.ID, v.Key, v.User, v.Key == by.Key, v.ViewOnly, v.Shared, wireTime(v.Started)}
		o.Sessions = append(o.Sessions, h)
		o.Joinable = o.Joinable && v.Shared
		holders = append(holders, fmt.Sprintf("key %q since %s", v.Key, h.Started.Format(time.RFC3339)))
	}
	e := apierror.New(apierror.WorkstationOccupied, "workstation %q is in use by %s", name, strings.Join(holders[:min(len(holders), maxHolders)], ", "))
	e.Details, _ = json.Marshal(o) // of texts and times
	return e
}

// maxHolders bounds the sessions that a message names.
const maxHolders = 3
