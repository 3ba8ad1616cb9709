package desktop_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

// machine is a registration of a machine with a login of its own.
func machine(name, address string) desktop.Registration {
	return desktop.Registration{Address: address, Machine: name, Credential: "vm"}
}

// derived allows logins of machines.
func derived(c *desktop.Config) {
	c.Credentials = map[string]desktop.Credential{"vm": {Root: "correct horse battery staple"}, "lab": {Password: "hunter2-lab"}}
}

func mustRegister(t testing.TB, d *desktop.Service, name string, r desktop.Registration) desktop.View {
	t.Helper()
	v, _, err := d.Register(t.Context(), "default", name, r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The vectors were computed with OpenSSL, by the line of docs/workstations.md.
func TestThePasswordOfAMachineIsDerivedFromTheRoot(t *testing.T) {
	d := open(t, derived)
	for _, tc := range []struct{ name, machine, want string }{
		{"run", "vm-7f3a/4", "b0QJjISml55ReQBLyQHqK_"},
		{"run", "vm-7f3a/5", "W7vIjY1zIFkSitIUASvpLE"},
		{"run2", "vm-7f3a/5", "6vRTyK7EqIDev1IF01fBR5"},
	} {
		mustRegister(t, d, tc.name, machine(tc.machine, "10.0.0.1:5900"))
		pass, err := d.Find(mustIssue(t, d, tc.name), viewer.Addr())
		if err != nil || pass.Target.Password != tc.want || !pass.Target.Derived || pass.Target.User != "" {
			t.Errorf("%s, %s: %q, %v", tc.name, tc.machine, pass.Target.Password, err)
		}
	}
}

// A reload may turn a credential with a password into one that derives it.
func TestAMachineWithoutANameHasNoDerivedPassword(t *testing.T) {
	state, storage := memory.NewState(time.Now), new(desktoptest.Storage)
	use := func(c *desktop.Config) { c.State, c.Storage = state, storage }
	d := open(t, func(c *desktop.Config) {
		use(c)
		c.Credentials = map[string]desktop.Credential{"vm": {Password: "hunter2-lab"}}
	})
	mustRegister(t, d, "run", desktop.Registration{Address: "10.0.0.1:5900", Credential: "vm"})
	label := mustIssue(t, d, "run")
	d = open(t, func(c *desktop.Config) { use(c); derived(c) })
	_, err := d.Find(label, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedUnavailable)
	_, _, err = d.Register(t.Context(), "default", "run", desktop.Registration{Address: "10.0.0.1:5900", Credential: "vm"})
	wantFault(t, err, apierror.MissingParameter, "generation")
}

func TestFormsOfARegistration(t *testing.T) {
	d := open(t, derived)
	many := make(map[string]string)
	for i := range 17 {
		many[strings.Repeat("a", i+1)] = ""
	}
	for name, tc := range map[string]struct {
		change func(r *desktop.Registration)
		param  string
	}{
		"generation with a space":    {func(r *desktop.Registration) { r.Machine = "a b" }, "generation"},
		"long generation":            {func(r *desktop.Registration) { r.Machine = strings.Repeat("a", 129) }, "generation"},
		"source with a slash":        {func(r *desktop.Registration) { r.Source = "a/b" }, "source"},
		"long source":                {func(r *desktop.Registration) { r.Source = strings.Repeat("a", 65) }, "source"},
		"a source that lists mean":   {func(r *desktop.Registration) { r.Source = "declared" }, "source"},
		"another one":                {func(r *desktop.Registration) { r.Source = "registered" }, "source"},
		"too many labels":            {func(r *desktop.Registration) { r.Labels = many }, "labels"},
		"label with an equals sign":  {func(r *desktop.Registration) { r.Labels = map[string]string{"a=b": ""} }, "labels"},
		"long label":                 {func(r *desktop.Registration) { r.Labels = map[string]string{strings.Repeat("a", 64): ""} }, "labels"},
		"long value":                 {func(r *desktop.Registration) { r.Labels = map[string]string{"a": strings.Repeat("a", 64)} }, "labels"},
		"value with a line":          {func(r *desktop.Registration) { r.Labels = map[string]string{"a": "a\nb"} }, "labels"},
		"on_expiry of another kind":  {func(r *desktop.Registration) { r.OnExpiry, r.ExpiresIn = "kill", time.Hour }, "on_expiry"},
		"on_expiry without the time": {func(r *desktop.Registration) { r.OnExpiry = "end" }, "expires_in"},
	} {
		r := machine("vm-1", "10.0.0.1:5900")
		tc.change(&r)
		_, _, err := d.Register(t.Context(), "default", "run", r)
		var refused *apierror.Error
		if !errors.As(err, &refused) || refused.Param != tc.param || refused.HTTPStatus() != 400 {
			t.Errorf("%s: %v", name, err)
		}
	}
	delete(many, "a")
	r := desktop.Registration{
		Address: "10.0.0.1:5900", Credential: "vm", Machine: strings.Repeat("a", 119) + "Z9._:/-/b", Source: strings.Repeat("b", 64),
		Labels: many, OnExpiry: "end", ExpiresIn: time.Hour,
	}
	for name := range many {
		many[name] = strings.Repeat(`"`, 63) // as long as JSON makes it
	}
	storage := new(desktoptest.Storage)
	d = open(t, func(c *desktop.Config) { derived(c); c.Storage = storage })
	before := mustRegister(t, d, "run", r)
	after, err := open(t, func(c *desktop.Config) { derived(c); c.Storage = storage }).Get("default", "run")
	if err != nil || after.Machine != before.Machine || len(after.Labels) != 16 || after.Change != before.Change || !after.ExpiresAt.Equal(before.ExpiresAt) {
		t.Errorf("%+v became %+v, %v", before, after, err)
	}
}

func TestTheMembersOfARegistration(t *testing.T) {
	r, err := desktop.ParseRegistration([]byte(`{"address":"10.0.0.1:5900","credential":null,"generation":"vm-1","source":"ctl-a",` +
		`"labels":{"course":"cs101"},"expires_in":60,"on_expiry":"end","session":{"view_only":true,"fps":5}}`))
	if err != nil || r.Address != "10.0.0.1:5900" || r.Credential != "" || r.Machine != "vm-1" || r.Source != "ctl-a" || r.Labels["course"] != "cs101" ||
		r.ExpiresIn != time.Minute || r.OnExpiry != "end" || !r.Session.ViewOnly || r.Session.FPS != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	for text, param := range map[string]string{
		`{"generation":1}`: "generation", `{"labels":["a"]}`: "labels", `{"labels":{"a":1}}`: "labels", `{"expires_in":0}`: "expires_in",
		`{"expires_in":31622401}`: "expires_in", `{"expires_in":1.5}`: "expires_in", `{"source":{}}`: "source", `{"on_expiry":true}`: "on_expiry",
		`{"session_rules":1}`: "session_rules", `{"session":{"fps":0}}`: "session.fps", `{"session":{"record":"maybe"}}`: "session.record",
	} {
		_, err := desktop.ParseRegistration([]byte(text))
		var refused *apierror.Error
		if !errors.As(err, &refused) || refused.Param != param {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{`[]`, `{"address":"a","Address":"b"}`, `{`} {
		if _, err := desktop.ParseRegistration([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// The rules of a registration hold for the sessions of every address, also after a restart.
func TestTheRulesOfARegistrationAreItsSessions(t *testing.T) {
	storage := new(desktoptest.Storage)
	d := open(t, func(c *desktop.Config) { c.Storage = storage })
	r := desktop.Registration{Address: "10.0.0.1:5900", Session: desktop.SessionRules{ViewOnly: true, NoClipboardOut: true, FPS: 5, MaxGuests: desktop.NoGuests}}
	mustRegister(t, d, "run", r)
	for range 2 {
		pass, err := d.Find(mustIssue(t, d, "run"), viewer.Addr())
		if err != nil || pass.Rules.Within(r.Session) != pass.Rules {
			t.Errorf("%+v, %v", pass.Rules, err)
		}
		d = open(t, func(c *desktop.Config) { c.Storage = storage })
	}
	r.Session.ViewOnly = false
	mustRegister(t, d, "run", r)
	if pass, err := d.Find(mustIssue(t, d, "run"), viewer.Addr()); err != nil || pass.Rules.ViewOnly || !pass.Rules.NoClipboardOut {
		t.Errorf("after a change: %+v, %v", pass.Rules, err)
	}
}

func TestARegistrationThatMustBeNew(t *testing.T) {
	d := open(t, nil)
	r := desktop.Registration{Address: "10.0.0.1:5900", New: true}
	mustRegister(t, d, "run", r)
	_, _, err := d.Register(t.Context(), "default", "run", r)
	wantFault(t, err, apierror.WorkstationExists, "")
	if err := d.Release(t.Context(), "default", "run", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	mustRegister(t, d, "run", r)
}

// Nobody may see the next machine under the old name's addresses, also if it cannot be stored.
func TestAStorageThatFailsLeavesNoMachineOpen(t *testing.T) {
	storage := new(desktoptest.Storage)
	d := open(t, func(c *desktop.Config) { derived(c); c.Storage = storage })
	mustRegister(t, d, "run", machine("vm-1", "10.0.0.1:5900"))
	label := mustIssue(t, d, "run")
	x := mustJoin(t, d, label, viewer)
	storage.FailWith(errors.New("disk full"))
	_, _, err := d.Register(t.Context(), "default", "run", machine("vm-2", "10.0.0.2:5900"))
	wantFault(t, err, apierror.StorageUnavailable, "")
	wantEnded(t, x, desktop.ReasonReleased)
	_, err = d.Find(label, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedReleased)
	storage.FailWith(nil)
	mustRegister(t, d, "run", machine("vm-2", "10.0.0.2:5900"))
	mustIssue(t, d, "run")
}

func TestAnotherMachineIsToldAsARelease(t *testing.T) {
	var told []map[string]any
	d := open(t, func(c *desktop.Config) {
		derived(c)
		c.Emit = func(event string, data map[string]any) {
			if event == desktop.EventReleased {
				told = append(told, data)
			}
		}
	})
	mustRegister(t, d, "run", machine("vm-1", "10.0.0.1:5900"))
	x := mustJoin(t, d, mustIssue(t, d, "run"), viewer)
	r := machine("vm-2", "10.0.0.1:5900")
	r.By = "ctl"
	mustRegister(t, d, "run", r)
	if len(told) != 1 || told[0]["workstation"] != "run" || told[0]["sessions"] != 1 || x.EndedBy() != "ctl" {
		t.Errorf("%v, ended by %q", told, x.EndedBy())
	}
}

func TestARegistrationEnds(t *testing.T) {
	for _, ends := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			storage, state := new(desktoptest.Storage), memory.NewState(time.Now)
			use := func(c *desktop.Config) { derived(c); c.Storage, c.State = storage, state }
			d := open(t, use)
			r := machine("vm-1", "10.0.0.1:5900")
			if r.ExpiresIn = time.Minute; ends {
				r.OnExpiry = desktop.OnExpiryEnd
			}
			mustRegister(t, d, "run", r)
			label, spare := mustIssue(t, d, "run"), mustIssue(t, d, "run")
			x := mustJoin(t, d, label, viewer)
			time.Sleep(59 * time.Second)
			mustRegister(t, d, "run", r) // its control plane lives
			time.Sleep(59 * time.Second)
			mustIssue(t, d, "run")
			wantOpen(t, x)
			d = open(t, use) // a reload keeps the end
			time.Sleep(time.Second)
			synctest.Wait()
			if v, _ := d.Get("default", "run"); v.State != desktop.StateExpired {
				t.Errorf("it is %s", v.State)
			}
			_, err := d.Issue(dev, "run", desktop.Options{})
			wantFault(t, err, apierror.NotFound, "")
			if !ends {
				wantOpen(t, x)
				if _, err := d.Find(spare, viewer.Addr()); err != nil {
					t.Error(err)
				}
				return
			}
			wantEnded(t, x, desktop.ReasonReleased)
			_, err = d.Find(spare, viewer.Addr())
			wantRefusal(t, err, desktop.RefusedReleased)
			mustRegister(t, d, "run", r) // what was issued before stays dead
			_, err = d.Find(spare, viewer.Addr())
			wantRefusal(t, err, desktop.RefusedReleased)
			mustIssue(t, d, "run")
		})
	}
}

func TestPagesOfTheList(t *testing.T) {
	d := open(t, derived)
	for name, r := range map[string]desktop.Registration{
		"a1": {Address: "10.0.0.1:5900", Source: "ctl-a", Labels: map[string]string{"course": "cs101", "room": "1"}},
		"a2": {Address: "10.0.0.2:5900", Source: "ctl-a", Labels: map[string]string{"course": "cs102"}},
		"b1": {Address: "10.0.0.3:5900", Source: "ctl-b", Labels: map[string]string{"course": "cs101"}},
		"c1": {Address: "10.0.0.4:5900"},
	} {
		mustRegister(t, d, name, r)
	}
	names := func(q desktop.Query) (text, next string) {
		q.Sees = everyTenant
		views, next := q.Page(d.Inventory)
		for _, v := range views {
			text += v.Name + " "
		}
		return text, next
	}
	for _, tc := range []struct {
		q          desktop.Query
		want, next string
	}{
		{desktop.Query{}, "a1 a2 b1 c1 desk1 desk2 ", ""},
		{desktop.Query{Source: "ctl-a"}, "a1 a2 ", ""},
		{desktop.Query{Source: desktop.SourceDeclared}, "desk1 desk2 ", ""},
		{desktop.Query{Source: desktop.SourceRegistered}, "c1 ", ""},
		{desktop.Query{Labels: map[string]string{"course": "cs101"}}, "a1 b1 ", ""},
		{desktop.Query{Labels: map[string]string{"course": "cs101", "room": "1"}}, "a1 ", ""},
		{desktop.Query{Labels: map[string]string{"room": ""}}, "", ""},
		{desktop.Query{Limit: 4}, "a1 a2 b1 c1 ", "default/c1"},
		{desktop.Query{Limit: 4, After: "default/c1"}, "desk1 desk2 ", ""},
		{desktop.Query{Limit: 2, After: "default/c1"}, "desk1 desk2 ", ""},
		{desktop.Query{After: "default/zzz"}, "", ""},
	} {
		if got, next := names(tc.q); got != tc.want || next != tc.next {
			t.Errorf("%+v: %q, then %q", tc.q, got, next)
		}
	}
}
