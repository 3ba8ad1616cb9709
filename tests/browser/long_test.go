//go:build linux

package browser

import (
	"cmp"
	"flag"
	"fmt"
	"image/color"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

// Tests whose names begin with TestLong take minutes: make browser runs them.

var (
	silence   = flag.Duration("silence", 70*time.Second, "how long nothing happens at a desktop behind a proxy that waits 60 s")
	slowFor   = flag.Duration("slow.for", 10*time.Minute, "how long a slow browser shows a moving picture")
	livePages = flag.Int("live.pages", 50, "how many pages are open while calls are measured")
)

// longTimeout is how long a long test may use its tab beyond the time that its flag gives.
const longTimeout = 5 * time.Minute

// The gateway keeps a silent connection alive through a proxy that closes those without traffic.
func TestLongSilenceBehindAProxy(t *testing.T) {
	const proxyTimeout = 60 * time.Second
	s, d := siteWithDesktop(t)
	r, through := newRelay(t, s, proxyTimeout, 0)
	b := newLongTab(t, through, *silence+longTimeout)
	b.signIn("ops")
	b.openDesktop(stationPath)
	b.shows("the desktop", d.Shown, lookTimeout)
	before := r.connections()
	select {
	case <-time.After(*silence):
	case <-t.Context().Done():
	}
	b.says("Connected", time.Second)
	changed := slices.Clone(d.Shown)
	changed[5].Colour.G = 0xff
	if err := d.Paint(changed); err != nil {
		t.Fatal(err)
	}
	b.shows("a change after the silence", changed, inputTimeout)
	if sessions := s.sessions(t); sessions != 1 {
		t.Errorf("%d sessions are open", sessions)
	}
	t.Logf("%d connections before the silence, %d after it", before, r.connections())
}

// A browser that reads slowly costs the gateway no memory, and shows the newest picture soon after
// the picture stands still.
func TestLongSlowBrowser(t *testing.T) {
	const (
		rate     = 64 << 10 // bytes a second
		mostMore = 48 << 20 // bytes of memory
		catchUp  = 60 * time.Second
	)
	s, d := siteWithDesktop(t)
	_, through := newRelay(t, s, 0, rate)
	b := newLongTab(t, through, *slowFor+longTimeout)
	b.signIn("ops")
	b.openDesktop(stationPath)
	b.shows("the desktop", d.Shown, catchUp)
	before := s.memory(t)
	var most int64
	for end := time.Now().Add(*slowFor); time.Now().Before(end); most = max(most, s.memory(t)) {
		if err := d.Paint(noise()); err != nil {
			t.Fatal(err)
		}
		<-time.After(50 * time.Millisecond)
	}
	last := desktop.Chequer()
	slices.Reverse(last)
	if err := d.Paint(last); err != nil {
		t.Fatal(err)
	}
	b.shows("the last picture", last, catchUp)
	t.Logf("memory: %d MiB before, at most %d MiB in %v", before>>20, most>>20, *slowFor)
	if most-before > mostMore {
		t.Errorf("the gateway has grown by %d MiB", (most-before)>>20)
	}
}

// noise is a scene whose colours are all new.
func noise() desktop.Scene {
	s := desktop.Chequer()
	for i := range s {
		s[i].Colour = color.RGBA{R: uint8(rand.Uint32()), G: uint8(rand.Uint32()), B: uint8(rand.Uint32()), A: 0xff}
	}
	return s
}

// Pages that are open and read themselves again cost calls nothing that can be measured beside the
// noise of the calls themselves.
func TestLongManyOpenPages(t *testing.T) {
	s := ownSite(t, "")
	s.demo(t)
	alone := s.latencies(t)
	first := newLongTab(t, s, longTimeout)
	first.signIn("ops")
	for range *livePages {
		first.sibling().open("/console/")
	}
	beside := s.latencies(t)
	t.Logf("median of a call: %v alone, %v beside %d pages", alone, beside, *livePages)
	if beside > 2*alone+5*time.Millisecond {
		t.Errorf("a call takes %v beside %d open pages, %v alone", beside, *livePages, alone)
	}
}

// latencies is the median of many calls.
func (s *site) latencies(t *testing.T) time.Duration {
	t.Helper()
	const calls = 2000
	took := make([]time.Duration, calls)
	for i := range took {
		began := time.Now()
		s.chat(t, s.secrets["ops"], "test/echo", false)
		took[i] = time.Since(began)
	}
	slices.SortFunc(took, cmp.Compare[time.Duration])
	return took[calls/2]
}

// sessions is how many desktops are open.
func (s *site) sessions(t *testing.T) int {
	t.Helper()
	var list struct {
		Data []struct{} `json:"data"`
	}
	s.call(t, http.MethodGet, "/v1/sessions", nil, &list)
	return len(list.Data)
}

// memory is what the gateway's process has in memory, in bytes.
func (s *site) memory(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("the process has no VmRSS")
	return 0
}
