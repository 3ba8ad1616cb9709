package shared

import (
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

const (
	// maxUnderWay bounds the calls under way of one gateway.
	maxUnderWay = 1 << 20
	// maxSettled and settledKept bound the ended calls that are remembered: they are sent again if the
	// engine has lost them. They take up to 60 MiB.
	maxSettled  = 131_072
	settledKept = 2 * time.Minute
)

// callState is how far a call has come on this node.
type callState uint8

const (
	asking   callState = iota // the engine has not answered
	underWay                  // reserved, or it goes on without: its settlement has its lines
	ended                     // its settlement waits, or is made
)

// call is one call of this node. Its fields are guarded by calls.mu until it has ended; from then on
// they do not change, but for those of the answer, which belong to the outbox.
type call struct {
	id    string
	at    time.Time // as the caller has said it
	lines []line
	hold  string // the lines as the engine keeps them; "": this node does not know the call
	state callState
	held  bool // the engine has said that it is reserved
	used  limits.Amount

	charged  bool  // by the settlement
	answered int64 // when the engine did so, its time in microseconds
}

// calls are the calls of this node: under way, and ended within the last minutes.
type calls struct {
	mu      sync.Mutex // guards the following
	all     map[string]*call
	settled []*call // answered, the oldest first
}

func newCalls() *calls { return &calls{all: make(map[string]*call)} }

// begin returns the call of a request, a new one unless it is known, and what to ask the engine for.
func (c *calls) begin(r *limits.ReserveRequest, at time.Time) (_ *call, lines []line, hold string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.all[r.Call]
	if known == nil {
		if len(c.all) >= maxUnderWay {
			return nil, nil, "", false
		}
		known = &call{id: r.Call, at: at}
		known.take(linesOf(r))
		c.all[r.Call] = known
	}
	return known, known.lines, known.hold, true
}

func (c *call) take(lines []line) {
	c.lines, c.hold = lines, string(appendHold(nil, c.at, lines))
}

// move puts lines into later periods, unless another message has done so, and returns the lines.
func (c *calls) move(one *call, later []line) (lines []line, hold string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.state == asking {
		one.take(later)
	}
	return one.lines, one.hold
}

// is returns the state of a call, and whether its reservation is certain.
func (c *calls) is(one *call) (state callState, held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return one.state, one.held
}

// goOn notes that a call goes on, and reports whether it has not ended.
func (c *calls) goOn(one *call, held bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.state == ended {
		return false
	}
	one.state, one.held = underWay, one.held || held
	return true
}

// drop forgets a call that was refused, unless it has ended or goes on.
func (c *calls) drop(one *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.state == asking && c.all[one.id] == one {
		delete(c.all, one.id)
	}
}

// settle ends a call. It returns nil if that has ended already.
func (c *calls) settle(id string, used limits.Amount) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.all[id]
	if known == nil {
		known = &call{id: id}
		c.all[id] = known
	}
	if known.state == ended {
		return nil
	}
	known.state, known.used = ended, used
	return known
}

// ended reports whether a call has ended.
func (c *calls) ended(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.all[id]
	return known != nil && known.state == ended
}

// answer keeps calls whose settlement the engine has answered, and forgets old ones.
func (c *calls) answer(batch []*call, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled = append(c.settled, batch...)
	old := 0
	for old < len(c.settled) && (len(c.settled)-old > maxSettled || c.settled[old].answered < now-settledKept.Microseconds()) {
		delete(c.all, c.settled[old].id)
		c.settled[old] = nil
		old++
	}
	c.settled = c.settled[old:]
}

// open returns the calls under way.
func (c *calls) open() (all []*call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		if one.state == underWay {
			all = append(all, one)
		}
	}
	return all
}

// again returns the calls whose charge the engine may have lost, the oldest first.
func (c *calls) again() (all []*call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.settled {
		if one.charged && one.hold != "" {
			all = append(all, one)
		}
	}
	return all
}

// forget keeps the calls answered so far from being charged again: the book has them.
func (c *calls) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.settled {
		one.charged = false
	}
}
