package memory

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

var dev = desktop.Issuer{Tenant: "default", Key: "dev"}

func TestTheBoundsAreTheDocumentedOnes(t *testing.T) {
	for name, pair := range map[string][2]int{
		"dead tokens": {maxTombstones, 65536}, "prefixes of dead tokens": {recentPrefixes, 256}, "tokens before a sweep": {minSweep, 64},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %d, want %d", name, pair[0], pair[1])
		}
	}
}

// open is a service with VNC authentication and some workstations, named by numbers.
func open(t *testing.T, workstations int) (*Store, *desktop.Service) {
	t.Helper()
	store := New(time.Now)
	c := desktop.Config{
		Policy: desktop.Policy{Domain: "vnc.example.com", VNCAuth: true},
		State:  desktop.NewState(time.Now, store), Storage: new(desktoptest.Storage), Random: rand.Reader,
	}
	for i := range workstations {
		c.Workstations = append(c.Workstations, desktop.Spec{
			ID: desktop.ID{Tenant: "default", Name: fmt.Sprint(i)}, Target: desktop.Target{TestCard: testcard.Serve},
		})
	}
	w, err := desktop.New(c)
	if err == nil {
		err = w.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return store, w
}

func issue(t *testing.T, w *desktop.Service, name string) (label string) {
	t.Helper()
	return desktoptest.Issue(t, w, dev, name, desktop.Options{})
}

func wantRefusal(t *testing.T, w *desktop.Service, label string, code desktop.RefusalCode) {
	t.Helper()
	_, err := w.Find(label, desktoptest.Viewer.Addr())
	desktoptest.WantRefusal(t, err, code)
}

// check compares the parts of a store with each other.
func check(t *testing.T, s *Store) {
	t.Helper()
	if len(s.dead.byHash) != s.dead.count {
		t.Errorf("%d dead tokens, %d in the index", s.dead.count, len(s.dead.byHash))
	}
	if s.dead.count == 0 && len(s.dead.byPrefix) > 0 {
		t.Error("prefixes of dead tokens are left")
	}
}

// bury adds n dead tokens that were never issued.
func bury(s *Store, n int) {
	for i := range n {
		s.dead.add(sha256.Sum256(fmt.Appendf(nil, "%026d", i)), fmt.Sprintf("%08d", i), desktop.RefusedRevoked, s.now())
	}
}

func TestADeadTokenIsRememberedForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, w := open(t, 1)
		label := issue(t, w, "0")
		time.Sleep(5 * time.Minute)
		issue(t, w, "0") // sweeps
		time.Sleep(24*time.Hour - 1)
		wantRefusal(t, w, label, desktop.RefusedExpired)
		time.Sleep(time.Nanosecond)
		wantRefusal(t, w, label, desktop.RefusedUnknown)
	})
}

func TestDeadTokensAreBoundedAndTheOldestGoFirst(t *testing.T) {
	s, w := open(t, 1)
	label := issue(t, w, "0")
	if err := w.Release(t.Context(), "default", "0", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	bury(s, maxTombstones-1)
	wantRefusal(t, w, label, desktop.RefusedReleased)
	bury(s, 1) // the second death of a hash: never so in life, but it must not unbalance the index
	wantRefusal(t, w, label, desktop.RefusedUnknown)
}

func TestDeadTokensAreForgottenInTheOrderOfTheirDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := open(t, 1)
		bury(s, 40)
		time.Sleep(24 * time.Hour)
		bury(s, 100) // forgets the 40, goes round, and grows
		check(t, s)
		for i := range 100 {
			wantRefusal(t, w, fmt.Sprintf("%026d", i), desktop.RefusedRevoked)
		}
		time.Sleep(24 * time.Hour)
		bury(s, 1)
		if check(t, s); s.dead.count != 1 {
			t.Errorf("%d are remembered", s.dead.count)
		}
	})
}

func TestExpiredTokensDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rounds, each = 50, 10
		s, w := open(t, rounds*each)
		for i := range rounds * each { // each is asked for once, and never again
			issue(t, w, fmt.Sprint(i))
			if i%each == each-1 {
				time.Sleep(5 * time.Minute)
			}
		}
		check(t, s)
		tokens := len(s.tokens)
		if tokens > minSweep || len(s.workstations) != tokens || len(s.prefixes) != tokens || s.dead.count+tokens != rounds*each {
			t.Errorf("%d workstations, %d tokens, %d prefixes and %d dead are kept", len(s.workstations), tokens, len(s.prefixes), s.dead.count)
		}
	})
}

// Sweeping its last token forgets a workstation for a moment; what is issued
// then must not be forgotten too.
func TestATokenIssuedAfterTheLastOneExpiredDiesWithARelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, w := open(t, 1)
		issue(t, w, "0")
		time.Sleep(5 * time.Minute)
		label := issue(t, w, "0")
		x := desktoptest.MustJoin(t, w, label, desktoptest.Viewer)
		if err := w.Release(t.Context(), "default", "0", desktop.Releaser{}); err != nil {
			t.Fatal(err)
		}
		if x.Why() != desktop.ReasonReleased {
			t.Errorf("the session ended because of %q", x.Why())
		}
		wantRefusal(t, w, label, desktop.RefusedReleased)
	})
}
