package desktop_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/source"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
)

// plane is a control plane for the workstations of the default tenant.
type plane struct {
	answer atomic.Value // JSON; "" cannot be reached
	asked  atomic.Int64
}

func (p *plane) say(answer string) { p.answer.Store(answer) }

func (p *plane) RoundTrip(*http.Request) (*http.Response, error) {
	p.asked.Add(1)
	answer, _ := p.answer.Load().(string)
	if answer == "" {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// source returns what a configuration has of it.
func (p *plane) source(t testing.TB) desktop.Source {
	t.Helper()
	s, err := source.NewWebhook(source.Webhook{
		URL: "https://control.example.com/", Secrets: []string{"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"},
		Gateway: func() string { return "" }, Transport: p,
	}, source.Config{Name: "lab", Logger: zap.NewNop(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return desktop.Source{
		ControlPlane: s, Tenants: []string{"default"}, Networks: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")},
		Ports: desktop.Ports{{First: 5900, Last: 5999}},
	}
}

// allow is an answer for a machine.
func allow(machine, more string) string {
	return fmt.Sprintf(`{"decision":"allow","address":"10.20.0.9:5901","generation":%q%s}`, machine, more)
}

// asking is a service whose tenant has a source, in a bubble.
func asking(t *testing.T, f func(t *testing.T, d *desktop.Service, p *plane)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := new(plane)
		p.say(allow("vm-1", ""))
		f(t, open(t, func(c *desktop.Config) { c.Sources = []desktop.Source{p.source(t)} }), p)
		time.Sleep(5 * time.Second) // changes of a workstation that met may wait for each other
	})
}

// locate finds a token and asks where its workstation is.
func locate(t *testing.T, d *desktop.Service, label string) (*desktop.Pass, *desktop.Refusal) {
	t.Helper()
	pass, err := d.Find(label, viewer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	refusal, _ := pass.Locate(viewer.Addr())
	return pass, refusal
}

func wantLocated(t *testing.T, d *desktop.Service, label string) *desktop.Pass {
	t.Helper()
	pass, refusal := locate(t, d, label)
	if refusal != nil || pass.Target.Address != "10.20.0.9:5901" {
		t.Fatalf("%v", refusal)
	}
	return pass
}

func wantNotLocated(t *testing.T, d *desktop.Service, label string, code desktop.RefusalCode) {
	t.Helper()
	if pass, refusal := locate(t, d, label); refusal == nil || refusal.Code != code || pass.Target != nil {
		t.Fatalf("got %v, want %s", refusal, code)
	}
}

// enter opens a session.
func enter(t *testing.T, d *desktop.Service, label string) *desktop.Session {
	t.Helper()
	x, err := wantLocated(t, d, label).Join(viewer, "x509none")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestDeclaredAndRegisteredWorkstationsAreNotAskedFor(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
		if _, _, err := d.Register(t.Context(), "default", "desk9", desktop.Registration{Address: "10.0.0.9:5901"}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"desk1", "desk9"} {
			label, _ := issue(t, d, name, desktop.Options{})
			if pass, refusal := locate(t, d, label); refusal != nil || pass.Target.Address == "10.20.0.9:5901" {
				t.Errorf("%s: %v", name, refusal)
			}
		}
		if p.asked.Load() != 0 {
			t.Errorf("asked %d times", p.asked.Load())
		}
		issue(t, d, "lab1", desktop.Options{})
		if p.asked.Load() != 1 {
			t.Error("the source was not asked")
		}
		_, err := d.Issue(desktop.Issuer{Tenant: "other", Key: "dev"}, "lab1", desktop.Options{})
		wantFault(t, err, apierror.NotFound, "")
		_, err = d.Issue(dev, "../etc", desktop.Options{})
		wantFault(t, err, apierror.NotFound, "")
		if p.asked.Load() != 1 {
			t.Error("asked for another tenant, or for no name")
		}
	})
}

func TestWhatASourceSaysIsWhatTheCallerGets(t *testing.T) {
	for answer, want := range map[string]struct {
		issue   apierror.Code
		connect desktop.RefusalCode
		text    string
		retry   time.Duration
	}{
		`{"decision":"deny","reason":"Your booking begins at 14:00."}`: {apierror.WorkstationDenied, desktop.WorkstationDenied, "Your booking begins at 14:00.", 0},
		`{"decision":"deny"}`:                  {apierror.WorkstationDenied, desktop.WorkstationDenied, "You may not use this workstation now.", 0},
		`{"decision":"unknown"}`:               {apierror.NotFound, desktop.RefusedRevoked, "", 0},
		`{"decision":"wait","retry_after":20}`: {apierror.WorkstationStarting, desktop.WorkstationStarting, "The workstation is starting. Try again in a moment.", 20 * time.Second},
		``:                                     {apierror.SourceUnavailable, desktop.SourceUnavailable, "", 5 * time.Second},
		`{"decision":"allow","address":"10.21.0.9:5901"}`:                                            {apierror.SourceUnavailable, desktop.SourceUnavailable, "", 5 * time.Second},
		`{"decision":"allow","address":"10.20.0.9:22"}`:                                              {apierror.SourceUnavailable, desktop.SourceUnavailable, "", 5 * time.Second},
		`{"decision":"allow","address":"10.20.0.9"}`:                                                 {apierror.SourceUnavailable, desktop.SourceUnavailable, "", 5 * time.Second},
		`{"decision":"allow","address":"10.20.0.9:5901","credential":"no"}`:                          {apierror.SourceUnavailable, desktop.SourceUnavailable, "", 5 * time.Second},
		`{"decision":"allow","address":"10.20.0.9:5901","session":{"x":1}}`:                          {apierror.SourceUnavailable, desktop.SourceUnavailable, "", 5 * time.Second},
		`{"decision":"allow","address":"10.20.0.9:5901","login":{"tls":{"pinned_key":"sha256:00"}}}`: {apierror.SourceUnavailable, desktop.SourceUnavailable, "", 5 * time.Second},
	} {
		asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
			p.say(allow("", `,"cache_seconds":0`))
			label, _ := issue(t, d, "lab1", desktop.Options{})
			p.say(answer)
			_, err := d.Issue(dev, "lab1", desktop.Options{})
			wantFault(t, err, want.issue, "")
			var refused *apierror.Error
			if errors.As(err, &refused); want.text != "" && refused.Message != want.text || refused.Retry() != want.retry {
				t.Errorf("%s: %q, again after %v", answer, refused.Message, refused.Retry())
			}
			if err := d.Sources.Refresh(t.Context(), "default", "lab1"); err != nil { // the last answer does not count
				t.Fatal(err)
			}
			if pass, refusal := locate(t, d, label); refusal == nil || refusal.Code != want.connect || want.text != "" && refusal.Text != want.text || pass.Target != nil {
				t.Errorf("%s: the viewer is told %v", answer, refusal)
			}
		})
	}
}

func TestRulesAndLoginOfASourceHold(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
		p.say(allow("", `,"session":{"view_only":true,"fps":5},"login":{"user":"ann","password":"hunter2","tls":{"pinned_key":"sha256:`+strings.Repeat("0a", 32)+`"}}`))
		label, issued := issue(t, d, "lab1", desktop.Options{Rules: desktop.SessionRules{FPS: 10}})
		pass := wantLocated(t, d, label)
		if !issued.Rules.ViewOnly || issued.Rules.FPS != 5 || !pass.Rules.ViewOnly || pass.Rules.FPS != 5 {
			t.Errorf("issued with %+v, found with %+v", issued.Rules, pass.Rules)
		}
		if l := pass.Target; l.User != "ann" || l.Password != "hunter2" || l.TLS.VerifyConnection == nil {
			t.Error("another login")
		}
		p.say(allow("", `,"credential":"lab"`))
		if err := d.Sources.Refresh(t.Context(), "default", "lab1"); err != nil {
			t.Fatal(err)
		}
		if pass = wantLocated(t, d, label); pass.Target.Password != "hunter2-lab" {
			t.Error("not the declared credential")
		}
	})
}

