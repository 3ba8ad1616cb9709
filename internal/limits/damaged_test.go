package limits_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// A gateway that starts without what was spent would let everybody spend it again.
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
		_, _, err := limits.NewLocal(t.Context(), st)
		if err == nil {
			_, err = limits.NewRates(t.Context(), st, (&clock{noon}).now)
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRatesOfAnotherVersionAreLeftAlone(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{CommitInterval: time.Millisecond})
	for _, values := range []string{"'usd', 'h'", "'requests', 'min'", "'requests', 'week'", "'', ''"} {
		if err := st.Submit(statement("INSERT INTO rate VALUES ('key:a', " + values + ", 1, 1, 0)")); err != nil {
			t.Fatal(err)
		}
	}
	if n := limits.Known(stored(t, st, (&clock{noon}).now)); n != 0 {
		t.Errorf("%d subjects are read", n)
	}
}
