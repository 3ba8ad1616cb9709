package l4vnc

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestTheMatcherLooksForALiveToken(t *testing.T) {
	g := newGateway(t, options{})
	m := &MatchToken{workstations: g.Service}
	token := g.Issue(desktop.Options{})
	for name, want := range map[string]bool{
		token + "." + domain:                    true,
		strings.ToUpper(token) + "." + domain:   true,
		token:                                   false,
		token + ".other.test":                   false,
		"www." + token + "." + domain:           false,
		strings.Repeat("a2", 13) + "." + domain: false,
		"":                                      false,
	} {
		for range 2 { // a match uses nothing up
			if m.Match(&tls.ClientHelloInfo{ServerName: name}) != want {
				t.Errorf("%q: matched %v", name, !want)
			}
		}
	}
	if err := g.Service.Release(t.Context(), "default", "one", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	if m.Match(&tls.ClientHelloInfo{ServerName: token + "." + domain}) {
		t.Error("a dead token matches")
	}
}