// The address is looked up and checked when it is dialled, as that of a registration.
func TestAnAddressOfASourceIsCheckedWhenItIsDialled(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
		p.say(`{"decision":"allow","address":"localhost:5901"}`)
		label, _ := issue(t, d, "lab1", desktop.Options{})
		pass, refusal := locate(t, d, label)
		if refusal != nil {
			t.Fatal(refusal)
		}
		_, err := pass.Target.Dial(t.Context(), nil)
		if !errors.Is(err, desktop.ErrUnreachable) || !strings.Contains(errors.Unwrap(err).Error(), "outside the networks") {
			t.Errorf("%v", errors.Unwrap(err))
		}
	})
}

// Whoever registers a workstation that a source had named means a machine of its own.
func TestARegistrationEndsWhatASourceHadNamed(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, _ *plane) {
		label, second := mustIssue(t, d, "lab1"), mustIssue(t, d, "lab1")
		x := enter(t, d, label)
		time.Sleep(time.Second)
		mustRegister(t, d, "lab1", desktop.Registration{Address: "10.0.0.9:5901"})
		wantEnded(t, x, desktop.ReasonReleased)
		for _, label := range []string{label, second} {
			_, err := d.Find(label, viewer.Addr())
			wantRefusal(t, err, desktop.RefusedReleased)
		}
		if pass, err := d.Find(mustIssue(t, d, "lab1"), viewer.Addr()); err != nil || pass.Target.Address != "10.0.0.9:5901" {
			t.Error(err)
		}
	})
}

