package desktop_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

var bot = desktop.Issuer{Tenant: "default", Key: "bot", Agent: true}

func TestTheStrictestLevelDecidesWhatAnAgentMay(t *testing.T) {
	const view, control = desktop.AutomationView, desktop.AutomationControl
	only := func(a desktop.Automation) desktop.SessionRules { return desktop.SessionRules{Automation: a} }
	for name, c := range map[string]struct {
		change func(c *desktop.Config)
		need   desktop.Automation
		by     string // refused by; "" if it is not
	}{
		"no rule":            {func(*desktop.Config) {}, view, "vnc: no automation"},
		"off":                {func(c *desktop.Config) { c.Session = only(desktop.AutomationOff) }, view, "vnc: automation off"},
		"view":               {func(c *desktop.Config) { c.Session = only(view) }, view, ""},
		"view, to act":       {func(c *desktop.Config) { c.Session = only(view) }, control, "vnc: automation view"},
		"control":            {func(c *desktop.Config) { c.Session = only(control) }, control, ""},
		"view only":          {func(c *desktop.Config) { c.Session = only(control); c.ViewOnly = true }, control, "vnc: view_only"},
		"view only, to look": {func(c *desktop.Config) { c.Session = only(control); c.ViewOnly = true }, view, ""},
		"tenant": {func(c *desktop.Config) {
			c.Session, c.Tenants = only(control), map[string]desktop.SessionRules{"default": only(view)}
		}, control, "tenant default: automation view"},
		"key": {func(c *desktop.Config) {
			c.Session, c.Keys = only(control), map[desktop.KeyName]desktop.SessionRules{{Tenant: "default", Key: "bot"}: only(desktop.AutomationOff)}
		}, view, "key bot: automation off"},
		"another key": {func(c *desktop.Config) {
			c.Session, c.Keys = only(control), map[desktop.KeyName]desktop.SessionRules{{Tenant: "default", Key: "dev"}: only(desktop.AutomationOff)}
		}, view, ""},
		"workstation":               {func(c *desktop.Config) { c.Session = only(control); c.Workstations[0].Target.Session = only(view) }, control, "workstation desk1: automation view"},
		"not looser at a low level": {func(c *desktop.Config) { c.Workstations[0].Target.Session = only(control) }, view, "vnc: no automation"},
	} {
		err := desktop.MayAutomate(open(t, c.change), bot, "desk1", c.need)
		var e *apierror.Error
		switch {
		case c.by == "":
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.As(err, &e) || e.Code != apierror.AutomationOff || e.RefusedBy != c.by:
			t.Errorf("%s: %v", name, err)
		}
	}
	err := desktop.MayAutomate(open(t, nil), bot, "nowhere", view)
	wantFault(t, err, apierror.NotFound, "")
}

// An agent stands beside persons whatever the rule says, and disturbs none.
func TestAnAgentStandsBesidePersons(t *testing.T) {
	for _, rule := range []desktop.Conflict{desktop.Refuse, desktop.Replace, desktop.Share} {
		d := open(t, func(c *desktop.Config) { c.OnConflict = rule })
		before := joinAs(t, d, "dev", false, desktop.Options{})
		agent := joinAs(t, d, "bot", true, desktop.Options{Shared: true, Once: true, Claim: desktop.Yield})
		other := joinAs(t, d, "bot2", true, desktop.Options{Shared: true, Claim: desktop.Yield})
		wantOpen(t, before)
		before.Leave()
		taking := joinAs(t, d, "dev", false, desktop.Options{Claim: desktop.TakeAny})
		for _, x := range []*desktop.Session{agent, other, taking} {
			wantOpen(t, x)
		}
		roles := []string{}
		for _, v := range d.OpenSessions(func(desktop.SessionView) bool { return true }) {
			roles = append(roles, v.Role)
		}
		if slices.Sort(roles); !slices.Equal(roles, []string{"", "agent", "agent"}) {
			t.Errorf("roles %q", roles)
		}
	}
}

// Where a rule says that one must be alone, a person comes first.
func TestAPersonReplacesAnAgentWhereOneMustBeAlone(t *testing.T) {
	for _, rule := range []desktop.Conflict{desktop.Refuse, desktop.Replace, desktop.Share} {
		d := open(t, func(c *desktop.Config) { c.OnConflict, c.Session.NotShared = rule, true })
		agent := joinAs(t, d, "bot", true, desktop.Options{Claim: desktop.Yield})
		again := joinAs(t, d, "bot", true, desktop.Options{Claim: desktop.Yield}) // its own older session
		wantEnded(t, agent, desktop.ReasonReplaced)
		person := joinAs(t, d, "dev", false, desktop.Options{})
		wantEnded(t, again, desktop.ReasonReplaced)
		wantOpen(t, person)
		_, err := d.Issue(bot, "desk1", desktop.Options{Shared: true, Claim: desktop.Yield})
		wantFault(t, err, apierror.WorkstationOccupied, "")
	}
}
