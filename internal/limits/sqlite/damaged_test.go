package sqlite_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// A gateway that starts without the amounts already spent would let everybody spend them again.
func TestNothingStartsOnADatabaseThatCannotBeRead(t *testing.T) {
	const hold = "INSERT INTO hold VALUES ('call', 'key:a', 'usd/day', '2026-01-01', 5, 0)"
	rate := "INSERT INTO rate VALUES ('key:a', 'requests', 'h', 'now', 1, 0)"
	for name, statements := range map[string][]statement{
		"no table of holds":     {"DROP TABLE hold"},
		"no table of spending":  {"DROP TABLE ledger"},
		"a hold of no number":   {"INSERT INTO hold VALUES ('call', 'key:a', 'usd/day', '2026-01-01', 'many', 0)"},
		"no number spent":       {"INSERT INTO ledger VALUES ('key:a', 'usd/day', '2026-01-01', 'much', 1)"},
		"a hold without a book": {hold, "DROP TABLE ledger"},
		"no table of rates":     {"DROP TABLE rate"},
		"a slot of no number":   {statement(rate)},
	} {
		st := open(t, t.TempDir(), store.Options{CommitInterval: time.Millisecond})
		for _, s := range statements {
			if err := st.Submit(s); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := sqlite.OpenLedger(t.Context(), st)
		if err == nil {
			_, err = sqlite.NewRates(t.Context(), st, (&clock{noon}).now)
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRatesOfAnotherVersionAreIgnored(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{CommitInterval: time.Millisecond})
	for _, values := range []string{"'usd', 'h'", "'requests', 'min'", "'requests', 'week'", "'', ''"} {
		if err := st.Submit(statement("INSERT INTO rate VALUES ('key:a', " + values + ", 1, 1, 0)")); err != nil {
			t.Fatal(err)
		}
	}
	if n := sqlite.Known(stored(t, st, (&clock{noon}).now)); n != 0 {
		t.Errorf("%d subjects are read", n)
	}
}

// tried records the result of writing a change.
type tried struct {
	store.Op
	err error
}

func (op *tried) Apply(tx *store.Tx) error {
	op.err = op.Op.Apply(tx)
	return op.err
}

// Without the error the store would take a change for written that a full disk refused.
func TestAChangeThatCannotBeWrittenIsAnErrorToTheStore(t *testing.T) {
	l, r, taken := observed(t)
	if err := reserveTokens(t, l, "1", 5); err != nil {
		t.Fatal(err)
	}
	settleTokens(t, l, "1", 4)
	r.Ask([]limits.Subject{rated(t, "key:a", "10/h")})
	if len(taken.all) != 3 {
		t.Fatalf("%d changes, want 3", len(taken.all))
	}
	for table, want := range map[statement][]bool{ // begun, settled, counted
		"hold": {true, true, false}, "ledger": {false, true, false}, "rate": {false, false, true},
	} {
		st := open(t, t.TempDir(), store.Options{})
		var got []bool
		for _, op := range append([]store.Op{"DROP TABLE " + table}, taken.all...) {
			change := &tried{Op: op}
			if err := st.Submit(change); err != nil {
				t.Fatal(err)
			}
			if err := st.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			got = append(got, change.err != nil)
		}
		if !slices.Equal(got[1:], want) {
			t.Errorf("without %s: errors %v, want %v", table, got[1:], want)
		}
	}
}
