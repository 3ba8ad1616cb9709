package limits

import (
	"hash/maphash"
	"sync"
)

// rememberedCalls is how many ended calls are remembered, so that a message about one that comes late finds that it has
// ended. About 4 MiB.
const rememberedCalls = 16_384

// held is one call: under way, or ended and remembered.
type held struct {
	mu      sync.Mutex // guards the following; held while the call is reserved, so that messages about it wait
	lines   []heldLine
	few     [2]heldLine // where lines begin
	ended   bool
	refusal *Refusal // why it ended before it began
	err     error    // why that is not known
}

// heldLine is what a call has reserved of one account.
type heldLine struct {
	subject *ledgerSubject
	budget  Budget
	tally   *tally // of the period in which the call was admitted
	amount  int64
}

// answer is that of a Reserve that is repeated.
func (h *held) answer() (*Refusal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended && h.refusal == nil && h.err == nil {
		return nil, ErrEnded
	}
	return h.refusal, h.err
}

// rows are the rows of a call that begins.
func (h *held) rows(r *Reservation) *ledgerRows {
	rows := &ledgerRows{opened: make([]holdRow, 0, len(h.lines))}
	for _, line := range h.lines {
		rows.opened = append(rows.opened, holdRow{r.Call, line.tally.row, line.amount, r.At.UnixNano()})
	}
	return rows
}

// calls finds calls by id.
type calls struct {
	seed   maphash.Seed
	shards [shardCount]callShard
}

type callShard struct {
	mu    sync.Mutex // guards the following
	held  map[string]*held
	ended [rememberedCalls / shardCount]string // a ring of those of held that have ended
	next  int
}

func (c *calls) init() {
	c.seed = maphash.MakeSeed()
	for i := range c.shards {
		c.shards[i].held = make(map[string]*held)
	}
}

func (c *calls) shard(call string) *callShard {
	return &c.shards[maphash.String(c.seed, call)%shardCount]
}

// begin puts h in unless the call is there already, and returns what is there; !ok if there are too many.
func (c *calls) begin(call string, h *held) (_ *held, ok bool) {
	s := c.shard(call)
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.held[call]; first != nil {
		return first, true
	}
	if len(s.held) >= maxHolds/shardCount {
		return nil, false
	}
	s.held[call] = h
	return h, true
}

// find returns the call; one that is not known has ended from now on.
func (c *calls) find(call string) *held {
	s := c.shard(call)
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[call]
	if h == nil {
		h = &held{ended: true}
		s.held[call] = h
		s.remember(call)
	}
	return h
}

// end says that a call that began has ended. Unless it may be tried again it is remembered, and the oldest forgotten.
func (c *calls) end(call string, remember bool) {
	s := c.shard(call)
	s.mu.Lock()
	defer s.mu.Unlock()
	if remember {
		s.remember(call)
	} else {
		delete(s.held, call)
	}
}

func (s *callShard) remember(call string) {
	if old := s.ended[s.next]; old != "" {
		delete(s.held, old)
	}
	s.ended[s.next] = call
	s.next = (s.next + 1) % len(s.ended)
}
