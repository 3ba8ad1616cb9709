//go:build linux

package main

import (
	"crypto/tls"
	"fmt"
	"sync"
)

// vncProof is the work of the desktops over all rounds. Each case also checks that the viewers
// received neither more nor less.
type vncProof struct {
	Desktops map[role]desktopProof `json:"desks"`
	TLS      string                `json:"tls"` // the same at every server

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

// collect reads the counts of a round.
func (p *vncProof) collect(f *vncFleet) {
	if p.Desktops == nil {
		p.Desktops = map[role]desktopProof{}
	}
	for _, s := range f.desktops {
		c, sum := s.desktop.counts(), p.Desktops[s.role]
		sum.Sessions += c.sessions
		sum.Echoes += c.echoes
		sum.MB += float64(c.sent) / megabyte
		p.Desktops[s.role] = sum
	}
}

func (p *vncProof) lines() []string {
	out := []string{"TLS everywhere: " + p.TLS + ", no resumption"}
	for _, which := range vncServers {
		d := p.Desktops[which]
		out = append(out, fmt.Sprintf("desktop behind %s: %d sessions, %d pointers answered, %.0f MB of frames, every one checked at its viewer", which, d.Sessions, d.Echoes, d.MB))
	}
	return out
}
