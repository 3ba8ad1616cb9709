package toolserver

import (
	"sync"
	"time"
)

// State is whether a server answers.
type State string

// The states. A server is unknown until its first answer.
const (
	OK      State = "ok"
	Failing State = "failing"
	Unknown State = "unknown"
)

// Health is what requests showed of a server.
type Health struct {
	State     State
	LastError string    // the code of the last failure, also of a server that answers again; "" for none
	Since     time.Time // when the state began; zero for unknown
	InFlight  int       // requests and streams under way
}

// health notes how requests to a server end. The last one decides: there is no other server to go to.
type health struct {
	now func() time.Time

	mu      sync.Mutex // guards the following
	current Health
}

// Health returns what is known of the server at present.
func (h *health) Health() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current
}

// Begin notes that a request, or a stream, is under way. End must be called once.
func (h *health) Begin() (end func()) {
	h.count(1)
	return func() { h.count(-1) }
}

func (h *health) count(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current.InFlight += n
}

// Succeeded notes that the server has answered, an error of a tool too.
func (h *health) Succeeded() { h.note(OK, "") }

// Failed notes that the server did not answer, or answered what is not MCP. Code is that of the refusal.
func (h *health) Failed(code string) { h.note(Failing, code) }

func (h *health) note(state State, code string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current.State != state {
		h.current.State, h.current.Since = state, h.now()
	}
	if code != "" {
		h.current.LastError = code
	}
}