// A reload declares a workstation that a source had named.
func TestAnAddressOfASourceOpensNoDeclaredWorkstation(t *testing.T) {
	p := new(plane)
	p.say(allow("vm-1", ""))
	state := memory.NewState(time.Now)
	use := func(c *desktop.Config) { c.State, c.Sources = state, []desktop.Source{p.source(t)} }
	label := mustIssue(t, open(t, use), "lab1")
	d := open(t, func(c *desktop.Config) {
		use(c)
		c.Workstations = append(c.Workstations, desktop.Spec{ID: desktop.ID{Tenant: "default", Name: "lab1"}, Target: desktop.Target{TestCard: testcard.Serve}})
	})
	_, err := d.Find(label, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedReleased)
}

// A record that is forgotten leaves the name to the source.
func TestASourceIsAskedForWhatWasRegisteredLongAgo(t *testing.T) {
	asking(t, func(t *testing.T, d *desktop.Service, _ *plane) {
		mustRegister(t, d, "lab1", desktop.Registration{Address: "10.0.0.9:5901"})
		if err := d.Release(t.Context(), "default", "lab1", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(8 * 24 * time.Hour)
		mustRegister(t, d, "lab2", desktop.Registration{Address: "10.0.0.9:5901"}) // looks for old records
		wantLocated(t, d, mustIssue(t, d, "lab1"))
	})
}

// An address has the question of its issue when its viewer comes, so that the last answer is known.
func TestAViewOnlyAddressComesByTheLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(plane)
		p.say(allow("vm-1", ""))
		d := open(t, func(c *desktop.Config) { c.ViewOnly, c.Sources = true, []desktop.Source{p.source(t)} })
		label := mustIssue(t, d, "lab1")
		p.say("")
		time.Sleep(time.Minute)
		wantLocated(t, d, label)
	})
}

// Who may not take over gets a new machine all the same, and an invitation to the old one ends it.
func TestASessionOfTheMachineBeforeOccupiesNothing(t *testing.T) {
	for name, o := range map[string]desktop.Options{"a claim": {Claim: desktop.Yield}, "a guest": {}} {
		asking(t, func(t *testing.T, d *desktop.Service, p *plane) {
			x := enter(t, d, mustIssue(t, d, "lab1"))
			p.say(allow("vm-2", ""))
			time.Sleep(time.Minute)
			if name == "a guest" {
				o.Guest.Host = x.ID
			}
			_, err := d.Issue(dev, "lab1", o)
			if name == "a guest" {
				wantFault(t, err, apierror.NotFound, "")
			} else if err != nil {
				t.Error(err)
			}
			wantEnded(t, x, desktop.ReasonReleased)
		})
	}
}
