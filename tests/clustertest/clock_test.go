//go:build unix && !race

package clustertest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// shifted returns a program that runs Redis with another clock, and what sets that clock.
func shifted(t *testing.T) (program string, set func(offset time.Duration)) {
	t.Helper()
	redis, faketime := enginetest.Program(t, "redis-server", "valkey-server"), enginetest.Program(t, "faketime")
	dir := t.TempDir()
	file := filepath.Join(dir, "offset")
	set = func(offset time.Duration) {
		if err := os.WriteFile(file, []byte(fmt.Sprintf("%+.0fs\n", offset.Seconds())), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set(0)
	program = filepath.Join(dir, "redis-shifted")
	text := "#!/bin/sh\nexport FAKETIME_TIMESTAMP_FILE='" + file + "' FAKETIME_CACHE_DURATION=1 FAKETIME_DONT_FAKE_MONOTONIC=1\n" +
		"exec env LD_PRELOAD=\"$(" + faketime + " +0 printenv LD_PRELOAD)\" '" + redis + "' \"$@\"\n"
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, set
}

// The engine's clock is a day ahead, and then jumps by an hour under load: money stays exact, and
// limits go on.
func TestLongTheClockOfTheEngineIsWrong(t *testing.T) {
	program, set := shifted(t)
	set(24 * time.Hour)
	p := startOn(t, 2, clustertest.NewEngines(t, enginetest.RedisBy(t, program)))
	text, err := clustertest.Redis(p.Engines.Redis.Addr, "TIME")
	if err != nil {
		t.Fatal(err)
	}
	var seconds int64
	if _, err := fmt.Sscan(text, &seconds); err != nil || time.Unix(seconds, 0).Before(time.Now().Add(23*time.Hour)) {
		t.Fatalf("the engine's clock says %q: %v", text, err)
	}
	p.rate()
	p.concurrency()
	l := p.load(4, p.paced("hard"))
	p.wait(time.Second)
	set(25 * time.Hour)
	p.wait(5 * time.Second)
	answers := l.stop()
	p.soon("a hard budget", func() error { return p.status(200, p.at(0, "hard"), "metered/quick") })
	if !answers.only("200", "503 ledger_unavailable") {
		t.Error(answers)
	}
	t.Logf("the engine's clock jumped by an hour: %v", answers)
	p.books("hard")
	p.concurrency()
	set(24 * time.Hour) // and back
	p.wait(5 * time.Second)
	p.soon("a hard budget", func() error { return p.status(200, p.at(0, "hard"), "metered/quick") })
	p.books("hard")
	p.concurrency()
	p.crowd(1500, 16)
}
