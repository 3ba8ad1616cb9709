//go:build unix

package valkey_test

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/source"
)

// plane is a control plane that counts how often it is asked.
type plane struct{ asked atomic.Int64 }

func (p *plane) RoundTrip(*http.Request) (*http.Response, error) {
	p.asked.Add(1)
	const answer = `{"decision":"allow","address":"10.20.0.9:5901","generation":"vm-1","login":{"password":"hunter2"}}`
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// asking are two gateways whose tenant has a source.
func asking(t *testing.T) (e *engines, p *plane, all []*desktop.Service) {
	t.Helper()
	e, p = newEngines(t), new(plane)
	for _, name := range []string{"a", "b"} {
		g := e.node(t, name)
		s, err := source.NewWebhook(source.Webhook{
			URL: "https://control.example.com/", Secrets: []string{"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"},
			Gateway: g.state.Node, Transport: p,
		}, source.Config{Name: "lab", Logger: zap.NewNop(), Now: e.Now})
		if err != nil {
			t.Fatal(err)
		}
		w, err := desktop.New(desktop.Config{
			Policy: desktop.Policy{Domain: "vnc.example.com", Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, State: g.state, Storage: ownStorage(), Random: rand.Reader,
			Sources: []desktop.Source{{ControlPlane: s, Tenants: []string{"default"}, Networks: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")}}},
		})
		if err == nil {
			err = w.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	return e, p, all
}

// enter opens a session at a workstation of the source.
func enter(t *testing.T, w *desktop.Service, label string) *desktop.Session {
	t.Helper()
	pass, err := w.Find(label, viewer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if refusal, _ := pass.Locate(viewer.Addr()); refusal != nil || pass.Target.Password != "hunter2" {
		t.Fatal(refusal)
	}
	x, err := pass.Join(viewer, "test")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Another gateway registers a machine of its own under a name that the source had named.
func TestARegistrationEndsWhatASourceHadNamedEverywhere(t *testing.T) {
	e, _, all := asking(t)
	x := enter(t, all[1], issue(t, all[1], "lab1", desktop.Options{}))
	e.Move(time.Second)
	if _, _, err := all[0].Register(t.Context(), "default", "lab1", desktop.Registration{Address: "10.0.0.9:5901"}); err != nil {
		t.Fatal(err)
	}
	wantEnded(t, x, desktop.ReasonReleased)
}

// A release, or a refresh, at one gateway has all of them ask again.
func TestAllGatewaysAskASourceAgain(t *testing.T) {
	e, p, all := asking(t)
	wantAsked := func(what string, n int64) {
		t.Helper()
		if got := p.asked.Swap(0); got != n {
			t.Errorf("%s: asked %d times, want %d", what, got, n)
		}
	}
	label := issue(t, all[0], "lab1", desktop.Options{})
	issue(t, all[1], "lab1", desktop.Options{})
	issue(t, all[1], "lab1", desktop.Options{})
	wantAsked("each gateway for itself", 2)
	e.Move(time.Second)
	if err := all[0].Sources.Refresh(t.Context(), "default", "lab1"); err != nil {
		t.Fatal(err)
	}
	issue(t, all[1], "lab1", desktop.Options{})
	wantAsked("after a refresh elsewhere", 1)
	x := enter(t, all[1], label)
	e.Move(time.Second)
	if err := all[0].Release(t.Context(), "default", "lab1", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	wantEnded(t, x, desktop.ReasonReleased)
	p.asked.Store(0)
	issue(t, all[1], "lab1", desktop.Options{})
	wantAsked("after a release elsewhere", 1)
}
