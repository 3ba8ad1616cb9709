//go:build unix && !race

package clustertest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// users reloads gateway i with a console at which everybody is alice, and with users of its own.
func (p *proof) users(i int, users string) {
	p.t.Helper()
	g := p.Gateways[i]
	path := filepath.Join(g.Dir(), "Caddyfile")
	text, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), "\tgatehouse_console")
	_, after, found := strings.Cut(rest, "\tgatehouse\n")
	if !found {
		p.t.Fatalf("%s has no console", path)
	}
	console := "\tgatehouse_console {\n\t\tsign_in user {env.PROOF_USER} {\n" + users + "\n* refuse\n\t\t}\n\t}\n\tgatehouse\n"
	if err := os.WriteFile(path, []byte(before+console+after), 0o600); err != nil {
		p.t.Fatal(err)
	}
	if err := g.Reload(); err != nil {
		p.t.Fatal(err)
	}
}

// The first gateway that drops a user ends the sessions of all, and the browsers' desktops at all. Each
// other one lets the user in again until it is reloaded, too.
func TestAUserWhomAReloadDropsIsSignedOutEverywhere(t *testing.T) {
	const beat = 2 * time.Second
	p := newProof(t, clustertest.Start(t, clustertest.Config{
		Caddy: caddy(t), Gateways: 2, Engines: clustertest.StartEngines(t), Options: keys, Environment: slices.Concat(environment, []string{"PROOF_USER=alice"}), Alone: true,
	}))
	for i := range p.Gateways {
		p.users(i, "alice as desk")
	}
	resp := p.browse(0, http.MethodGet, "/console/about", "", nil)
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		t.Fatalf("alice: %s", resp.Status)
	}
	cookie := resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
	here, there := p.connect(0, cookie, p.order(0, cookie)), p.connect(1, cookie, p.order(0, cookie))
	p.users(0, "bob as desk")
	reloaded := time.Now()
	p.wantEnd(here, signedOut, reloaded)
	p.wantEnd(there, signedOut, reloaded.Add(beat))
	if status := p.page(0, cookie); status != http.StatusForbidden {
		t.Errorf("a page of the gateway that was reloaded: %d", status)
	}
	resp = p.browse(1, http.MethodGet, "/console/about", cookie, nil)
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 || strings.HasSuffix(cookie, resp.Cookies()[0].Value) {
		t.Errorf("a page of the other one: %s with the cookies %v, want a new session", resp.Status, resp.Cookies())
	}
	p.users(1, "bob as desk")
	if status := p.page(1, cookie); status != http.StatusForbidden {
		t.Errorf("a page of the other one after its reload: %d", status)
	}
}
