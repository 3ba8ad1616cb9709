//go:build unix && !race

package clustertest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// One cluster for what only reads and writes: each part has keys of its own.
func TestTwoGatewaysServeAsOne(t *testing.T) {
	p := start(t, 2)
	for _, part := range []struct {
		name string
		run  func(p *proof)
	}{
		{"a rate", (*proof).rate},
		{"concurrency", (*proof).concurrency},
		{"a queue", (*proof).queue},
		{"a key made at run time", (*proof).runtimeKey},
		{"a desktop in a browser", (*proof).consoleDesktop},
		{"activity", (*proof).activity},
		{"a stored response", (*proof).storedResponse},
		{"a desktop", (*proof).desktop},
		{"a viewer without a name", (*proof).namelessViewer},
		{"a sign-in to the console", (*proof).console},
		{"a wrong key", (*proof).wrongKey},
		{"the operator's command", (*proof).command},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(newProof(t, p.Cluster)) })
	}
}

func (p *proof) rate() {
	answers := p.calls(120, 12, p.quick("rated"))
	if !answers.only("200", "429 rate_limit_exceeded") || answers.of("200") != 40 {
		p.t.Errorf("a rate of 40: %v", answers)
	}
}

// hold opens streams of metered/held at the gateways in turn and returns those that were let in.
func (p *proof) hold(n int, key string, gateways ...int) (open []*http.Response, refused int) {
	p.t.Helper()
	for i := range n {
		resp, err := p.at(gateways[i%len(gateways)], key).Open(p.t.Context(), "POST", chatPath,
			clustertest.Chat("metered/held", key, `,"stream":true,"max_tokens":100`))
		if err != nil {
			p.t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK {
			resp.Body.Close()
			refused++
			continue
		}
		open = append(open, resp)
	}
	return open, refused
}

// leave ends streams as clients do that go away.
func leave(open []*http.Response) {
	for _, resp := range open {
		resp.Body.Close()
	}
}

func (p *proof) concurrency() {
	for range 2 { // the places come back
		open, refused := p.hold(8, "gated", 0, 1)
		if len(open) != 4 || refused != 4 {
			p.t.Errorf("%d calls of 8 were let in, of a concurrency of 4", len(open))
		}
		leave(open)
		p.soon("the calls' end", func() error {
			if now, _ := p.Provider.Inside("gated"); now > 0 {
				return fmt.Errorf("%d calls are under way", now)
			}
			return nil
		})
		p.soon("all places at one gateway", func() error {
			open, _ := p.hold(4, "gated", 1)
			leave(open)
			if len(open) != 4 {
				return fmt.Errorf("%d are free", len(open))
			}
			return nil
		})
		p.soon("a place", func() error { return p.status(200, p.at(0, "gated"), "metered/quick") })
	}
}

// status makes a call and returns an error unless it has that status.
func (p *proof) status(want int, c clustertest.Client, model string) error {
	a, err := c.Do(p.t.Context(), "POST", chatPath, clustertest.Chat(model, "", `,"max_tokens":100`))
	if err == nil && a.Status != want {
		err = fmt.Errorf("%s, want %d", a, want)
	}
	return err
}

func (p *proof) queue() {
	began := time.Now()
	answers := p.calls(40, 40, p.call("queued", "metered/slow"))
	took := time.Since(began)
	if _, most := p.Provider.Inside("queued"); most > 2 || !answers.only("200") {
		p.t.Errorf("%d calls were at the provider at once, of a concurrency of 2; %v", most, answers)
	}
	p.t.Logf("40 calls of 50 ms, two at a time, took %v: 1 s without any wait for a place", took.Round(time.Millisecond))
}

// madeKey is a key made at run time.
type madeKey struct{ hash, secret string }

func (p *proof) makeKey(i int) madeKey {
	p.t.Helper()
	a := p.want(201, p.at(i, "manager"), "POST", "/api/v1/keys", `{"name":"made"}`)
	var body struct {
		Key  string
		Data struct{ Hash string }
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || body.Key == "" {
		p.t.Fatalf("%s: %v", a, err)
	}
	return madeKey{body.Data.Hash, body.Key}
}

func (p *proof) runtimeKey() {
	key := p.makeKey(0)
	at := func(i int) clustertest.Client {
		return clustertest.Client{Origin: p.Gateways[i].Origin, Key: key.secret}
	}
	made := p.within(2*time.Second, "the key at the other gateway", func() error { return p.status(200, at(1), "fake/echo") })
	p.want(200, p.at(1, "manager"), "GET", "/api/v1/keys/"+key.hash, "")
	p.want(200, p.at(0, "manager"), "DELETE", "/api/v1/keys/"+key.hash, "")
	gone := p.within(2*time.Second, "the end of the key at the other gateway", func() error { return p.status(401, at(1), "fake/echo") })
	p.t.Logf("a key works at the other gateway after %v, and no more after %v", made.Round(time.Millisecond), gone.Round(time.Millisecond))
}

func (p *proof) activity() {
	var slowest time.Duration
	for range 10 {
		a := p.chat(p.at(0, "plain"), "fake/echo")
		began := time.Now()
		rows, err := p.at(1, "reader").Rows(p.t.Context(), "request_id="+a.Header.Get("X-Request-Id"))
		slowest = max(slowest, time.Since(began))
		if err != nil || len(rows) != 1 || rows[0].Status != 200 {
			p.t.Errorf("the other gateway has %+v of a call that has ended: %v", rows, err)
		}
	}
	if slowest > time.Second {
		p.t.Errorf("a query took %v", slowest)
	}
	a := p.chat(p.at(0, "plain"), "fake/echo")
	rows, err := p.at(1, "reader").Rows(p.t.Context(), "id="+a.Header.Get("X-Request-Id"))
	if err != nil || len(rows) != 1 || rows[0].Status != 200 {
		p.t.Errorf("the other gateway has %+v of an id: %v", rows, err)
	}
	for i, g := range p.Gateways {
		var about struct {
			Cluster struct{ Name, Node string }
			Store   struct {
				Rows int64 `json:"rows_bytes"`
			}
		}
		a := p.want(200, p.at(i, "reader"), "GET", "/v1/about", "")
		if err := json.Unmarshal(a.Body, &about); err != nil || about.Cluster.Name == "" || about.Cluster.Node != g.Name || about.Store.Rows == 0 {
			p.t.Errorf("gateway %s says of itself %s", g.Name, a.Body)
		}
	}
	p.t.Logf("the row of a call is seen at the other gateway by the first query, which takes at most %v", slowest.Round(time.Millisecond))
}

func (p *proof) storedResponse() {
	const path = "/v1/responses"
	a := p.want(200, p.at(0, "plain"), "POST", path, `{"model":"fake/echo","input":"say hello","store":true}`)
	var body struct{ ID string }
	if err := json.Unmarshal(a.Body, &body); err != nil {
		p.t.Fatal(err)
	}
	follow := `{"model":"fake/echo","input":"go on","previous_response_id":"` + body.ID + `"}`
	p.want(200, p.at(1, "plain"), "POST", path, follow)
	if a := p.do(p.at(1, "other"), "POST", path, follow); !strings.Contains(string(a.Body), "previous_response_not_found") {
		p.t.Errorf("another tenant's response: %s", a)
	}
}

func (p *proof) desktop() {
	ctx := p.t.Context()
	desk := func(i int) clustertest.Client { return p.at(i, "desk") }
	for _, to := range []string{p.Gateways[1].VNC, p.Balancer.VNC, p.Balancer.VNC} {
		host, err := desk(0).Issue(ctx, "demo")
		if err != nil {
			p.t.Fatal(err)
		}
		v, err := p.View(ctx, to, host)
		if err != nil {
			p.t.Fatalf("an address of the first gateway at %s: %v", to, err)
		}
		second, err := desk(1).Issue(ctx, "demo")
		if err != nil {
			p.t.Fatal(err)
		}
		for _, g := range p.Gateways { // on_conflict refuse
			if w, err := p.View(ctx, g.VNC, second); err == nil {
				p.t.Errorf("a second viewer is let in at %s", g.Name)
				w.Close()
			}
		}
		began := time.Now()
		p.want(204, desk(0), "DELETE", "/v1/workstations/demo", "")
		end, err := v.Ended(waitLimit)
		if took := end.Sub(began); err != nil || took > time.Second {
			p.t.Errorf("released at the first gateway, the session at %s ended after %v: %v", to, took, err)
		} else {
			p.t.Logf("released at the first gateway, the session ended after %v", took.Round(time.Millisecond))
		}
		if w, err := p.View(ctx, p.Gateways[1].VNC, host); err == nil {
			p.t.Error("an address of a released desktop opens it")
			w.Close()
		}
		p.want(200, desk(1), "PUT", "/v1/workstations/demo", "{}")
		p.soon("the desktop at the first gateway again", func() error {
			_, err := desk(0).Issue(ctx, "demo")
			return err
		})
	}
}

// namelessViewer is refused at one gateway, and connects again to the other: there it is asked for a
// password.
func (p *proof) namelessViewer() {
	const again = 1800 * time.Millisecond // the pause of libvncclient
	for i, g := range p.Gateways {
		first, err := p.ViewNameless(p.t.Context(), g.VNC)
		if want := []uint32{clustertest.X509None, clustertest.X509Plain}[i]; err != nil || first != want {
			p.t.Errorf("%s offers type %d first, want %d: %v", g.Name, first, want, err)
		}
		p.wait(again)
	}
}

func (p *proof) wrongKey() {
	for i := range p.Gateways {
		if a := p.chat(clustertest.Client{Origin: p.Gateways[i].Origin, Key: "gk-nobody"}, "fake/echo"); a.Status != 401 {
			p.t.Errorf("%s", a)
		}
	}
}

// command waits for a beat, with which a gateway hears of the other.
func (p *proof) command() {
	p.soon("both nodes", func() error {
		text, err := p.Gateways[0].Command("gatehouse", "cluster")
		if err != nil || !containsAll(text, p.Gateways[0].Name, p.Gateways[1].Name) {
			return fmt.Errorf("the command shows %s: %w", text, err)
		}
		return nil
	})
}
