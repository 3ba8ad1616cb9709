package l4vnc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mholt/caddy-l4/layer4"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

const domain = "vnc.test"

// emptyStorage keeps nothing.
type emptyStorage struct{}

func (emptyStorage) Store(context.Context, string, []byte) error          { return nil }
func (emptyStorage) Load(context.Context, string) ([]byte, error)         { return nil, fs.ErrNotExist }
func (emptyStorage) Delete(context.Context, string) error                 { return nil }
func (emptyStorage) List(context.Context, string, bool) ([]string, error) { return nil, fs.ErrNotExist }

// fakeGateway has the real workstations, limiter and sessions, with one workstation "one" that the
// test plays, and keeps what they leave behind.
type fakeGateway struct {
	t       *testing.T
	service *workstation.Service
	limiter *connlimit.Limiter
	handler *Handler
	context context.Context
	closed  bool         // no session begins
	desktop conversation // what the workstation says and hears; it echoes what comes afterwards

	left chan struct{} // for each session that has ended

	mu      sync.Mutex // guards the following
	refused []string   // reason and cause of connections without a session
	records []*activity.Record
	dials   int
	demos   int
	running int
}

func (g *fakeGateway) Workstations() *workstation.Service { return g.service }
func (g *fakeGateway) ConnLimiter() *connlimit.Limiter    { return g.limiter }

func (g *fakeGateway) Open(pass *workstation.Pass, viewer netip.AddrPort, security string) (*vncsession.Session, error) {
	if g.closed {
		return nil, workstation.NewRefusal(workstation.RefusedShutdown)
	}
	none := func() float64 { return 0 }
	g.count(&g.running, 1)
	return vncsession.Open(vncsession.Deps{
		Records: g, Logger: zap.NewNop(), Now: time.Now,
		OnShutdown: func(cancel context.CancelCauseFunc) { context.AfterFunc(g.context, func() { cancel(nil) }) },
		Metrics:    metrics.New(metrics.Gauges{ActivityLost: none, InFlight: none, Sessions: none, HalfOpen: none}),
		Redact:     func(text string) string { return text },
		Done:       func() { g.count(&g.running, -1); g.left <- struct{}{} },
	}, pass, viewer, security), nil
}

func (g *fakeGateway) Refused(reason string, viewer netip.AddrPort, cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cause != nil {
		reason += ": " + cause.Error()
	}
	g.refused = append(g.refused, reason)
}

func (g *fakeGateway) WarnOfDemo(string) { g.count(&g.demos, 1) }

func (g *fakeGateway) Append(record *activity.Record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.records = append(g.records, record)
}

func (g *fakeGateway) count(what *int, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*what += n
}

// dial connects to the workstation that the test plays.
func (g *fakeGateway) dial(context.Context, *workstation.Pass) (net.Conn, error) {
	g.count(&g.dials, 1)
	ours, its := net.Pipe()
	go func() {
		defer func() { _ = its.Close() }()
		if conn, err := g.desktop.play(its, 'S'); err == nil {
			_, _ = io.Copy(conn, conn)
		}
	}()
	return ours, nil
}

// maxLeft is more sessions than one test has.
const maxLeft = 1000

// options change what newGateway makes.
type options struct {
	policy  workstation.Policy
	target  workstation.Target
	desktop conversation
}

