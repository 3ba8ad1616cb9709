package sqlite

import (
	"hash/maphash"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// rememberedCalls is how many ended calls are remembered, so that a late message about one finds
// that it has ended. They take about 5 MiB.
const rememberedCalls = 16_384

// ledgerCall is one call, under way or ended and remembered.
type ledgerCall struct {
	mu           sync.Mutex // guards the following; locked while the call is reserved, so that messages about it wait
	amounts      []reservedAmount
	firstAmounts [usualBudgets]reservedAmount // the first elements of amounts
	ended        bool
	refusal      *limits.Refusal // why it ended before it began
	err          error           // why the outcome is unknown
}

// reservedAmount is what a call has reserved in one account.
type reservedAmount struct {
	subject *ledgerSubject
	budget  limits.Budget
	tally   *tally // of the period in which the call was admitted
	amount  int64
}

// repeatedAnswer is the answer to a repeated Reserve.
func (h *ledgerCall) repeatedAnswer() (*limits.Refusal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended && h.refusal == nil && h.err == nil {
		return nil, limits.ErrEnded
	}
	return h.refusal, h.err
}

// usualBudgets is how many budgets a call has without more allocations: those of a key, of its
// tenant and of the gateway.
const usualBudgets = 3

// openRows is the rows of one new call, in one allocation.
type openRows struct {
	ledgerRows
	call    [1]openedCall
	amounts [usualBudgets]openedAmount
}

// endRows is the rows of one ended call, in one allocation.
type endRows struct {
	ledgerRows
	call  [1]string
	spent [usualBudgets]spentRow
}

// rows returns the rows of a new call.
func (h *ledgerCall) rows(r *limits.ReserveRequest) *ledgerRows {
	op := &openRows{}
	amounts := op.amounts[:0]
	for _, a := range h.amounts {
		amounts = append(amounts, openedAmount{a.tally.row, a.amount})
	}
	op.call[0] = openedCall{r.Call, r.At.UnixNano(), amounts}
	op.opened = op.call[:]
	return &op.ledgerRows
}

// calls finds calls by ID.
type calls struct {
	seed   maphash.Seed
	shards [shardCount]callShard
}

type callShard struct {
	mu    sync.Mutex // guards the following
	calls map[string]*ledgerCall
	ended [rememberedCalls / shardCount]string // a ring buffer: the keys of ended calls in the map
	next  int
}

func (c *calls) init() {
	c.seed = maphash.MakeSeed()
	for i := range c.shards {
		c.shards[i].calls = make(map[string]*ledgerCall)
	}
}

func (c *calls) shard(call string) *callShard {
	return &c.shards[maphash.String(c.seed, call)%shardCount]
}

// begin adds h unless the call is known already, and returns the known call or h. It returns !ok if
// there are too many calls.
func (c *calls) begin(call string, h *ledgerCall) (_ *ledgerCall, ok bool) {
	s := c.shard(call)
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.calls[call]; first != nil {
		return first, true
	}
	if len(s.calls) >= maxOpenCalls/shardCount {
		return nil, false
	}
	s.calls[call] = h
	return h, true
}

// find returns the call. An unknown call counts as ended from now on.
func (c *calls) find(call string) *ledgerCall {
	s := c.shard(call)
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.calls[call]
	if h == nil {
		h = &ledgerCall{ended: true}
		s.calls[call] = h
		s.remember(call)
	}
	return h
}

// end records that a call has ended. With remember the call is kept, and the oldest ended call is
// forgotten; without it, the same call may be tried again.
func (c *calls) end(call string, remember bool) {
	s := c.shard(call)
	s.mu.Lock()
	defer s.mu.Unlock()
	if remember {
		s.remember(call)
	} else {
		delete(s.calls, call)
	}
}

func (s *callShard) remember(call string) {
	if old := s.ended[s.next]; old != "" {
		delete(s.calls, old)
	}
	s.ended[s.next] = call
	s.next = (s.next + 1) % len(s.ended)
}
