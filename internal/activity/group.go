package activity

import (
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	// maxGroup is the length of a group's data, in bytes, from which on it takes no more records:
	// about a hundred of them.
	maxGroup = 24 << 10
	// minGroup is the least capacity of a group's data: two usual records.
	minGroup = 512
)

// group is one operation of the store: the records appended since the writer took the group before.
// They wait encoded, in one buffer without pointers: a record costs no allocation, and a long queue
// gives the garbage collector no work.
type group struct {
	log    *Log
	rows   []row
	data   []byte // of all rows, one after the other
	sealed bool   // guarded by log.mu: no record is added any more
}

// row is what the columns and the index of IDs need of one record.
type row struct {
	tenant  string
	created int64
	end     int // of its part of the group's data
	ids     hashes
}

// newGroup returns a group with r, with memory for as many records as the groups before had.
func (l *Log) newGroup(r *Record) *group {
	l.mu.Lock()
	rows, size := l.rows, l.size
	l.mu.Unlock()
	g := &group{log: l, rows: make([]row, 0, rows+1), data: make([]byte, 0, size+minGroup)}
	g.add(r)
	return g
}

// join adds r to the group that waits for more, if there is one.
func (l *Log) join(r *Record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.open
	if g == nil {
		return false
	}
	g.add(r)
	if len(g.data) >= maxGroup {
		l.seal(g)
	}
	return true
}

// wait makes g, which the store has, the group that waits for more.
func (l *Log) wait(g *group) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !g.sealed { // the writer was not faster
		l.open = g
	}
}

// seal must be called with mu held.
func (l *Log) seal(g *group) {
	if l.open == g {
		l.open = nil
	}
	g.sealed = true
	// After a burst the memory of new groups shrinks slowly: the last group of a commit is short.
	l.rows, l.size = max(len(g.rows), l.rows-l.rows/8), max(len(g.data), l.size-l.size/8)
}

// add must be called with mu of the log held if the store has the group.
func (g *group) add(r *Record) {
	g.data = r.encode(g.data)
	g.rows = append(g.rows, row{r.Tenant, r.CreatedAt.UnixNano(), len(g.data), hashesOf(r)})
}

// Droppable returns true: a record is evidence, not money.
func (g *group) Droppable() bool { return true }

// Size returns what a full group holds: one that waits may still become full.
func (g *group) Size() int { return 2 * maxGroup }

func (g *group) Apply(tx *store.Tx) error { return g.ApplyBatch(tx, []store.Op{g}) }

// ApplyBatch writes the rows of all groups together.
func (g *group) ApplyBatch(tx *store.Tx, ops []store.Op) error {
	w := rowWriter{tx: tx, recent: &g.log.recent}
	for _, op := range ops {
		if err := w.write(op.(*group)); err != nil {
			return err
		}
	}
	return w.flush()
}
