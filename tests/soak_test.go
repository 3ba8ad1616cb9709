package tests

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
)

var (
	soakTime = flag.Duration("soak", 8*time.Second, "how long the soak runs")
	soakSeed = flag.Uint64("soak.seed", 1, "what the soak's calls are made of: the same calls for the same seed")
)

const (
	soakClients = 64
	// soakPerSecond bounds the calls that a soak can make: what it knows of
	// each has its room from the beginning, so that its own books do not grow.
	soakPerSecond = 3000
	// soakReload is how often the configuration is replaced.
	soakReload = time.Second
	// soakSample is how often memory is printed.
	soakSample = 10 * time.Second
)

// soak is a run of all kinds of calls at once.
type soak struct {
	t     *testing.T
	h     *house
	kinds []soakKind
	deck  []int // kinds by weight
	notes []soakNote
	next  atomic.Int64

	running sync.RWMutex // held for reading by a call, for writing by a pause
	over    chan struct{}
	clients sync.WaitGroup

	waiting sync.Map // number of a call -> chan struct{}, closed when it reaches the provider
	words   soakWords
	rows    soakRows
	faults  soakFaults

	drops   sync.Mutex
	dropped map[string]int // calls without an answer, by why

	began               time.Time
	reloads, misreloads int
	calm                int // goroutines before the first call
}

// All endings of a call, mixed, for as long as -soak says: afterwards the ledger
// is the sum of the records, each call has its one record, and nothing is held.
func TestAllEndingsAtOnceLeaveNothingBehind(t *testing.T) {
	s := newSoak(t)
	t.Logf("soak of %v, seed %d, %d clients, %d kinds of calls", *soakTime, *soakSeed, soakClients, len(s.kinds))
	s.reload(0)
	if !soakIsLong() {
		s.h.secure = "https://localhost:" + itoa(s.h.ports[1])
		s.h.trust()
	}
	s.settle()
	s.fillCaches()
	s.calm = s.goroutines()
	s.begin()
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
	s.checkMemory(half, end)
	s.checkNotes()
	s.checkDisk()
	s.exits()
	s.report()
}

func newSoak(t *testing.T) *soak {
	s := &soak{t: t, kinds: soakKinds(), over: make(chan struct{})}
	s.faults.t = t
	s.h = prepare(t)
	for i, k := range s.kinds {
		for range k.weight {
			s.deck = append(s.deck, i)
		}
	}
	s.notes = make([]soakNote, int(soakTime.Seconds()+10)*soakPerSecond)
	for i := range s.notes {
		s.notes[i].kind = -1 // touched: its memory is there from now on
	}
	s.rows.init()
	s.serveProvider()
	s.writePrices()
	for _, k := range soakKeys {
		t.Setenv("KEY_"+k.env(), secretOf(k.name))
	}
	soakDoorOf.Store(s)
	t.Cleanup(func() { soakDoorOf.Store(nil) })
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
					s.faults.add("more than %d calls: there is no room for what is known of them", len(s.notes))
					s.running.RUnlock()
					return
				}
				s.running.RUnlock()
			}
		})
	}
}

// kindOf is the kind of a call: every round of the deck has another order.
func (s *soak) kindOf(n int) int {
	round, at := n/len(s.deck), n%len(s.deck)
	order := rand.New(rand.NewPCG(*soakSeed, uint64(round))).Perm(len(s.deck))
	return s.deck[order[at]]
}

// run reloads the configuration, reads the records of calls that ended a while
// ago and prints figures, for a time.
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
		s.rows.read(s, time.Now().Add(-soakLongest))
		if time.Since(sampled) >= soakSample {
			sampled = time.Now()
			s.sample("running")
		}
	}
}

// soakLongest is longer than any call takes.
const soakLongest = 15 * time.Second

// reload puts variant i of the configuration in force. Every seventh time one
// that cannot be loaded is tried before.
func (s *soak) reload(i int) {
	if i%7 == 6 {
		if err := s.h.load(s.caddyfile(i) + "\nhttp://127.0.0.1:1 {\nno_such_directive\n}\n"); err == nil {
			s.t.Fatal("a configuration with an unknown directive was loaded")
		}
		s.misreloads++
	}
	if err := s.h.load(s.caddyfile(i)); err != nil {
		s.t.Fatal(err)
	}
	s.reloads = i
}

// pause waits until no call is under way, lets none begin, and checks the books.
func (s *soak) pause(name string) soakMemory {
	s.t.Helper()
	s.running.Lock()
	s.reload(s.reloads + 1) // connections to the provider go with the old configuration
	s.settle()
	s.checkIdle(name)
	s.rows.read(s, time.Now())
	s.checkBooks(name)
	s.settle()
	if !eventually(func() bool { return s.goroutines() <= s.calm+soakClients+soakSlack }) {
		s.faults.add("%s: %d goroutines, %d before the first call and %d clients:\n%s", name, s.goroutines(), s.calm, soakClients, allStacks())
	}
	return s.sample(name)
}

// settle waits until the newest configuration alone answers, and closes connections.
func (s *soak) settle() {
	s.t.Helper()
	s.h.settle()
	s.h.http.CloseIdleConnections()
	if s.h.http2 != nil {
		s.h.http2.CloseIdleConnections()
	}
}

// soakSlack is how many goroutines more than before the first call there may be:
// connections of which the other side has not noticed the end.
const soakSlack = 12

func (s *soak) goroutines() int { return runtime.NumGoroutine() }

// allStacks are the goroutines, those that are alike together.
func allStacks() string {
	var text strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&text, 1) // to memory
	return text.String()
}

// soakFaults tells the first faults and counts the others.
type soakFaults struct {
	t  *testing.T
	mu sync.Mutex
	n  int
}

func (f *soakFaults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n <= 30 {
		f.t.Errorf(format, args...)
	} else if f.n == 31 {
		f.t.Error("there are more faults")
	}
}
