package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// rollupState says which rows the roll-up has. Rows after upto are in it: they were added in their
// own transaction. Those from next to upto are added later, in steps; without any the roll-up is
// complete. Rows up to the day pruned may be deleted, so that their hours are not made from rows
// again. While clearing, all later hours are being deleted, and no row is added to them.
type rollupState struct {
	next, upto int64
	clearing   bool
	pruned     int64
}

func (s rollupState) complete() bool { return !s.clearing && s.next > s.upto }

const (
	getRollup = "SELECT next, upto, clearing, pruned FROM activity_rollup"
	setRollup = "UPDATE activity_rollup SET next = ?, upto = ?, clearing = ?"
	// notePruned notes the day of a deleted row.
	notePruned = "UPDATE activity_rollup SET pruned = max(pruned, ?)"
	// clearRollup begins a rebuild.
	clearRollup = "UPDATE activity_rollup SET next = 1, upto = 0, clearing = 1"
	rollupRows  = "SELECT seq, tenant, created_at, data FROM activity WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT ?"
)

func loadRollup(tx *store.Tx) (s rollupState, err error) {
	err = tx.Get(getRollup, nil, &s.next, &s.upto, &s.clearing, &s.pruned)
	return s, err
}

func (s rollupState) save(tx *store.Tx) error {
	_, err := tx.Exec(setRollup, s.next, s.upto, s.clearing)
	return err
}

// commit adds the tallies of a batch, in the transaction of its rows. While the roll-up is cleared,
// later days are left out: their rows are added after it.
func commit(tx *store.Tx, u *activity.RollUp) error {
	s, err := loadRollup(tx)
	if err != nil {
		return err
	}
	return u.Fold(tableSums{tx}, func(day int64) bool { return !s.clearing || day <= s.pruned })
}

// statements are those of a table of sums.
type statements struct{ get, put, count, prune, clear string }

var statementsOf = map[*activity.Level]statements{
	&activity.Hours: makeStatements(activity.Hours.Table), &activity.Days: makeStatements(activity.Days.Table),
}

func makeStatements(table string) statements {
	first := func(cond string) string {
		const query = "DELETE FROM %[1]s WHERE (%[2]s) IN (SELECT %[2]s FROM %[1]s WHERE start %[3]s ? ORDER BY %[2]s LIMIT ?)"
		return fmt.Sprintf(query, table, activity.SumColumns, cond)
	}
	return statements{
		get:   "SELECT data FROM " + table + " WHERE start = ? AND tenant = ? AND key = ? AND model = ? AND provider = ? AND code = ?",
		put:   "INSERT OR REPLACE INTO " + table + " (" + activity.SumColumns + ", data) VALUES (?, ?, ?, ?, ?, ?, ?)",
		count: "SELECT count(*) FROM " + table + " WHERE start = ? AND tenant = ? AND key = ?",
		prune: first("<"), clear: first(">="),
	}
}

// tableSums are the sums in a transaction.
type tableSums struct{ tx *store.Tx }

func argsOf(k activity.SumKey) []any {
	return []any{k.Start, k.Tenant, k.Key, k.Model, k.Provider, k.Code}
}

func (s tableSums) Read(rows ...activity.SumBatch) error {
	for _, r := range rows {
		for _, k := range r.Keys {
			var data []byte
			switch err := s.tx.Get(statementsOf[r.Level].get, argsOf(k), &data); {
			case err == nil:
				r.Data[k] = data
			case !errors.Is(err, sql.ErrNoRows):
				return err
			}
		}
	}
	return nil
}

func (s tableSums) Count(l *activity.Level, owners map[activity.SumKey]int) error {
	for k := range owners {
		var n int
		if err := s.tx.Get(statementsOf[l].count, argsOf(k)[:3], &n); err != nil {
			return err
		}
		owners[k] = n
	}
	return nil
}

func (s tableSums) Write(rows ...activity.SumBatch) error {
	for _, r := range rows {
		for _, k := range r.Keys {
			if _, err := s.tx.Exec(statementsOf[r.Level].put, append(argsOf(k), r.Data[k])...); err != nil {
				return err
			}
		}
	}
	return nil
}

// rollupBatch is how many rows one step adds or deletes: it delays a commit as little as pruning
// does.
const rollupBatch = pruneBatch

// rollupStep does one step of the work that a rebuild, or the first start with an older database,
// has left. Rows is how many rows of the activity it added.
func rollupStep(tx *store.Tx) (rows int, more bool, err error) {
	s, err := loadRollup(tx)
	if err != nil || s.complete() {
		return 0, false, err
	}
	if s.clearing {
		return 0, true, clearStep(tx, s)
	}
	var u activity.RollUp
	u.Reset()
	found, err := tx.Query(rollupRows, s.next, s.upto, rollupBatch)
	if err != nil {
		return 0, false, err
	}
	for err == nil && found.Next() {
		var seq, created int64
		var tenant string
		var data sql.RawBytes
		if err = found.Scan(&seq, &tenant, &created, &data); err == nil {
			s.next = seq + 1
			rows++
			_ = u.Add(tenant, created, data) // a damaged row is in no sum of rows either
		}
	}
	if err := errors.Join(err, found.Err(), found.Close()); err != nil {
		return 0, false, err
	}
	if rows < rollupBatch {
		s.next = s.upto + 1
	}
	if err := u.Fold(tableSums{tx}, func(day int64) bool { return day > s.pruned }); err != nil {
		return 0, false, err
	}
	return rows, !s.complete(), s.save(tx)
}

// clearStep deletes rows of the roll-up. When none is left, the rows of the activity are added again.
func clearStep(tx *store.Tx, s rollupState) error {
	if more, err := deleteSums(tx, statementsOf[&activity.Hours].clear, statementsOf[&activity.Days].clear, s.pruned+1); more || err != nil {
		return err
	}
	s.clearing, s.next = false, 1
	if err := tx.Get(lastSeq, nil, &s.upto); err != nil {
		return err
	}
	return s.save(tx)
}

// rollupOp is one step as an operation of the store. The store may apply it more than once.
type rollupOp struct {
	begin bool // a rebuild, before the step
	rows  int
	more  bool
}

func (*rollupOp) Droppable() bool { return false }

func (o *rollupOp) Apply(tx *store.Tx) (err error) {
	if o.begin {
		if _, err := tx.Exec(clearRollup); err != nil {
			return err
		}
	}
	o.rows, o.more, err = rollupStep(tx)
	return err
}

// deleteSums deletes one batch by the queries of the hours and the days, which take the start of a
// day.
func deleteSums(tx *store.Tx, hourly, daily string, day int64) (more bool, err error) {
	for _, q := range []struct {
		query string
		start int64
	}{{hourly, day * (activity.Days.Unit / activity.Hours.Unit)}, {daily, day}} {
		result, err := tx.Exec(q.query, q.start, rollupBatch)
		if err != nil {
			return false, err
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			return err == nil, err
		}
	}
	return false, nil
}
