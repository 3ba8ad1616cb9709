package sqlite

import (
	"context"
	"fmt"
	"testing"
)

// The operator knows an id and no tenant. Rows are in the newest block, in older ones, and after a
// restart, which forgets the hashes in memory.
func TestTheOperatorFindsACallOfAnyTenant(t *testing.T) {
	dir := t.TempDir()
	st, log := openLog(t, dir)
	const n = 3*blockRows + 7
	for i := range n {
		r := call(i)
		r.Tenant = fmt.Sprint("tenant-", i%5)
		log.Append(r)
	}
	find := func(log *Log) {
		t.Helper()
		for _, i := range []int{0, 1, blockRows - 1, blockRows, 2*blockRows + 3, n - 1} {
			for _, prefix := range []string{"gen-", "req-", "up-"} {
				r, ok, err := log.FindAny(context.Background(), fmt.Sprint(prefix, i))
				if err != nil || !ok || r.ID != fmt.Sprint("gen-", i) || r.Tenant != fmt.Sprint("tenant-", i%5) || r.CreatedAt.Unix() != int64(i) {
					t.Fatalf("%s%d: %+v, %v, %v", prefix, i, r, ok, err)
				}
			}
		}
		for _, id := range []string{"", "gen-none", "gen"} {
			if _, ok, err := log.FindAny(context.Background(), id); ok || err != nil {
				t.Errorf("%q is found: %v", id, err)
			}
		}
	}
	find(log)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	_, log = openLog(t, dir)
	find(log)
}
