package sqlite

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// The rows of a run are found in the newest block, in older ones, after a restart, and in blocks
// that were written before they had traces.
func TestARunIsFoundInBlocksOfAnyAge(t *testing.T) {
	dir := t.TempDir()
	st, log := openLog(t, dir)
	trace := strings.Repeat("ab", 16)
	n := 0
	add := func(rows int) {
		for range rows {
			r := call(n)
			if r.TraceID = strings.Repeat("cd", 16); n%100 == 0 {
				r.TraceID = trace
			}
			r.Tenant = fmt.Sprint("tenant-", n%2)
			log.Append(r)
			n++
		}
		if err := st.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	find := func(what string) {
		t.Helper()
		for _, f := range []activity.Filter{{AllTenants: true}, {Tenant: "tenant-0"}, {Tenant: "tenant-1"}} {
			f.TraceID, f.Limit = trace, 3
			var got, want []string
			for i := n - 1; i >= 0; i-- {
				if i%100 == 0 && f.Tenant != "tenant-1" { // they are of tenant-0
					want = append(want, fmt.Sprint("gen-", i))
				}
			}
			for {
				page, err := log.Query(context.Background(), f)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range page.Records {
					got = append(got, r.ID)
				}
				if f.Cursor = page.Next; page.Next == "" {
					break
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %q: found %v, want %v", what, f.Tenant, got, want)
			}
		}
	}
	add(3 * blockRows)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st, log = openLog(t, dir)
	find("after a restart")
	if err := st.Submit(cutBlocks{}); err != nil {
		t.Fatal(err)
	}
	add(2*blockRows + 7)
	find("with older blocks")
}

// cutBlocks leaves blocks as an older gateway has written them.
type cutBlocks struct{}

func (cutBlocks) Apply(tx *store.Tx) error {
	_, err := tx.Exec("UPDATE activity_ids SET hashes = substr(hashes, 1, ?)", traceBlock)
	return err
}

func (cutBlocks) Droppable() bool { return false }
