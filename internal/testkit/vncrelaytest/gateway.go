// Package vncrelaytest has what tests of viewers' connections share: a gateway with one workstation
// that the test plays, and the conversations of both sides.
//
//	g := vncrelaytest.New(t, vncrelaytest.Options{})
//	token := g.Issue(desktop.Options{})
//	…                                // serve a viewer through g and g.Dial
//	g.WantRecord("", "viewer_left")
package vncrelaytest

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// Domain is that of the tokens.
const Domain = "vnc.test"

// Issuer is the key of all tokens.
var Issuer = desktop.Issuer{Tenant: "default", Key: "dev", KeyHash: "5e1f"}

// Gateway has the real workstations, limiter and sessions, with one workstation "one" that the test
// plays, and keeps what they leave behind. It is a vncrelay.Gateway.
type Gateway struct {
	T       *testing.T // nil in a benchmark
	Service *desktop.Service
	State   *desktop.State
	Limiter *connlimit.Limiter
	Context context.Context // of the process
	Closed  bool            // no session begins
	Desktop Conversation    // what the workstation says and hears; it echoes what comes afterwards

	Left chan struct{} // for each session that has ended

	recordings *recording.Store

	mu    sync.Mutex // guards the following
	marks Marks
}

// Marks are what connections leave behind.
type Marks struct {
	Refused []string // reason and cause of connections without a session
	Records []*activity.Record
	Dials   int
	Demos   int
	Running int // sessions
}

// Options change what New makes.
type Options struct {
	Policy  desktop.Policy
	Target  desktop.Target
	Desktop Conversation // default: no password, 1280x720, "one"
	Tenants []string     // besides "default", that have a workstation "one" too

	Recordings *recording.Store
}

// maxLeft is more sessions than one test has.
const maxLeft = 1000

// New returns a gateway of its own for a test.
func New(t testing.TB, o Options) *Gateway {
	t.Helper()
	o.Policy.Domain = Domain
	if o.Target.TestCard == nil {
		o.Target.Address = "192.0.2.200:5900"
	}
	state := memory.NewState(time.Now)
	var workstations []desktop.Spec
	for _, tenant := range append(o.Tenants, "default") {
		workstations = append(workstations, desktop.Spec{ID: desktop.ID{Tenant: tenant, Name: "one"}, Target: o.Target})
	}
	service, err := desktop.New(desktop.Config{
		Policy: o.Policy, Workstations: workstations,
		State: state, Storage: new(desktoptest.Storage), Random: rand.Reader,
	})
	if err == nil {
		err = service.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	test, _ := t.(*testing.T)
	g := &Gateway{
		T: test, Service: service, State: state, Limiter: connlimit.New(time.Now), Context: context.Background(),
		Desktop: o.Desktop, Left: make(chan struct{}, maxLeft), recordings: o.Recordings,
	}
	if g.Desktop == nil {
		g.Desktop = Join(DesktopNone, DesktopInit)
	}
	return g
}

// Workstations implements vncrelay.Gateway.
func (g *Gateway) Workstations() *desktop.Service { return g.Service }

// ConnLimiter implements vncrelay.Gateway.
func (g *Gateway) ConnLimiter() *connlimit.Limiter { return g.Limiter }

// Open implements vncrelay.Gateway.
func (g *Gateway) Open(pass *desktop.Pass, viewer netip.AddrPort, security string) (*vncsession.Session, error) {
	if g.Closed {
		return nil, desktop.NewRefusal(desktop.RefusedShutdown)
	}
	none := func() float64 { return 0 }
	g.note(func(m *Marks) { m.Running++ })
	return vncsession.Open(vncsession.Deps{
		Records: records{g}, Logger: zap.NewNop(), Now: time.Now,
		OnShutdown: func(cancel context.CancelCauseFunc) {
			context.AfterFunc(g.Context, func() { cancel(context.Cause(g.Context)) })
		},
		Metrics: metrics.New(metrics.Gauges{ActivityLost: none, InFlight: none, Sessions: none, HalfOpen: none}),
		Redact:  func(text string) string { return text }, Recordings: g.recordings,
		Done: func() { g.note(func(m *Marks) { m.Running-- }); g.Left <- struct{}{} },
	}, pass, viewer, security), nil
}

// Refused implements vncrelay.Gateway.
func (g *Gateway) Refused(reason string, _ netip.AddrPort, cause error) {
	if cause != nil {
		reason += ": " + cause.Error()
	}
	g.note(func(m *Marks) { m.Refused = append(m.Refused, reason) })
}

// WarnOfDemo implements vncrelay.Gateway.
func (g *Gateway) WarnOfDemo(string) { g.note(func(m *Marks) { m.Demos++ }) }

// records keeps the records of sessions.
type records struct{ *Gateway }

func (r records) Append(record *activity.Record) {
	r.note(func(m *Marks) { m.Records = append(m.Records, record) })
}

func (g *Gateway) note(change func(*Marks)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.marks)
}

// Marks returns what connections have left behind so far.
func (g *Gateway) Marks() Marks {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.marks
}

// Dial connects to the workstation that the test plays.
func (g *Gateway) Dial(context.Context, *desktop.Pass) (net.Conn, error) {
	g.note(func(m *Marks) { m.Dials++ })
	ours, its := net.Pipe()
	go func() {
		defer func() { _ = its.Close() }()
		if conn, err := g.Desktop.Play(its, 'S'); err == nil {
			_, _ = io.Copy(conn, conn)
		}
	}()
	return ours, nil
}

// Issue returns a new token of workstation "one".
func (g *Gateway) Issue(o desktop.Options) (token string) {
	g.T.Helper()
	issued, err := g.Service.Issue(Issuer, "one", o)
	if err != nil {
		g.T.Fatal(err)
	}
	token, _, _ = strings.Cut(issued.URL, ".")
	return token
}

// Find returns the pass of a token, for a viewer at 192.0.2.1.
func (g *Gateway) Find(token string) *desktop.Pass {
	g.T.Helper()
	pass, err := g.Service.Find(token, netip.MustParseAddr("192.0.2.1"))
	if err != nil {
		g.T.Fatal(err)
	}
	return pass
}

// JoinAs opens a session from an address, without a connection.
func (g *Gateway) JoinAs(token, viewer string) *desktop.Session {
	g.T.Helper()
	from := netip.MustParseAddrPort(viewer)
	pass, err := g.Service.Find(token, from.Addr())
	if err != nil {
		g.T.Fatal(err)
	}
	session, err := pass.Join(from, "X509None")
	if err != nil {
		g.T.Fatal(err)
	}
	return session
}

// WantRefused checks the reasons of all connections without a session.
func (g *Gateway) WantRefused(want ...string) {
	g.T.Helper()
	if got := g.Marks().Refused; fmt.Sprint(got) != fmt.Sprint(want) {
		g.T.Errorf("refused %q, want %q", got, want)
	}
}

// WantRecord checks how the only session ended: with a code, or with a reason where it was open. No
// session and no half-open connection is left.
func (g *Gateway) WantRecord(code, ended string) *activity.Record {
	g.T.Helper()
	m := g.Marks()
	if len(m.Records) != 1 || m.Running != 0 || g.Limiter.Pending() != 0 {
		g.T.Fatalf("%d records, %d sessions under way, %d connections half open", len(m.Records), m.Running, g.Limiter.Pending())
	}
	r := m.Records[0]
	if r.Code != code || r.Ended != ended {
		g.T.Errorf("code %q, ended %q; want %q, %q", r.Code, r.Ended, code, ended)
	}
	return r
}
