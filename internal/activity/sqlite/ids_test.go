package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

func openLog(t *testing.T, dir string) (*store.Store, *Log) {
	t.Helper()
	st, err := store.Open(dir, store.Options{Schemas: []store.Schema{Schema}, CommitInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st, New(st)
}

// call is the n-th call: its three IDs differ.
func call(n int) *activity.Record {
	return &activity.Record{ID: fmt.Sprint("gen-", n), RequestID: fmt.Sprint("req-", n), UpstreamID: fmt.Sprint("up-", n), Tenant: "default", CreatedAt: time.Unix(int64(n), 0)}
}

// appendCalls commits those from first to before end as one group.
func appendCalls(t *testing.T, st *store.Store, log *Log, first, end int) {
	t.Helper()
	for i := first; i < end; i++ {
		log.Append(call(i))
	}
	if err := st.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// mustFind looks for some of the calls from first to before end, including the first and the last.
func mustFind(t *testing.T, log *Log, first, end int) {
	t.Helper()
	const step = 51 // no divisor of a block
	for i := first; i < end; i = max(i+1, min(i+step, end-1)) {
		for _, prefix := range []string{"gen-", "req-", "up-"} {
			id := fmt.Sprint(prefix, i)
			if r, ok, err := log.Find(context.Background(), "default", id); err != nil || !ok || r.ID != fmt.Sprint("gen-", i) {
				t.Fatalf("%s: found %q, %v, %v", id, r.ID, ok, err)
			}
		}
	}
}

func TestIDsAreFoundHoweverRowsFellIntoGroups(t *testing.T) {
	dir := t.TempDir()
	st, log := openLog(t, dir)
	n := 0
	for _, group := range []int{1, 2, 17, 235, 1, 1, 255, 256, 257, 300} { // up to a block's end, one beyond it, and across it
		appendCalls(t, st, log, n, n+group)
		mustFind(t, log, max(n-1, 0), min(n+2, n+group))
		n += group
	}
	mustFind(t, log, 0, n)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st, log = openLog(t, dir) // in the middle of a block
	appendCalls(t, st, log, n, n+3)
	mustFind(t, log, n-2, n+3)
}

// remove is an operation of the writer, like a pruner.
type remove struct{ seqs string }

func (remove) Droppable() bool { return false }
func (r remove) Apply(tx *store.Tx) error {
	_, err := deleteRows(tx, r.seqs)
	return err
}

func TestIDsOfDeletedRows(t *testing.T) {
	st, log := openLog(t, t.TempDir())
	blocks := func() (n int) {
		if err := st.Reader().QueryRow("SELECT count(*) FROM activity_ids").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	do := func(seqs string) {
		if err := st.Submit(remove{seqs}); err != nil {
			t.Fatal(err)
		}
		if err := st.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	appendCalls(t, st, log, 1, 801) // seq equals the number; three whole blocks
	do("SELECT seq FROM activity WHERE seq < 300 AND seq <> 5")
	if n := blocks(); n != 3 {
		t.Errorf("%d blocks while each has a row", n)
	}
	if _, ok, err := log.Find(context.Background(), "default", "gen-299"); ok || err != nil {
		t.Errorf("a deleted row: %v, %v", ok, err)
	}
	mustFind(t, log, 5, 6)
	do("SELECT 5")
	if n := blocks(); n != 2 {
		t.Errorf("%d blocks after all rows of one are gone", n)
	}
	do("SELECT seq FROM activity WHERE seq > 600") // the newest: their seq is used again
	appendCalls(t, st, log, 1000, 1010)
	mustFind(t, log, 1000, 1010)
	mustFind(t, log, 300, 601)
	if _, ok, err := log.Find(context.Background(), "default", "up-605"); ok || err != nil {
		t.Errorf("the row before at the same place: %v, %v", ok, err)
	}
	do("SELECT seq FROM activity")
	if n := blocks(); n != 0 {
		t.Errorf("%d blocks of nothing", n)
	}
	appendCalls(t, st, log, 2000, 2300)
	mustFind(t, log, 2000, 2300)
}

func TestHashOfNothingIsNoHash(t *testing.T) {
	if hasherOf("t").hash("") != 0 || hasherOf("t").hash("a") == hasherOf("u").hash("a") {
		t.Error("hashes do not tell tenants or nothing apart")
	}
	_, log := openLog(t, t.TempDir())
	r := call(1)
	r.UpstreamID = ""
	log.Append(r)
	for range 3 {
		log.Append(&activity.Record{Tenant: "default", ID: "", RequestID: "same"}) // no ID at all
	}
	page, err := log.Query(context.Background(), activity.Filter{Tenant: "default", RequestID: "same", Limit: 2})
	if err != nil || len(page.Records) != 2 || page.Next == "" {
		t.Fatalf("%d records, next %q, %v", len(page.Records), page.Next, err)
	}
	page, err = log.Query(context.Background(), activity.Filter{Tenant: "default", RequestID: "same", Limit: 2, Cursor: page.Next})
	if err != nil || len(page.Records) != 1 || page.Next != "" {
		t.Errorf("next page: %d records, next %q, %v", len(page.Records), page.Next, err)
	}
}

// After a rejected operation the group is written one by one.
func TestRecordIsKeptWhenAnotherOperationIsRejected(t *testing.T) {
	st, log := openLog(t, t.TempDir())
	for i := range 20 {
		log.Append(call(i))
	}
	if err := st.Submit(remove{"SELECT nonsense"}); err != nil {
		t.Fatal(err)
	}
	appendCalls(t, st, log, 20, 40)
	mustFind(t, log, 0, 40)
	if page, err := log.Query(context.Background(), activity.Filter{Tenant: "default"}); err != nil || len(page.Records) != 40 {
		t.Errorf("%d records, %v", len(page.Records), err)
	}
}