func newGateway(t *testing.T, o options) *fakeGateway {
	t.Helper()
	o.policy.Domain = domain
	if !o.target.TestCard {
		o.target.Address = "192.0.2.200:5900"
	}
	service, err := workstation.New(workstation.Config{
		Policy:       o.policy,
		Workstations: []workstation.Spec{{ID: workstation.ID{Tenant: "default", Name: "one"}, Target: o.target}},
		State:        workstation.NewState(time.Now), Storage: emptyStorage{}, Random: rand.Reader,
	})
	if err == nil {
		err = service.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	g := &fakeGateway{
		t: t, service: service, limiter: connlimit.New(time.Now), context: context.Background(),
		handler: new(Handler), desktop: o.desktop, left: make(chan struct{}, maxLeft),
	}
	if g.desktop == nil {
		g.desktop = append(desktopNone, desktopInit...)
	}
	if err := g.handler.configure(domain); err != nil {
		t.Fatal(err)
	}
	// Without tickets: over a pipe, a write waits for the peer to read.
	g.handler.settings.tls = &tls.Config{Certificates: []tls.Certificate{certificate()}, SessionTicketsDisabled: true}
	g.handler.settings.dial = g.dial
	g.handler.gateway = g
	g.handler.current = func(context.Context) vncGateway { return g }
	return g
}

// issue returns a new token of workstation "one".
func (g *fakeGateway) issue(o workstation.Options) (token string) {
	g.t.Helper()
	issued, err := g.service.Issue(workstation.Issuer{Tenant: "default", Key: "dev"}, "one", o)
	if err != nil {
		g.t.Fatal(err)
	}
	token, _, _ = strings.Cut(issued.URL, ".")
	return token
}

// connection is a pipe with addresses.
type connection struct {
	net.Conn
	local, remote net.Addr
}

func (c connection) LocalAddr() net.Addr  { return c.local }
func (c connection) RemoteAddr() net.Addr { return c.remote }

func tcpAddr(text string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(text)) }

const viewerAddress = "192.0.2.1:40000"

// connect lets a viewer connect from viewerAddress. done is closed when the handler has returned.
func (g *fakeGateway) connect() (viewer net.Conn, done <-chan struct{}) {
	return g.connectFrom(viewerAddress)
}

func (g *fakeGateway) connectFrom(address string) (viewer net.Conn, done <-chan struct{}) {
	socket, viewer := net.Pipe()
	return viewer, g.handle(layer4.WrapConnection(connection{socket, tcpAddr("127.0.0.1:5900"), tcpAddr(address)}, nil, zap.NewNop()))
}

// handle runs the handler as caddy-l4 does.
func (g *fakeGateway) handle(cx *layer4.Connection) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := g.handler.Handle(cx, nil); err != nil {
			g.t.Errorf("the handler returned %v", err)
		}
		_ = cx.Close()
	}()
	return done
}

// converse connects a viewer, plays its side to the end, and waits for the handler.
func (g *fakeGateway) converse(c conversation) {
	g.t.Helper()
	viewer, done := g.connect()
	c.playToEnd(g.t, viewer)
	<-done
}

// wantRefused checks the reasons of all connections without a session.
func (g *fakeGateway) wantRefused(want ...string) {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if fmt.Sprint(g.refused) != fmt.Sprint(want) {
		g.t.Errorf("refused %q, want %q", g.refused, want)
	}
}

// wantRecord checks how the only session ended: with a code, or with a reason where it was open. No
// session and no half-open connection is left.
func (g *fakeGateway) wantRecord(code, ended string) *activity.Record {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.records) != 1 || g.running != 0 || g.limiter.Pending() != 0 {
		g.t.Fatalf("%d records, %d sessions under way, %d connections half open", len(g.records), g.running, g.limiter.Pending())
	}
	r := g.records[0]
	if r.Code != code || r.Ended != ended {
		g.t.Errorf("code %q, ended %q; want %q, %q", r.Code, r.Ended, code, ended)
	}
	return r
}

var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"*." + domain}, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<37, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

func roots() *x509.CertPool {
	leaf, err := x509.ParseCertificate(certificate().Certificate[0])
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return pool
}

// clientTLS trusts the certificate for the names below the domain; no other name can be verified.
func clientTLS(name string) *tls.Config {
	config := &tls.Config{RootCAs: roots(), ServerName: name}
	label, below := strings.CutSuffix(name, "."+domain)
	config.InsecureSkipVerify = !below || strings.Contains(label, ".")
	return config
}

// loopback is a TCP connection of this machine.
func loopback(t *testing.T) (ours, theirs *net.TCPConn) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if theirs, err = net.DialTCP("tcp", nil, listener.Addr().(*net.TCPAddr)); err != nil {
		t.Fatal(err)
	}
	if ours, err = listener.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	return ours, theirs
}
