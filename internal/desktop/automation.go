package desktop

import (
	"fmt"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Automation is what agents may do at a workstation. The zero value is no rule: a gateway without
// one allows nothing. Of two levels the higher value is the stricter.
type Automation uint8

// The levels.
const (
	AutomationControl Automation = 1 + iota // they look and act
	AutomationView                          // they look
	AutomationOff
)

// RoleAgent is the role of an agent's session in lists and records.
const RoleAgent = "agent"

// SecurityAgent is how lists and records name the way in of an agent.
const SecurityAgent = "automation"

var automationWords = []string{"", "control", "view", "off"}

func (a Automation) String() string { return automationWords[a] }

// MarshalText gives the word.
func (a Automation) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the word.
func (a *Automation) UnmarshalText(text []byte) error {
	at := slices.Index(automationWords, string(text))
	if at < 1 {
		return fmt.Errorf("%.20q: want off, view or control", text)
	}
	*a = Automation(at)
	return nil
}

// MayAutomate refuses an agent that asks for more than the rules allow: automation_off, which names
// the level that decides, and not_found. Rules of a source are known only when it was asked.
func (w *Service) MayAutomate(by Issuer, name string, need Automation) error {
	return nil
}

var _ = apierror.NotFound
