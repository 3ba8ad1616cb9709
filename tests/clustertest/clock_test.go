//go:build unix && !race

package clustertest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// clockSource is what the C library is asked for the time of day, plus what a file says, in seconds.
// libfaketime does the same, but not with the allocator of Debian's Redis (jemalloc): each waits for
// the other at the start of the program.
const clockSource = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
	char text[32] = {0};
	int file = open(OFFSET_FILE, O_RDONLY);
	if (file < 0)
		return 0;
	ssize_t n = read(file, text, sizeof text - 1);
	close(file);
	return n > 0 ? strtol(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
	int failed = syscall(SYS_clock_gettime, clock, t);
	if (!failed && clock == CLOCK_REALTIME)
		t->tv_sec += offset();
	return failed;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
	(void)zone;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (t)
		*t = now.tv_sec;
	return now.tv_sec;
}
`

// shifted returns a program that runs Redis with another clock, and what sets that clock.
func shifted(t *testing.T) (program string, set func(offset time.Duration)) {
	t.Helper()
	redis, compiler := enginetest.Program(t, "redis-server", "valkey-server"), enginetest.Program(t, "gcc", "cc")
	dir := t.TempDir()
	file, source, library := filepath.Join(dir, "offset"), filepath.Join(dir, "clock.c"), filepath.Join(dir, "clock.so")
	set = func(offset time.Duration) {
		next := file + ".next"
		if err := errors.Join(os.WriteFile(next, fmt.Appendf(nil, "%.0f", offset.Seconds()), 0o600), os.Rename(next, file)); err != nil {
			t.Fatal(err)
		}
	}
	set(0)
	program = filepath.Join(dir, "redis-shifted")
	text := "#!/bin/sh\nexec env LD_PRELOAD='" + library + "' '" + redis + "' \"$@\"\n"
	if err := errors.Join(os.WriteFile(source, []byte(clockSource), 0o600), os.WriteFile(program, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(compiler, "-shared", "-fPIC", "-O2", "-DOFFSET_FILE=\""+file+"\"", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
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
