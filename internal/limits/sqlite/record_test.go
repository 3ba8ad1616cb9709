package sqlite

import (
	"math"
	"reflect"
	"testing"
)

func someRows() *ledgerRows {
	day, all := ledgerKey{"key:a", "usd/day", "2026-05-13"}, ledgerKey{"tenant:b", "tokens/total", "all"}
	return &ledgerRows{
		closed: []string{"one", "two/acme/dev"},
		spent:  []spentRow{{day, 0, 1}, {all, math.MaxInt64, 7}},
		opened: []openedCall{{"three", -5, []openedAmount{{day, 9}, {all, 0}}}, {"", math.MaxInt64, nil}},
	}
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	for name, rows := range map[string]*ledgerRows{"empty": {}, "all kinds": someRows()} {
		record := rows.AppendRecord(nil)
		got, err := redoRows(record)
		if err != nil || !reflect.DeepEqual(got, rows) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		for n := range record {
			if _, err := redoRows(record[:n]); err == nil {
				t.Errorf("%s: %d of %d bytes are read without an error", name, n, len(record))
			}
		}
		if _, err := redoRows(append(record, 0)); err == nil {
			t.Errorf("%s: a longer record is read without an error", name)
		}
	}
	if _, err := redoRows([]byte{recordVersion + 1}); err != errRecordVersion {
		t.Errorf("another version: %v", err)
	}
}

// What can be read of any record is written as a record that says the same.
func FuzzRecord(f *testing.F) {
	f.Add(someRows().AppendRecord(nil))
	f.Add((&ledgerRows{}).AppendRecord(nil))
	f.Fuzz(func(t *testing.T, record []byte) {
		op, err := redoRows(record)
		if err != nil {
			return
		}
		rows := op.(*ledgerRows)
		again, err := redoRows(rows.AppendRecord(nil))
		if err != nil || !reflect.DeepEqual(again, rows) {
			t.Errorf("%+v became %+v, %v", rows, again, err)
		}
		for _, s := range rows.spent {
			if s.amount < 0 || s.calls < 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}
