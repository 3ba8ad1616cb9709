//go:build linux

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bareFleet is a fleet with bare copies in all three roles.
func bareFleet(t *testing.T) *vncFleet {
	t.Helper()
	f := &vncFleet{fleet: &fleet{dir: t.TempDir(), opts: options{GOGC: "100", MemLimit: "1GiB", GOMAXPROCS: 2}}, frame: newFrame()}
	t.Cleanup(f.close)
	var err error
	if f.cert, err = newCertificate(f.dir); err != nil {
		t.Fatal(err)
	}
	for _, which := range vncServers {
		s, err := f.start(t.Context(), bareCopy)
		if err != nil {
			t.Fatal(err)
		}
		s.role = which
		f.desktops = append(f.desktops, s)
		f.servers = append(f.servers, s.server)
	}
	return f
}

func TestVNCCasesMeasureEveryServer(t *testing.T) {
	f := bareFleet(t)
	r := &runner{opts: options{Time: 40 * time.Millisecond, Sessions: 20}}
	for _, c := range allVNCCases() {
		if c.load == resting {
			continue
		}
		before := make([]counts, len(f.desktops))
		for i, s := range f.desktops {
			before[i] = s.desktop.counts()
		}
		got, err := r.measureVNC(t.Context(), f, f.desktops, c)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for i, s := range f.desktops {
			fig, did := got[s.role], s.desktop.counts().minus(before[i])
			if fig.Calls < 1 || fig.P50 <= 0 || fig.RSS <= 0 {
				t.Errorf("%s %s: %+v", c.name, s.role, fig)
			}
			if did.sessions+did.echoes+did.sent <= int64(fig.Calls) {
				t.Errorf("%s %s: %d calls measured, the desktop did %+v: the warm-up is missing", c.name, s.role, fig.Calls, did)
			}
		}
	}
	r.vncProof.collect(t.Context(), f, true)
	text := strings.Join(r.vncProof.lines(true), "\n")
	if !strings.Contains(text, "TLS 1.3") || !strings.Contains(text, "desktop behind bare: ") || strings.Contains(text, "traces of the gateways") {
		t.Errorf("the proof is\n%s", text)
	}
	fig, err := r.measureIdle(t.Context(), f, bareCopy, "vnc-idle")
	if err != nil || fig.Calls != 20 || fig.Held <= 0 {
		t.Errorf("idle sessions: %+v, %v", fig, err)
	}
	f.desktops[1].proc.Stop()
	if _, err := r.measureVNC(t.Context(), f, f.desktops, allVNCCases()[0]); err == nil || !strings.Contains(err.Error(), string(bareCopy)) {
		t.Errorf("measuring a dead server: %v", err)
	}
}

func TestWorkThatTheDesktopDidNotSeeFailsTheCase(t *testing.T) {
	s := &vncServer{server: &server{role: gateway}, desktop: testDesktop(t)}
	s.desktop.sessions.Add(3)
	if err := s.did(counts{sessions: 1}, counts{sessions: 2}); err != nil {
		t.Errorf("what was done is denied: %v", err)
	}
	for _, want := range []counts{{sessions: 1}, {sessions: 3}, {sessions: 2, echoes: 1}, {sessions: 2, sent: 1}} {
		if err := s.did(counts{sessions: 1}, want); err == nil || !strings.Contains(err.Error(), string(gateway)) {
			t.Errorf("viewers that had %+v: %v", want, err)
		}
	}
	spoken(t, s.desktop, "nonsense, and more of it")
	if err := s.did(s.desktop.counts(), counts{}); err == nil {
		t.Error("a complaint of the desktop is passed over")
	}
}

func TestSessionsThatNoFileIsLeftForAreRefused(t *testing.T) {
	r := &runner{opts: options{Sessions: 1 << 40}}
	if _, err := r.measureIdle(t.Context(), nil, bareCopy, "vnc-idle"); err == nil || !strings.Contains(err.Error(), "open files") {
		t.Errorf("more sessions than files: %v", err)
	}
}

