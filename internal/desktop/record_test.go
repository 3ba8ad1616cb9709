package desktop_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// Where nothing can be recorded no level asks for it, and the error says what is missing. Where it can,
// each level may.
func TestARuleRecordNeedsAPlaceForRecordings(t *testing.T) {
	record := desktop.SessionRules{Record: desktop.RecordRequired}
	for level, change := range map[string]func(*desktop.Config){
		"gateway": func(c *desktop.Config) { c.Policy.Session = record },
		"tenant":  func(c *desktop.Config) { c.Levels.Tenants = map[string]desktop.SessionRules{"acme": record} },
		"key": func(c *desktop.Config) {
			c.Levels.Keys = map[desktop.KeyName]desktop.SessionRules{{Key: "dev"}: record}
		},
		"workstation": func(c *desktop.Config) { c.Workstations[0].Target.Session = record },
	} {
		if _, err := desktop.New(config(change)); err == nil || !strings.Contains(err.Error(), "vnc has no record block") {
			t.Errorf("%s: %v", level, err)
		}
		if _, err := desktop.New(config(func(c *desktop.Config) { change(c); c.Policy.Records = true })); err != nil {
			t.Errorf("%s, with a place: %v", level, err)
		}
	}
	for _, records := range []bool{false, true} {
		p := new(plane)
		p.say(allow("vm-1", `,"session":{"record":"required"}`))
		d := open(t, func(c *desktop.Config) { c.Policy.Records, c.Sources = records, []desktop.Source{p.source(t)} })
		_, requested := d.Issue(dev, "desk1", desktop.Options{Rules: record})
		_, _, registered := d.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5900", Session: record})
		answered, sourced := d.Issue(dev, "elsewhere", desktop.Options{})
		for level, err := range map[apierror.Code]error{apierror.InvalidValue: errors.Join(requested, registered), apierror.SourceUnavailable: sourced} {
			var refused *apierror.Error
			if records != (err == nil) || !records && (!errors.As(err, &refused) || refused.Code != level) {
				t.Errorf("with a place %v: %v", records, err)
			}
		}
		if records && answered.Rules.Record != desktop.RecordRequired {
			t.Errorf("the address has %+v", answered.Rules)
		}
	}
}
