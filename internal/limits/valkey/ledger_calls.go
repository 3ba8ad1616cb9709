package valkey

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
	// stated says that the node has stated the call again: it may have been charged as one of a dead
	// node, and the engine may have lost that in a failover.
	stated bool
	used   limits.Amount

	charged  bool  // by the settlement
	answered int64 // when the engine did so, its time in microseconds
	era      int64 // of the engine's balances then
	crashed  bool  // it was charged before, as reserved: the book has the difference
}

// question is what a reservation asks the engine.
type question struct {
	lines      []line
	hold       string
	generation uint64 // of calls.open
}

// calls are the calls of this node: under way, and ended within the last minutes.
type calls struct {
	mu         sync.Mutex // guards the following
	all        map[string]*call
	settled    []*call // answered, the oldest first
	generation uint64  // counts open
}

func newCalls() *calls { return &calls{all: make(map[string]*call)} }

// begin returns the call of a request, a new one unless it is known, and what to ask the engine for.
func (c *calls) begin(r *limits.ReserveRequest, at time.Time) (_ *call, q question, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.all[r.Call]
	if known == nil {
		if len(c.all) >= maxUnderWay {
			return nil, q, false
		}
		known = &call{id: r.Call, at: at}
		known.take(linesOf(r))
		c.all[r.Call] = known
	}
	return known, question{known.lines, known.hold, c.generation}, true
}

func (c *call) take(lines []line) {
	c.lines, c.hold = lines, string(appendHold(nil, c.at, lines))
}

// ask returns what to ask the engine about a call. Later, unless nil, are its lines in later periods.
func (c *calls) ask(one *call, later []line) question {
	c.mu.Lock()
	defer c.mu.Unlock()
	if later != nil && one.state == asking {
		one.take(later)
	}
	return question{one.lines, one.hold, c.generation}
}

// is returns the state of a call, and whether its reservation is certain.
func (c *calls) is(one *call) (state callState, held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return one.state, one.held
}

// goOn notes that a call goes on without a reservation, unless it has ended. It returns its state.
func (c *calls) goOn(one *call) callState {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.state == asking {
		one.state = underWay
	}
	return one.state
}

// reserved notes that the engine has answered a question: the call is reserved. It returns the state
// of the call. If the node has stated its calls meanwhile, without this one, the answer is worth
// nothing: the engine that gave it may be another.
func (c *calls) reserved(one *call, q question) (_ callState, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.state == ended {
		return ended, false
	}
	if q.generation != c.generation {
		return one.state, true
	}
	one.state, one.held = underWay, true
	return underWay, false
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

// knows reports whether this node has a call, under way or ended.
func (c *calls) knows(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[id] != nil
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

// open returns the calls under way, for the node to state them.
func (c *calls) open() (all []*call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	for _, one := range c.all {
		if one.state == underWay {
			one.stated = true
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
