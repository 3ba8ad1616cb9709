package desktop_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
)

func rules(t testing.TB, text string) desktop.SessionRules {
	t.Helper()
	r, err := desktop.ParseSessionRules([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each row has the rules of five levels, from the gateway to the request.
func TestTheStrictestOfFiveLevelsCounts(t *testing.T) {
	for want, levels := range map[string][5]string{
		`{}`:                      {`{}`, `{}`, `{}`, `{}`, `{}`},
		`{"view_only":true}`:      {`{"view_only":false}`, `{}`, `{"view_only":true}`, `{"view_only":false}`, `{"view_only":false}`},
		`{"shared":false}`:        {`{"shared":false}`, `{"shared":true}`, `{}`, `{}`, `{"shared":true}`},
		`{"clipboard_in":"off"}`:  {`{}`, `{"clipboard_in":"off"}`, `{}`, `{}`, `{"clipboard_in":"on"}`},
		`{"clipboard_out":"off"}`: {`{"clipboard_out":"on"}`, `{}`, `{}`, `{"clipboard_out":"off"}`, `{}`},
		`{"fps":5}`:               {`{"fps":30}`, `{"fps":15}`, `{}`, `{"fps":5}`, `{"fps":60}`},
		`{"idle_timeout":60}`:     {`{}`, `{"idle_timeout":60}`, `{"idle_timeout":61}`, `{}`, `{}`},
		`{"max_duration":30}`:     {`{"max_duration":3600}`, `{}`, `{}`, `{}`, `{"max_duration":30}`},
		`{"bandwidth":64000}`:     {`{}`, `{}`, `{"bandwidth":64000}`, `{"bandwidth":1000000}`, `{}`},
		`{"max_guests":0}`:        {`{"max_guests":3}`, `{}`, `{}`, `{"max_guests":0}`, `{"max_guests":1}`},
		`{"record":"on"}`:         {`{"record":"off"}`, `{"record":"on"}`, `{}`, `{"record":"off"}`, `{"record":"off"}`},
		`{"record":"required"}`:   {`{"record":"on"}`, `{}`, `{"record":"required"}`, `{"record":"off"}`, `{"record":"on"}`},
		`{"automation":"view"}`:   {`{"automation":"control"}`, `{}`, `{"automation":"view"}`, `{"automation":"control"}`, `{}`},
		`{"automation":"off"}`:    {`{"automation":"off"}`, `{"automation":"control"}`, `{}`, `{"automation":"view"}`, `{}`},
		`{"max_guests":1}`:        {`{"max_guests":3}`, `{"max_guests":2}`, `{}`, `{}`, `{"max_guests":1}`},
		`{"view_only":true,"shared":false,"fps":1,"clipboard_in":"off","clipboard_out":"off","idle_timeout":1,"max_duration":1,"bandwidth":64000,"max_guests":100}`: {
			`{"view_only":true,"fps":1}`, `{"shared":false,"idle_timeout":1}`, `{"clipboard_in":"off","max_duration":1}`, `{"clipboard_out":"off","bandwidth":64000}`, `{"max_guests":100}`,
		},
	} {
		for turn := range levels { // the order must not matter
			var joined desktop.SessionRules
			for i := range levels {
				joined = joined.Within(rules(t, levels[(turn+i)%len(levels)]))
			}
			if text, err := json.Marshal(joined); err != nil || string(text) != want {
				t.Errorf("%v: %s, %v, want %s", levels, text, err, want)
			}
		}
	}
}

func TestSessionRulesAreReadStrictly(t *testing.T) {
	for text, param := range map[string]string{
		`{"fps":0}`:                            "session.fps",
		`{"fps":1001}`:                         "session.fps",
		`{"fps":"5"}`:                          "session.fps",
		`{"fps":5.5}`:                          "session.fps",
		`{"fps":5,"fps":6}`:                    "session.fps",
		`{"view_only":1}`:                      "session.view_only",
		`{"shared":"no"}`:                      "session.shared",
		`{"clipboard_in":true}`:                "session.clipboard_in",
		`{"clipboard_out":"one-way"}`:          "session.clipboard_out",
		`{"idle_timeout":-1}`:                  "session.idle_timeout",
		`{"max_duration":31536001}`:            "session.max_duration",
		`{"bandwidth":63999}`:                  "session.bandwidth",
		`{"automation":"on"}`:                  "session.automation",
		`{"automation":""}`:                    "session.automation",
		`{"max_guests":-1}`:                    "session.max_guests",
		`{"max_guests":101}`:                   "session.max_guests",
		`{"record":"maybe"}`:                   "session.record",
		`{"View_only":true}`:                   "session.View_only",
		`[]`:                                   "session",
		`5`:                                    "session",
		`{"fps"`:                               "session",
		`{"fps":5`:                             "session",
		`{"fps":` + string(make([]byte, 5000)): "session",
	} {
		_, err := desktop.ParseSessionRules([]byte(text))
		var refused *apierror.Error
		if !errors.As(err, &refused) || refused.Param != param || refused.HTTPStatus() != 400 {
			t.Errorf("%.40s: %v, want 400 with the parameter %s", text, err, param)
		}
	}
}

func TestSessionRulesComeBackFromTheirJSON(t *testing.T) {
	all := desktop.SessionRules{
		ViewOnly: true, NotShared: true, NoClipboardIn: true, NoClipboardOut: true, FPS: 15, IdleTimeout: time.Minute,
		MaxDuration: time.Hour, Bandwidth: 20_000_000, MaxGuests: 3, Record: desktop.RecordRequired,
	}
	for _, r := range []desktop.SessionRules{{}, all, {MaxGuests: desktop.NoGuests}} {
		text, err := json.Marshal(r)
		var back struct{ S desktop.SessionRules }
		if err == nil {
			err = json.Unmarshal([]byte(`{"S":`+string(text)+`}`), &back)
		}
		if err != nil || back.S != r {
			t.Errorf("%+v became %s, then %+v, %v", r, text, back.S, err)
		}
	}
	if r := rules(t, `{"fps":null,"view_only":null}`); r != (desktop.SessionRules{}) {
		t.Errorf("null is a rule: %+v", r)
	}
}

// levels has a rule of each level for desk1, but that of the request.
func levels(c *desktop.Config) {
	c.Policy.Session.FPS = 30
	c.Tenants = map[string]desktop.SessionRules{"default": {FPS: 20, MaxGuests: 3}, "other": {FPS: 1}}
	c.Keys = map[desktop.KeyName]desktop.SessionRules{
		{Tenant: "default", Key: "dev"}: {NoClipboardOut: true}, {Tenant: "default", Key: "ops"}: {FPS: 1}, {Tenant: "other", Key: "dev"}: {FPS: 1},
	}
	c.Workstations[0].Target.Session = desktop.SessionRules{Bandwidth: 1_000_000, MaxDuration: time.Hour}
}

func TestASessionHasTheRulesOfAllLevels(t *testing.T) {
	d := open(t, levels)
	asked := desktop.SessionRules{ViewOnly: true, FPS: 25, IdleTimeout: time.Minute}
	label, issued := issue(t, d, "desk1", desktop.Options{Rules: asked})
	want := desktop.SessionRules{
		ViewOnly: true, NoClipboardOut: true, FPS: 20, IdleTimeout: time.Minute, MaxDuration: time.Hour, Bandwidth: 1_000_000, MaxGuests: 3,
	}
	if issued.Rules != want {
		t.Errorf("the answer has %+v, want %+v", issued.Rules, want)
	}
	x := mustJoin(t, d, label, viewer)
	if left := time.Until(x.Until()); left > time.Hour || left < 59*time.Minute {
		t.Errorf("the session ends in %v, want an hour", left)
	}
	open, err := d.Sessions("default", "desk1")
	if err != nil || len(open) != 1 || open[0].Rules != want || !open[0].ViewOnly {
		t.Errorf("the list has %+v, %v, want %+v", open, err, want)
	}
	if _, issued := issue(t, d, "desk2", desktop.Options{}); issued.Rules != (desktop.SessionRules{FPS: 20, NoClipboardOut: true, MaxGuests: 3}) {
		t.Errorf("another workstation has %+v", issued.Rules)
	}
}

func TestARuleThatAReloadMakesStricterHoldsForNewSessions(t *testing.T) {
	state := memory.NewState(time.Now)
	before := open(t, func(c *desktop.Config) { c.State = state; levels(c) })
	label, _ := issue(t, before, "desk1", desktop.Options{Shared: true})
	old := mustJoin(t, before, label, viewer)
	after := open(t, func(c *desktop.Config) {
		c.State = state
		levels(c)
		c.Tenants["default"] = desktop.SessionRules{FPS: 2, MaxDuration: time.Minute}
	})
	desktop.Commit(state, after, nil)
	wantOpen(t, old)
	x := mustJoin(t, after, label, viewer)
	if left := time.Until(x.Until()); left > time.Minute {
		t.Errorf("the new session ends in %v, want a minute", left)
	}
	open, err := after.Sessions("default", "desk1")
	if err != nil || len(open) != 2 || open[0].Rules.FPS != 20 || open[1].Rules.FPS != 2 {
		t.Errorf("%+v, %v", open, err)
	}
}

func TestASessionThatARuleDoesNotShareIsAlone(t *testing.T) {
	for _, rule := range []desktop.Conflict{desktop.Refuse, desktop.Share} {
		d := open(t, func(c *desktop.Config) {
			c.OnConflict = rule
			c.Workstations[0].Target.Session.NotShared = true
		})
		label, issued := issue(t, d, "desk1", desktop.Options{Shared: true})
		if issued.Shared {
			t.Error("the address is shared")
		}
		x := mustJoin(t, d, label, viewer)
		another, _ := issue(t, d, "desk1", desktop.Options{Shared: true})
		_, err := join(d, another, other)
		wantRefusal(t, err, desktop.RefusedBusy)
		_, err = d.Issue(dev, "desk1", desktop.Options{Shared: true, Claim: desktop.Yield})
		wantFault(t, err, apierror.WorkstationOccupied, "")
		wantOpen(t, x)
	}
}

// Gateways share what a session may do as JSON, whose bounds the options do not have.
func TestRulesOfTheOptionsCanBeShared(t *testing.T) {
	d := open(t, func(c *desktop.Config) {
		c.Session = desktop.SessionRules{FPS: 5000, IdleTimeout: 10 * 365 * 24 * time.Hour}
	})
	text, err := json.Marshal(d.Policy().Session)
	if err != nil {
		t.Fatal(err)
	}
	var read desktop.SessionRules
	if err := json.Unmarshal(text, &read); err != nil || read != d.Policy().Session {
		t.Errorf("%s: %+v, %v", text, read, err)
	}
}

// A reload makes the rules stricter than the age of an address.
func TestAnAddressThatIsTooOldByItsRulesReplacesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := memory.NewState(time.Now)
		use := func(c *desktop.Config) { c.State, c.OnConflict = state, desktop.Replace }
		label, _ := issue(t, open(t, use), "desk1", desktop.Options{ExpiresIn: 3 * time.Hour})
		time.Sleep(2 * time.Hour)
		d := open(t, func(c *desktop.Config) {
			use(c)
			c.Levels.Tenants = map[string]desktop.SessionRules{"default": {MaxDuration: time.Hour}}
		})
		x := mustJoin(t, d, mustIssue(t, d, "desk1"), viewer)
		_, err := join(d, label, other)
		wantRefusal(t, err, desktop.RefusedExpired)
		wantOpen(t, x)
	})
}