func TestOtherTLSIsNoFairComparison(t *testing.T) {
	var p vncProof
	same := tls.ConnectionState{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256, CurveID: tls.X25519MLKEM768}
	if err := p.sameTLS(l4TLS, same); err != nil {
		t.Fatal(err)
	}
	if err := p.sameTLS(gateway, same); err != nil {
		t.Errorf("the same again: %v", err)
	}
	suite, curve, resumed := same, same, same
	suite.CipherSuite, curve.CurveID, resumed.DidResume = tls.TLS_CHACHA20_POLY1305_SHA256, tls.X25519, true
	for _, other := range []tls.ConnectionState{suite, curve, resumed} {
		if err := p.sameTLS(gateway, other); err == nil || !strings.Contains(err.Error(), string(gateway)) {
			t.Errorf("%s passed for %s: %v", tlsOf(other), p.TLS, err)
		}
	}
}

func TestAddressIsAskedForAsAUserDoes(t *testing.T) {
	status, answer := http.StatusOK, `{"vnc_url":"token.vnc.localhost:5900","expires_at":"x"}`
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/workstations/desk1/vnc" || r.Header.Get("Authorization") != "Bearer sk-x" {
			t.Errorf("asked %s %s with %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
		w.WriteHeader(status)
		io.WriteString(w, answer)
	})
	f := &vncFleet{fleet: &fleet{secrets: secrets{gateway: "sk-x"}}}
	s := &vncServer{server: &server{role: gateway, addr: "127.0.0.1:5900"}, api: api}
	d, err := f.endpoint(t.Context(), s, true)
	if err != nil || d.name != "token.vnc.localhost" || d.addr != s.addr || !d.vencrypt {
		t.Errorf("the endpoint is %+v, %v", d, err)
	}
	s.addr = "127.0.0.1:5901"
	if _, err := f.endpoint(t.Context(), s, false); err == nil || !strings.Contains(err.Error(), "port 5900") {
		t.Errorf("another port: %v", err)
	}
	for _, bad := range []struct {
		status int
		answer string
	}{{http.StatusForbidden, `{"error":{}}`}, {http.StatusOK, `{}`}, {http.StatusOK, `no JSON`}} {
		status, answer = bad.status, bad.answer
		if _, err := f.endpoint(t.Context(), s, false); err == nil || !strings.Contains(err.Error(), "asking for a VNC address") {
			t.Errorf("answered %d %s: %v", bad.status, bad.answer, err)
		}
	}
	s.api = ""
	if d, err := f.endpoint(t.Context(), s, true); err != nil || d.name != benchWorkstation+"."+vncDomain || d.vencrypt {
		t.Errorf("without a gateway the endpoint is %+v, %v", d, err)
	}
}

func TestProofHoldsTheGatewayToItsTraces(t *testing.T) {
	log := filepath.Join(t.TempDir(), "process.log")
	if err := os.WriteFile(log, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const page = `# HELP gatehouse_vnc_sessions_total x
gatehouse_vnc_sessions_total{ended="viewer",security="none"} 4
gatehouse_vnc_sessions_total{ended="viewer",security="x509none"} 1
gatehouse_vnc_bytes_total{direction="down"} 3e+06
gatehouse_vnc_bytes_total{direction="up"} 7e+06
`
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			io.WriteString(w, page)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"data": []map[string]int{{"requests": 6}}})
	})
	f := &vncFleet{fleet: &fleet{secrets: secrets{audit: "sk-audit"}}}
	s := &vncServer{server: &server{role: gateway, admin: addr, log: log}, api: addr}
	var p vncProof
	for range 2 {
		p.collectGateway(t.Context(), f, s, counts{sessions: 5, sent: 2_000_000})
	}
	if p.Sessions != 10 || p.Down != 6 || p.LogLines != 4 || p.Recorded != 12 || p.Missing != nil {
		t.Errorf("two rounds left %+v", p.lines(false))
	}
	over, stop := context.WithCancel(t.Context())
	stop() // it does not wait for sessions that may still end
	p.collectGateway(over, f, s, counts{sessions: 6, sent: 4_000_000})
	if said := strings.Join(p.lines(false), "\n"); !strings.Contains(said, "not proved: metrics: ") {
		t.Errorf("a gateway that lost a session is believed:\n%s", said)
	}
}
