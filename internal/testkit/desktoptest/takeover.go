package desktoptest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// Person is the name of the one person at a Server.
const Person = "person"

// Server is a workstation that notes the order in which it gets the keys of all its clients, and what
// is wrong with it: an agent's after the person's first, another agent's, or a key that an agent has left down. The
// zero value is ready.
type Server struct {
	mu     sync.Mutex // guards the following
	events []string
	down   map[string]bool // keys that are down, by client and key
	wrong  []string
	holder string // the client of the last event that counts; "" where the person has given back
}

// Gets notes a key event of a client. What the person lets go counts for nothing.
func (s *Server) Gets(client string, key byte, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, fmt.Sprint(client, " ", string(key), " ", down))
	fail := func(why string) {
		s.wrong = append(s.wrong, why+": "+strings.Join(s.events[max(0, len(s.events)-12):], ", "))
	}
	switch {
	case client != Person && s.holder == Person:
		fail("an agent's event after the person's first")
	case client != Person && s.holder != "" && s.holder != client:
		fail("two agents")
	}
	if s.down == nil {
		s.down = make(map[string]bool)
	}
	if s.down[client+string(key)] = down; !down {
		delete(s.down, client+string(key))
	}
	for name := range s.down {
		if client == Person && down && !strings.HasPrefix(name, client) {
			fail("a key of an agent is down")
		}
	}
	if down || client != Person {
		s.holder = client
	}
}

// GivenBack notes that the person is about to give the input back.
func (s *Server) GivenBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holder = ""
	s.events = append(s.events, "given back")
}

// Events is how many there were.
func (s *Server) Events() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events)
}

// Want fails if something was wrong. Nothing may be down if all have let go.
func (s *Server) Want(t testing.TB, letGo bool) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, why := range s.wrong[:min(3, len(s.wrong))] {
		t.Error(why)
	}
	if letGo && len(s.down) > 0 {
		t.Error("left down: ", s.down)
	}
}

// RunAgent has an agent press keys, and let some of them go, until stop is closed. It returns how many events were
// sent and how many refused.
func (s *Server) RunAgent(x *desktop.Session, name string, random *rand.Rand, stop <-chan struct{}) (sent, refused int) {
	held := map[byte]bool{} // guarded by the holder of the input
	letGo := func() {
		for key := range held {
			s.Gets(name, key, false)
		}
		clear(held)
	}
	x.Input.OnLost(func() <-chan struct{} { letGo(); return nil })
	for {
		select {
		case <-stop:
			_ = x.Input.Act(func() error { letGo(); return nil })
			return sent, refused
		default:
		}
		key := byte('a' + random.IntN(4))
		err := x.Input.Act(func() error {
			s.Gets(name, key, !held[key])
			if held[key] = !held[key]; !held[key] {
				delete(held, key)
			}
			return nil
		})
		if err == nil {
			sent++
			continue
		}
		refused++
		runtime.Gosched()
	}
}
