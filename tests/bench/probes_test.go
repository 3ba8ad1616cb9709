//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// allDutiesGateway answers probes like a gateway with every duty on.
type allDutiesGateway struct {
	t      *testing.T
	dir    string
	calls  atomic.Int64
	mu     sync.Mutex
	inside int
}

func (g *allDutiesGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%q}}`, code)
	}
	switch r.URL.Path {
	case budgetsPath:
		io.WriteString(w, `[{"subject":"key:bench","unit":"usd","spent":"0.5","reserved":"0.25"},`+
			`{"subject":"key:bench","unit":"tokens","spent":"40","reserved":"3"},{"subject":"tenant:bench","unit":"usd","spent":"0.75","reserved":"0.25"}]`)
		return
	case activityPath:
		cost, completion := "0.75", 30
		switch q := r.URL.Query(); {
		case q.Get("key") == benchKey:
			cost = "0.5"
		case q.Get("request_id") != "":
			completion = answerTokens
		}
		fmt.Fprintf(w, `{"data":[{"requests":2,"prompt_tokens":10,"completion_tokens":%d,"usage":%s,"status":499,"usage_source":"provider","priced":true,"output_cap":%d}]}`,
			completion, cost, outputCap)
		return
	}
	body, err := io.ReadAll(r.Body)
	var asked struct {
		Model           string
		Stream          bool
		Messages, Tools []any
	}
	if err != nil || json.Unmarshal(body, &asked) != nil {
		g.t.Errorf("a probe sent %q, %v", body, err)
	}
	w.Header().Set("X-Request-Id", "req_1")
	switch {
	case len(asked.Messages) > mostMessages, len(asked.Tools) > mostTools:
		refuse(400, "invalid_value")
		return
	case strings.Contains(string(body), "ghp_"), asked.Model == providerPrefix+modelLeak && !asked.Stream:
		refuse(422, "guardrail_blocked")
		return
	case asked.Model == providerPrefix+modelLeak:
		io.WriteString(w, `data: {"error":{"code":"guardrail_blocked"}}`)
		return
	case asked.Model == providerPrefix+modelMasked:
		io.WriteString(w, maskedAddress+maskedCard)
		return
	case asked.Model == providerPrefix+modelHeld:
		if !g.enter() {
			<-time.After(queueWait)
			refuse(429, "concurrency_limit_exceeded")
			return
		}
		if err := os.WriteFile(filepath.Join(g.dir, "gatehouse.db-wal"), []byte("...req_1/bench..."), 0o600); err != nil {
			g.t.Error(err)
		}
	}
	left := fmt.Sprint(1000 - g.calls.Add(1))
	w.Header().Set("X-Ratelimit-Remaining-Requests", left)
	w.Header().Set("X-Ratelimit-Remaining-Tokens", left)
	if asked.Stream {
		io.WriteString(w, "data: {}\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func (g *allDutiesGateway) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside++
	return g.inside <= callsAtOnce
}

// asProber returns a prober of a handler.
func asProber(t *testing.T, dir string, h http.HandlerFunc) *prober {
	addr := serve(t, h)
	return &prober{&server{role: gatewayOn, addr: addr, admin: addr, dir: dir, renames: true}, newSecrets()}
}

func TestProbesPassWhereDutiesAreOn(t *testing.T) {
	dir := t.TempDir()
	p := asProber(t, dir, (&allDutiesGateway{t: t, dir: dir}).ServeHTTP)
	for _, one := range probes {
		if err := one.run(t.Context(), p); err != nil {
			t.Errorf("%s: %v", one.what, err)
		}
	}
}

// TestProbesFailWhereDutiesAreOff probes the upstream itself, which has none of a gateway's duties.
func TestProbesFailWhereDutiesAreOff(t *testing.T) {
	up := newUpstream(testKey)
	p := asProber(t, t.TempDir(), func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case budgetsPath:
			io.WriteString(w, `[]`)
		case activityPath:
			io.WriteString(w, `{"data":[{"requests":1,"usage_source":"estimated"}]}`)
		default:
			w.Header().Set("X-Request-Id", "req_1")
			up.ServeHTTP(w, r)
		}
	})
	for _, one := range probes {
		if err := one.run(t.Context(), p); err == nil {
			t.Errorf("%s, says a probe of no gateway", one.what)
		}
	}
}

func TestEveryDutyIsProbed(t *testing.T) {
	var all duties
	for _, one := range probes {
		all |= one.duty
	}
	if all != everyDuty {
		t.Errorf("probed are %s", all)
	}
}

func TestReservationsAreLookedForInTheDatabaseOnly(t *testing.T) {
	dir := t.TempDir()
	put := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("xx req_7/bench xx"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("process.log")
	if onDisk(dir, "req_7/bench") == nil {
		t.Error("found in the log")
	}
	put("gatehouse.db")
	if err := onDisk(dir, "req_7/bench"); err != nil {
		t.Error(err)
	}
	if onDisk(dir, "req_8/bench") == nil {
		t.Error("found what is not there")
	}
}
