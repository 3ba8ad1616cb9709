package desktop

import (
	"fmt"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Automation is what agents may do at a workstation. The zero value is no rule: a gateway without
// one allows nothing. Of two values the higher is the stricter.
type Automation uint8

// The values.
const (
	AutomationControl Automation = 1 + iota // they look and act
	AutomationView                          // they look
	AutomationOff
)

// RoleAgent is the role of an agent's session in lists and records.
const RoleAgent = "agent"

// SecurityAgent names how an agent comes in: its key calls the API, and no address leaves the
// gateway.
const SecurityAgent = "automation"

var automationWords = []string{"", "control", "view", "off"}

// AutomationWords are the words of the values.
func AutomationWords() []string { return automationWords[1:] }

func (a Automation) String() string { return automationWords[a] }

// MarshalText gives the word.
func (a Automation) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText is ParseAutomation.
func (a *Automation) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAutomation(string(text))
	return err
}

// ParseAutomation reads the word.
func ParseAutomation(text string) (Automation, error) {
	at := slices.Index(automationWords, text)
	if at < 1 {
		return 0, fmt.Errorf("%.20q: want off, view or control", text)
	}
	return Automation(at), nil
}

// automation is what the rules allow agents; without view_only it may be no rule.
func (r SessionRules) automation() Automation {
	if r.ViewOnly {
		return max(r.Automation, AutomationView)
	}
	return r.Automation
}

// Automates reports whether rules of all levels allow an agent this much.
func (r SessionRules) Automates(need Automation) bool {
	return r.Automation != 0 && r.automation() <= need
}

// MayAutomate refuses an agent that needs more than the rules allow: automation_off, which names
// the option that decides, and not_found. The rules of a source are not among them: it was not
// asked.
func MayAutomate(w *Service, by Issuer, name string, need Automation) error {
	id := ID{by.Tenant, name}
	if err := w.check(id); err != nil {
		return err
	}
	for _, level := range w.config.automation(by, id, w.target(id)) {
		if !level.rules.Automates(need) {
			return automationOff(name, level.option, level.rules, need)
		}
	}
	return nil
}

// automationLevel is a level of rules, and how an operator finds it.
type automationLevel struct {
	option string
	rules  SessionRules
}

// automation returns the levels that say something, the gateway first.
func (c *configuration) automation(by Issuer, id ID, target *Target) []automationLevel {
	gateway := c.policy.Session
	gateway.ViewOnly = gateway.ViewOnly || c.policy.ViewOnly
	levels := []automationLevel{
		{"vnc", gateway},
		{"tenant " + id.Tenant, c.levels.Tenants[id.Tenant]},
		{"key " + by.Key, c.levels.Keys[KeyName{by.Tenant, by.Key}]},
	}
	if target != nil {
		levels = append(levels, automationLevel{"workstation " + id.Name, target.Session})
	}
	for i := range levels[1:] { // only the gateway must allow it by name
		if r := &levels[1+i].rules; r.Automation == 0 {
			r.Automation = AutomationControl
		}
	}
	return levels
}

// StillAutomates reports whether an agent may go on with what its session does, by the registration
// of the workstation too: a run takes minutes.
func StillAutomates(w *Service, x *Session) bool {
	return MayAutomate(w, x.token().Issuer, x.Workstation.Name, x.automation()) == nil
}

// automation is what an agent's session does.
func (x *Session) automation() Automation {
	if x.Input.holds() {
		return AutomationControl
	}
	return AutomationView
}

// lets reports whether an agent may go on with what its session does. Others may.
func (c *configuration) lets(x *Session) bool {
	by, need := x.token().Issuer, x.automation()
	if !by.Agent {
		return true
	}
	for _, level := range c.automation(by, x.Workstation, c.declared[x.Workstation]) {
		if !level.rules.Automates(need) {
			return false
		}
	}
	return true
}

// automates is what the levels without keys allow at a workstation with these rules; zero is
// nothing.
func (c *configuration) automates(id ID, of SessionRules) Automation {
	gateway := c.policy.Session
	gateway.ViewOnly = gateway.ViewOnly || c.policy.ViewOnly
	a := gateway.Within(c.levels.Tenants[id.Tenant]).Within(of).automation()
	if gateway.Automation == 0 || a == AutomationOff {
		return 0
	}
	return a
}

func automationOff(name, option string, rules SessionRules, need Automation) error {
	says := "automation " + rules.Automation.String()
	switch {
	case rules.Automation == 0:
		says = "no automation"
	case rules.Automation <= need:
		says = "view_only"
	}
	e := apierror.New(apierror.AutomationOff, "agents may not %s workstation %q: %s has %s", needs[need], clip(name), option, says)
	e.RefusedBy = option + ": " + says
	return e
}

var needs = map[Automation]string{AutomationControl: "act on", AutomationView: "look at"}
