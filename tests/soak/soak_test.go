package soak

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

var (
	soakTime = flag.Duration("soak", 8*time.Second, "how long the soak runs")
	soakSeed = flag.Uint64("soak.seed", 1, "what the soak's calls are made of: the same calls for the same seed")
)

const (
	soakClients = 64
	// soakPerSecond bounds the calls that a soak can make. The memory for its notes is allocated at
	// the beginning, so that it does not grow.
	soakPerSecond = 3000
	// soakReload is how often the configuration is replaced.
	soakReload = time.Second
	// soakSample is how often memory is printed.
	soakSample = 10 * time.Second
)

// soak is a run of all kinds of calls at once.
type soak struct {
	t             *testing.T
	h             *harness.Gateway
	kinds         []soakKind
	kindsByWeight []int // kinds by weight
	notes         []soakNote
	next          atomic.Int64

	running sync.RWMutex // locked for reading by a call, for writing by a pause
	over    chan struct{}
	clients sync.WaitGroup

	waiting sync.Map // number of a call -> chan struct{}, closed when it reaches the provider
	desk    soakDesk
	words   soakWords
	rows    soakRows
	faults  soakErrors

	drops   sync.Mutex
	dropped map[string]int // calls without an answer, by why

	began               time.Time
	reloads, misreloads int
	storeTurns          int // reloads that breakStore has seen
	storeFaults         int
	storeAway           []time.Time // when the file of the database was moved away
	goroutinesBefore    int         // before the first call
}

// All endings of a call are mixed, for as long as -soak says. Afterwards the ledger is the sum of
// the records, each call has its one record, and nothing is held.
func TestAllEndingsAtOnceLeaveNothingBehind(t *testing.T) {
	s := newSoak(t)
	t.Logf("soak of %v, seed %d, %d clients, %d kinds of calls", *soakTime, *soakSeed, soakClients, len(s.kinds))
	s.reload(0)
	s.h.VNC.Ready()
	if !soakIsLong() {
		s.h.Client.Secure = s.h.Ports.SecureOrigin()
		s.h.Trust()
	}
	s.settle()
	s.fillCaches()
	s.goroutinesBefore = s.goroutines()
	s.begin()
	s.view()
	s.run(*soakTime / 10)
	s.pause("warm")
	s.running.Unlock()
	s.run(*soakTime * 4 / 10)
	half := s.pause("half")
	s.running.Unlock()
	s.run(*soakTime * 5 / 10)
	end := s.pause("end")
	close(s.over)
	s.running.Unlock()
	s.clients.Wait()
	s.desk.viewers.Wait()
	s.checkMemory(half, end)
	s.checkNotes()
	s.desk.check(s)
	s.checkDisk()
	s.exits()
	s.report()
	if soakIsLong() && (len(s.storeAway) == 0 || s.storeFaults == len(s.storeAway)) {
		t.Error("the database was not both locked and moved away")
	}
}

func newSoak(t *testing.T) *soak {
	s := &soak{t: t, kinds: soakKinds(), over: make(chan struct{})}
	s.faults.t = t
	s.h = harness.Prepare(t)
	for i, k := range s.kinds {
		for range k.weight {
			s.kindsByWeight = append(s.kindsByWeight, i)
		}
	}
	s.notes = make([]soakNote, int(soakTime.Seconds()+10)*soakPerSecond)
	for i := range s.notes {
		s.notes[i].kind = -1 // touched, so that its memory is resident from now on
	}
	s.rows.init()
	s.serveProvider()
	s.writePrices()
	for _, k := range soakKeys {
		t.Setenv("KEY_"+k.env(), harness.Secret(k.name))
	}
	currentSoak.Store(s)
	t.Cleanup(func() { currentSoak.Store(nil) })
	return s
}

// begin starts the clients: each makes one call after the other.
func (s *soak) begin() {
	s.began = time.Now()
	for range soakClients {
		s.clients.Go(func() {
			for {
				s.running.RLock()
				select {
				case <-s.over:
					s.running.RUnlock()
					return
				default:
				}
				if n := s.next.Add(1) - 1; int(n) < len(s.notes) {
					s.call(int(n))
				} else {
					s.faults.add("more than %d calls: no memory is allocated for their notes", len(s.notes))
					s.running.RUnlock()
					return
				}
				s.running.RUnlock()
			}
		})
	}
}

// kindOf is the kind of a call: every round has another order.
func (s *soak) kindOf(n int) int {
	round, at := n/len(s.kindsByWeight), n%len(s.kindsByWeight)
	order := rand.New(rand.NewPCG(*soakSeed, uint64(round))).Perm(len(s.kindsByWeight))
	return s.kindsByWeight[order[at]]
}

// run reloads the configuration, reads the records of calls that ended a while ago and prints
// figures, for a time.
func (s *soak) run(d time.Duration) {
	tick := time.NewTicker(soakReload)
	defer tick.Stop()
	sampled := time.Now()
	for end := time.After(d); ; {
		select {
		case <-end:
			return
		case <-tick.C:
		}
		s.reload(s.reloads + 1)
		s.breakStore()
		s.rows.read(s, time.Now().Add(-soakLongest))
		if time.Since(sampled) >= soakSample {
			sampled = time.Now()
			s.sample("running")
		}
	}
}

// soakLongest is longer than any call or session of a desktop takes on a busy machine. Records are
// kept for longer.
const soakLongest = 25 * time.Second

// reload loads variant i of the configuration. Every seventh time it tries one before that cannot
// be loaded.
func (s *soak) reload(i int) {
	if i%7 == 6 {
		if err := s.h.Load(s.caddyfile(i) + "\nhttp://127.0.0.1:1 {\nno_such_directive\n}\n"); err == nil {
			s.t.Fatal("a configuration with an unknown directive was loaded")
		}
		s.misreloads++
	}
	if err := s.h.Load(s.caddyfile(i)); err != nil {
		s.t.Fatal(err)
	}
	s.reloads = i
}

// pause waits until no call is under way, lets none begin, and checks the balances.
func (s *soak) pause(name string) soakMemory {
	s.t.Helper()
	s.running.Lock()
	s.reload(s.reloads + 1) // connections to the provider end with the old configuration
	s.settle()
	s.checkIdle(name)
	s.rows.read(s, time.Now())
	s.checkBalances(name)
	s.settle()
	if !harness.Eventually(func() bool { return s.goroutines() <= s.goroutinesBefore+soakClients+soakSlack }) {
		s.faults.add("%s: %d goroutines, %d before the first call and %d clients:\n%s", name, s.goroutines(), s.goroutinesBefore, soakClients, allStacks())
	}
	return s.sample(name)
}

// settle waits until only the newest configuration answers, and closes connections.
func (s *soak) settle() {
	s.t.Helper()
	s.h.Settle()
	s.h.Client.HTTP.CloseIdleConnections()
	if s.h.Client.HTTP2 != nil {
		s.h.Client.HTTP2.CloseIdleConnections()
	}
}

// soakSlack is how many more goroutines than before the first call there may be: connections whose
// peer has not noticed the end.
const soakSlack = 12

func (s *soak) goroutines() int { return runtime.NumGoroutine() }

// allStacks returns the goroutines, equal ones together.
func allStacks() string {
	var text strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&text, 1) // to memory
	return text.String()
}

// soakErrors prints the first errors and counts the others.
type soakErrors struct {
	t  *testing.T
	mu sync.Mutex
	n  int
}

func (f *soakErrors) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n <= 30 {
		f.t.Errorf(format, args...)
	} else if f.n == 31 {
		f.t.Error("there are more faults")
	}
}
