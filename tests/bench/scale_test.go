//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var testSize = size{keys: 40, models: 30, limits: 8}

func TestCallsOfManyKeysSpreadAndHalfAreLimited(t *testing.T) {
	for _, s := range []size{fewKeys, testSize, manyKeys} {
		keys, models, limited := map[int]bool{}, map[int]bool{}, 0
		for n := range scaleCalls {
			key, model := s.call(n)
			if key < 0 || key >= s.keys || model < 0 || model >= s.models {
				t.Fatalf("%v: call %d has key %d and model %d", s, n, key, model)
			}
			keys[key], models[model] = true, true
			if model < s.halfLimits() {
				limited++
			}
		}
		if len(keys) != min(s.keys, scaleCalls) || len(models) < min(s.models, scaleCalls)/2 || limited != scaleCalls/2 {
			t.Errorf("%v: %d keys, %d models, %d calls of limited ones", s, len(keys), len(models), limited)
		}
	}
}

func TestAKeyFileHasTheKeysOfTheCalls(t *testing.T) {
	path, of := filepath.Join(t.TempDir(), "keys.jsonl"), newSecrets()
	if err := testSize.writeKeys(path, of); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != testSize.keys || strings.Contains(string(text), of.gateway) {
		t.Fatalf("%d lines, or a secret, in\n%s", len(lines), text)
	}
	for i, line := range lines {
		var key struct {
			Hashes []string
			Tenant string
		}
		if err := json.Unmarshal([]byte(line), &key); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(of.secretOf(i)))); key.Hashes[0] != want || key.Tenant != fmt.Sprintf("team-%d", i%4) {
			t.Errorf("key %d is %s", i, line)
		}
	}
	caddyfile := scaleCaddyfile(testSite, testSize)
	if models, rates := strings.Count(caddyfile, modelNumbered), strings.Count(caddyfile, "rate "); models != testSize.models+testSize.limits/2 || rates != testSize.limits {
		t.Errorf("%d models and %d rates in\n%s", models, rates, caddyfile)
	}
}

func TestScaleIsSelectedByNameAndWithAll(t *testing.T) {
	for only, want := range map[string]bool{"": true, "scale": true, "req-1k,scale,vnc-idle": true, "req-1k": false, "vnc-idle": false} {
		r := &runner{opts: options{Only: only}}
		if err := r.choose(); err != nil || r.scale != want {
			t.Errorf("%q: scale %v, %v", only, r.scale, err)
		}
		if alone := len(r.cases)+len(r.vnc) == 0; alone != (only == "scale") {
			t.Errorf("%q selects %d and %d other cases", only, len(r.cases), len(r.vnc))
		}
	}
	r := &runner{opts: options{Self: true}}
	if err := r.choose(); err != nil || r.scale {
		t.Errorf("a self-check: scale %v, %v", r.scale, err)
	}
	r.opts.Only = scaleCase
	if err := r.choose(); err == nil {
		t.Error("scale compares a gateway with itself")
	}
}

func TestScaleReportsRatioMemoryAndStart(t *testing.T) {
	r := &runner{opts: options{Rounds: 5}, scale: true, many: size{keys: 1010, models: 20, limits: 10}, rounds: map[string][]round{}}
	f := map[role]figures{
		fewKeysRole:  {Calls: 9, CPU: 100, Ticks: 90, Anon: 10, Start: 0.2},
		manyKeysRole: {Calls: 9, CPU: 102, Ticks: 90, Anon: 12, Start: 1.2},
	}
	for range minRounds {
		for _, row := range scaleRows {
			r.rounds[row.name] = append(r.rounds[row.name], round{Figures: f, Ratio: finite(scaleValue(row.metric, f, r.many))})
		}
	}
	rep := r.report()
	var b strings.Builder
	if err := rep.writeText(&b); err != nil || !rep.measured() || rep.failed() {
		t.Fatalf("%v, measured %v, failed %v", err, rep.measured(), rep.failed())
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"gateway-many 1010 keys, 20 models, 10 limits",
		"scale-1k CPU us/request 100.0 102.0 1.02 (1.02-1.02) 1.05 1.00 holds",
		"scale-memory MiB; KB/key 10 12 2.10 (2.10-2.10) 0.50 0.30 MISSED",
		"scale-start seconds 0.20 1.20 1.20 (1.20-1.20) 3.00 1.50 holds, stretch too",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}

// TestSpreadCallsReachTheirModels drives the load against an upstream process.
func TestSpreadCallsReachTheirModels(t *testing.T) {
	s := upstreamProcess(t, &fleet{})
	calls, err := scaleLoad(s, newSecrets(), testSize, codePrompt)
	if err != nil {
		t.Fatal(err)
	}
	conns := newConns(2, s.addr)
	defer closeAll(conns)
	got, err := spreadLoop(t.Context(), conns, calls, 20*time.Millisecond)
	if err != nil || got.calls < 2 {
		t.Errorf("%d calls, %v", got.calls, err)
	}
}
