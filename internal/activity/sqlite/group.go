package sqlite

import (
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	// maxGroup is the length of a group's data, in bytes, from which on it takes no more records:
	// about a hundred of them.
	maxGroup = 24 << 10
	// minGroup is the least capacity of a group's data: two usual records.
	minGroup = 512
)

// pending has the records that the writer has not taken yet.
type pending struct {
	mu   sync.Mutex // guards the following
	open *group     // takes more records; nil if there is none
	// rows and size are the rows and the size of a usual group.
	rows, size int
	free       []buffers // of groups that were written
}

// buffers are the memory of a group.
type buffers struct {
	rows []row
	data []byte // of all rows, one after the other
}

// maxFree is how many buffers are kept: a commit interval of a busy gateway has about so many groups.
const maxFree = 16

// add adds r to the group that takes more, if there is one.
func (p *pending) add(r *activity.Record) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		return false
	}
	p.open.add(r)
	if len(p.open.data) >= maxGroup {
		p.seal(p.open)
	}
	return true
}

// begin returns a group, with the memory of one that was written, or enough for as many records as
// the groups before had.
func (p *pending) begin() *group {
	p.mu.Lock()
	rows, size := p.rows+1, p.size+minGroup
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return &group{buffers: b}
	}
	p.mu.Unlock()
	return &group{buffers: buffers{make([]row, 0, rows), make([]byte, 0, size)}}
}

// reuse takes the memory of a group that nobody reads any more. Memory far above that of a usual
// group, after a burst, goes to the collector.
func (p *pending) reuse(g *group) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := g.buffers
	g.buffers = buffers{}
	if len(p.free) < maxFree && cap(b.data) <= 2*(p.size+minGroup) {
		clear(b.rows)
		p.free = append(p.free, buffers{b.rows[:0], b.data[:0]})
	}
}

// keep makes g, which the store has, the group that takes more.
func (p *pending) keep(g *group) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !g.sealed { // the writer was not faster
		p.open = g
	}
}

// take ends the growth of g, which is written.
func (p *pending) take(g *group) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seal(g)
}

// seal must be called with mu held.
func (p *pending) seal(g *group) {
	if p.open == g {
		p.open = nil
	}
	g.sealed = true
	// After a burst the memory of new groups shrinks slowly: the last group of a commit is short.
	p.rows, p.size = max(len(g.rows), p.rows-p.rows/8), max(len(g.data), p.size-p.size/8)
}

// group is one operation of the store: the records appended since the writer took the group before.
// They wait encoded, in one buffer without pointers: a record costs no allocation, and a long queue
// gives the garbage collector no work.
type group struct {
	buffers
	log    *Log
	sealed bool // guarded by mu of pending: no record is added any more
}

// row is what the columns and the index of IDs need of one record.
type row struct {
	tenant  string
	created int64
	end     int // of its part of the group's data
	ids     hashes
}

// add must be called with mu of pending held if the store has the group.
func (g *group) add(r *activity.Record) {
	g.data = activity.Encode(g.data, r)
	g.rows = append(g.rows, row{r.Tenant, r.CreatedAt.UnixNano(), len(g.data), hashesOf(r)})
}

// Settled implements [store.Settled]. The group is sealed, so that a late keep does not open it.
func (g *group) Settled() { g.log.pending.reuse(g) }

// Droppable returns true: a record is evidence, not money.
func (g *group) Droppable() bool { return true }

// Size returns what a full group holds: one that waits may still become full.
func (g *group) Size() int { return 2 * maxGroup }

func (g *group) Apply(tx *store.Tx) error { return g.ApplyBatch(tx, []store.Op{g}) }

// ApplyBatch writes the rows of all groups together, and adds them to the roll-up.
func (g *group) ApplyBatch(tx *store.Tx, ops []store.Op) error {
	w := rowWriter{tx: tx, recent: &g.log.recent, sums: &g.log.rollup}
	w.sums.Reset()
	for _, op := range ops {
		g := op.(*group)
		g.log.pending.take(g)
		if err := w.write(g); err != nil {
			return err
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	return commit(tx, w.sums)
}
