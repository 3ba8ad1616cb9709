package postgres

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// DefaultSpool is the size of the spool if no other is set: half an hour of 1,000 calls a second.
const DefaultSpool = 1 << 30

// SpoolSchema has the batches that wait for PostgreSQL, in the node's own database.
var SpoolSchema = store.Schema{
	Name: "postgres",
	Steps: []string{`
		CREATE TABLE postgres_spool (
			seq    INTEGER PRIMARY KEY AUTOINCREMENT, -- the order
			source TEXT    NOT NULL,                  -- which process has made the batch
			n      INTEGER NOT NULL,                  -- its number
			rows   BLOB    NOT NULL                   -- of each row its table and itself, each after its length
		);`},
}

var errDamaged = errors.New("a damaged batch in the spool")

// spool keeps batches on disk, in order.
type spool struct {
	store *store.Store
	most  int64 // bytes
	last  int64 // seq of the last batch that was written; used by the writer only

	mu      sync.Mutex // guards the following
	batches int
	bytes   int64
}

// load counts what an earlier process has left.
func (s *spool) load(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.store.Reader().QueryRowContext(ctx, "SELECT count(*), ifnull(sum(length(rows)), 0) FROM postgres_spool").Scan(&s.batches, &s.bytes)
	if err != nil {
		return fmt.Errorf("reading the spool: %w", s.store.Explain(err))
	}
	return nil
}

func (s *spool) size() (batches int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.batches, s.bytes
}

// waits reports whether there is a batch.
func (s *spool) waits() bool {
	if s == nil {
		return false
	}
	batches, _ := s.size()
	return batches > 0
}

func (s *spool) count(batches int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches += batches
	s.bytes += bytes
}

// put adds a batch. Rows of tables that are not Kept are left out if the spool is full; it returns
// how many they are.
func (s *spool) put(b *batch, tables []Table) (dropped int, err error) {
	data := make([]byte, 0, size(b.rows)+16*len(b.rows))
	_, bytes := s.size()
	rows := 0
	for _, e := range b.rows {
		t := &tables[e.table]
		if !t.Kept && bytes+int64(len(data)+len(e.row)) > s.most {
			dropped++
			continue
		}
		data = append(binary.AppendUvarint(data, uint64(len(t.Name))), t.Name...)
		data = append(binary.AppendUvarint(data, uint64(len(e.row))), e.row...)
		rows++
	}
	if rows == 0 {
		return dropped, nil
	}
	if err := s.store.Submit(putBatch{b.source, int64(b.n), data}); err != nil {
		return 0, err
	}
	s.count(1, int64(len(data)))
	return dropped, nil
}

// next returns the first batch, nil if there is none. Rows of tables that the program does not have
// are left out.
func (s *spool) next(ctx context.Context, w *Writer) (b *batch, bytes int64, err error) {
	if err := s.store.Flush(ctx); err != nil {
		return nil, 0, err
	}
	b = &batch{}
	var data []byte
	err = s.store.Reader().QueryRowContext(ctx, "SELECT seq, source, n, rows FROM postgres_spool WHERE seq > ? ORDER BY seq LIMIT 1", s.last).
		Scan(&b.seq, &b.source, &b.n, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, s.store.Explain(err)
	}
	bytes = int64(len(data))
	for len(data) > 0 {
		var name, row []byte
		if name, data, err = cut(data); err == nil {
			row, data, err = cut(data)
		}
		if err != nil {
			return b, bytes, err
		}
		if i, ok := w.table(string(name)); ok {
			b.rows = append(b.rows, entry{i, row})
		}
	}
	return b, bytes, nil
}

func cut(data []byte) (value, rest []byte, err error) {
	n, size := binary.Uvarint(data)
	if size <= 0 || n > uint64(len(data)-size) {
		return nil, nil, errDamaged
	}
	return data[size : size+int(n)], data[size+int(n):], nil
}

// remove takes the first batch off. If the process is killed before that is committed, the batch is
// found to be written already.
func (s *spool) remove(b *batch, bytes int64) error {
	if err := s.store.Submit(removeBatch(b.seq)); err != nil {
		return err
	}
	s.last = b.seq
	s.count(-1, -bytes)
	return nil
}

// putBatch adds a batch to the spool.
type putBatch struct {
	source string
	n      int64
	rows   []byte
}

func (putBatch) Droppable() bool { return false }

// Size implements [store.Sized].
func (p putBatch) Size() int { return len(p.rows) }

func (p putBatch) Apply(tx *store.Tx) error {
	_, err := tx.Exec("INSERT INTO postgres_spool (source, n, rows) VALUES (?, ?, ?)", p.source, p.n, p.rows)
	return err
}

// removeBatch takes the batch of a seq off the spool.
type removeBatch int64

func (removeBatch) Droppable() bool { return false }

func (r removeBatch) Apply(tx *store.Tx) error {
	_, err := tx.Exec("DELETE FROM postgres_spool WHERE seq = ?", int64(r))
	return err
}
