//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// vncProof is the work of the desktops and the traces of the gateways, over all rounds. Each case
// also checks that the viewers received neither more nor less.
type vncProof struct {
	Desktops map[role]desktopProof `json:"desks"`
	TLS      string                `json:"tls"`               // the same at every server
	Sessions int                   `json:"sessions_measured"` // that the gateways' metrics count as ended
	Down     float64               `json:"mb_measured"`       // that their metrics count towards viewers
	LogLines int                   `json:"log_lines"`
	Recorded int                   `json:"activity_requests"`
	Missing  []string              `json:"missing,omitempty"`

	mu sync.Mutex
}

// desktopProof is the work of one server's desktop.
type desktopProof struct {
	Sessions int64   `json:"sessions"`
	Echoes   int64   `json:"echoes"`
	MB       float64 `json:"mb"`
}

// sameTLS returns an error if a connection differs from the earlier ones in what determines its
// cost.
func (p *vncProof) sameTLS(which role, s tls.ConnectionState) error {
	text := tlsOf(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.TLS == "" {
		p.TLS = text
	}
	if p.TLS != text {
		return fmt.Errorf("%s speaks %s, what came before it %s", which, text, p.TLS)
	}
	return nil
}

// tlsOf names what determines the cost of a TLS connection.
func tlsOf(s tls.ConnectionState) string {
	key := "no certificate"
	if len(s.PeerCertificates) > 0 {
		key = s.PeerCertificates[0].PublicKeyAlgorithm.String()
	}
	text := fmt.Sprintf("%s, %s, %s, %s", tls.VersionName(s.Version), tls.CipherSuiteName(s.CipherSuite), s.CurveID, key)
	if s.DidResume {
		text += ", resumed"
	}
	return text
}

// closeTime is how long a server may take to notice that its viewers have disconnected.
const closeTime = 3 * time.Second

// collect reads the traces of a round before its servers are stopped.
func (p *vncProof) collect(ctx context.Context, f *vncFleet, self bool) {
	if p.Desktops == nil {
		p.Desktops = map[role]desktopProof{}
	}
	for _, s := range f.desktops {
		c, sum := s.desktop.counts(), p.Desktops[s.role]
		sum.Sessions += c.sessions
		sum.Echoes += c.echoes
		sum.MB += float64(c.sent) / megabyte
		p.Desktops[s.role] = sum
		if s.role == gateway && !self {
			p.collectGateway(ctx, f, s, c)
		}
	}
}

func (p *vncProof) collectGateway(ctx context.Context, f *vncFleet, s *vncServer, did counts) {
	// A session is counted when it has ended, a moment after its viewer has disconnected.
	sessions, down := 0.0, 0.0
	deadline := time.Now().Add(closeTime)
	for {
		page, err := s.adminGet(ctx, "/metrics")
		if err != nil {
			p.note("metrics", err)
			break
		}
		sessions, down = sumSeries(page, "gatehouse_vnc_sessions_total"), sumSeries(page, `gatehouse_vnc_bytes_total{direction="down"`)
		if int64(sessions) >= did.sessions {
			break
		}
		if time.Now().After(deadline) || sleep(ctx, settleTime) != nil {
			p.note("metrics", fmt.Errorf("%.0f sessions have ended, the desktop had %d", sessions, did.sessions))
			break
		}
	}
	if down < float64(did.sent) {
		p.note("metrics", fmt.Errorf("%.0f bytes went to viewers, the desktop sent %d in frames", down, did.sent))
	}
	p.Sessions += int(sessions)
	p.Down += down / megabyte
	lines, err := countLines(s.log)
	p.LogLines += lines
	p.note("log", err)
	requests, _, err := activity(ctx, s.api, f.secrets.audit)
	p.Recorded += requests
	p.note("activity", err)
}

// note records what could not be shown.
func (p *vncProof) note(what string, err error) { p.Missing = noteOnce(p.Missing, what, err) }

// sumSeries adds up the series of a page of metrics that begin with prefix.
func sumSeries(page []byte, prefix string) float64 {
	sum := 0.0
	for line := range bytes.Lines(page) {
		text := strings.TrimSpace(string(line))
		if !strings.HasPrefix(text, prefix) {
			continue
		}
		if v, err := strconv.ParseFloat(text[strings.LastIndexByte(text, ' ')+1:], 64); err == nil {
			sum += v
		}
	}
	return sum
}

func (p *vncProof) lines(self bool) []string {
	out := []string{"TLS everywhere: " + p.TLS + ", no resumption"}
	for _, which := range vncServers {
		d := p.Desktops[which]
		out = append(out, fmt.Sprintf("desktop behind %s: %d sessions, %d pointers answered, %.0f MB of frames, every one checked at its viewer", which, d.Sessions, d.Echoes, d.MB))
	}
	if !self {
		out = append(out, fmt.Sprintf("traces of the gateways: %d sessions with %.0f MB in their metrics, %d requests in the activity, %d log lines", p.Sessions, p.Down, p.Recorded, p.LogLines))
	}
	for _, m := range p.Missing {
		out = append(out, "not proved: "+m)
	}
	return out
}
