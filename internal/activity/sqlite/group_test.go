package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

func count(t *testing.T, st *store.Store, what string) (n int) {
	t.Helper()
	if err := st.Reader().QueryRow("SELECT count(*) FROM " + what).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEveryAppendedRecordIsKeptOnce(t *testing.T) {
	st, log := openLog(t, t.TempDir())
	const writers, each = 4, 500
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				log.Append(call(w*each + i))
				if i%100 == w { // the writer takes groups while others append
					if err := st.Flush(context.Background()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	mustFind(t, log, 0, writers*each)
	if n := count(t, st, "activity"); n != writers*each {
		t.Errorf("%d rows", n)
	}
}

func TestTheMemoryOfAWrittenGroupIsUsedAgain(t *testing.T) {
	st, log := openLog(t, t.TempDir())
	for i := range 3 {
		log.Append(call(i))
		if err := st.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// A Flush may return before the writer gives the memory back, but not the one after it.
	if err := errors.Join(st.Submit(remove{}), st.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	log.pending.mu.Lock()
	free := len(log.pending.free)
	log.pending.mu.Unlock()
	if free == 0 {
		t.Error("no memory is kept")
	}
	mustFind(t, log, 0, 3)
}

func TestTheMemoryOfABurstIsNotKept(t *testing.T) {
	var p pending
	for range 2 * maxFree {
		p.reuse(p.begin())
	}
	var groups []*group
	for range 2 * maxFree {
		groups = append(groups, p.begin())
	}
	for _, g := range groups {
		p.reuse(g)
	}
	if len(p.free) != maxFree {
		t.Errorf("%d buffers are kept", len(p.free))
	}
	large := &group{buffers: buffers{data: make([]byte, 0, 2*maxGroup)}}
	p.free = nil
	if p.reuse(large); len(p.free) > 0 || large.data != nil {
		t.Error("a large buffer is kept")
	}
}

func TestNoRecordJoinsAGroupThatIsWrittenOrFull(t *testing.T) {
	var p pending
	g := p.begin()
	g.add(call(0))
	p.take(g) // the writer is faster than the caller that submitted it
	p.keep(g)
	if p.add(call(1)) {
		t.Error("a record joins a group that is written")
	}
	g = p.begin()
	p.keep(g)
	for i := 0; p.add(call(i)); i++ {
		if len(g.data) > g.Size() {
			t.Fatal("a group has no end")
		}
	}
	if !g.sealed || len(g.data) < maxGroup {
		t.Errorf("a group ends with %d bytes", len(g.data))
	}
	if next := p.begin(); cap(next.data) < len(g.data) || cap(next.rows) < len(g.rows) {
		t.Error("the next group has no memory for as many")
	}
	p.keep(g)
	p.take(g)
	if p.open != nil {
		t.Error("a written group takes more records")
	}
}

func TestAppendKeepsNothingOfTheRecord(t *testing.T) {
	_, log := openLog(t, t.TempDir())
	r := call(1)
	r.Attempted = []activity.Attempt{{Target: "acme/m"}}
	log.Append(r)
	r.Attempted[0].Target = "other"
	*r = *call(2)
	log.Append(r)
	got, ok, err := log.Find(context.Background(), "default", "gen-1")
	if err != nil || !ok || got.Attempted[0].Target != "acme/m" {
		t.Errorf("got %+v, %v, %v", got, ok, err)
	}
	mustFind(t, log, 2, 3)
}

// A disk that fails is a renamed database: the writer keeps its group and tries again.
func TestRecordsAreWrittenOnceTheDiskWorksAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed")
	}
	dir := t.TempDir()
	st, err := store.Open(dir, store.Options{Schemas: []store.Schema{Schema}, CommitInterval: time.Millisecond, QueueBytes: 2 * 2 * maxGroup})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	log := New(st)
	appendCalls(t, st, log, 0, 250)
	path, away := filepath.Join(dir, store.FileName), filepath.Join(dir, "away")
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	n := 250
	for range 4 { // the first one fails; later records wait behind it
		for range 300 {
			log.Append(call(n))
			n++
		}
		if st.Flush(context.Background()) == nil {
			t.Fatal("a missing database takes rows")
		}
	}
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	if err := st.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	kept, lost := count(t, st, "activity"), int(st.Dropped())
	if kept+lost != n || lost == 0 || kept < 260 {
		t.Errorf("%d of %d rows kept, %d counted as lost", kept, n, lost)
	}
	mustFind(t, log, 0, 260) // across the end of a block
}

// A process that begins in the middle of a block reads the rows before, once the block is full.
func TestIDsOfABlockThatTwoProcessesWrote(t *testing.T) {
	dir := t.TempDir()
	st, log := openLog(t, dir)
	appendCalls(t, st, log, 1, 100)
	if err := st.Submit(remove{"SELECT seq FROM activity WHERE seq < 20"}); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st, log = openLog(t, dir)
	mustFind(t, log, 20, 100)
	appendCalls(t, st, log, 100, 400)
	mustFind(t, log, 20, 400)
	if _, ok, err := log.Find(context.Background(), "default", "gen-19"); ok || err != nil {
		t.Errorf("a deleted row: %v, %v", ok, err)
	}
}

// Earlier versions wrote the hashes of the newest block, too, with every commit.
func TestDatabaseWithAPartialLastBlock(t *testing.T) {
	dir := t.TempDir()
	st, log := openLog(t, dir)
	appendCalls(t, st, log, 0, 300)
	var partial []byte
	for seq := 256; seq <= 300; seq++ {
		for _, h := range hashesOf(call(seq - 1)) {
			partial = binary.LittleEndian.AppendUint32(partial, h)
		}
	}
	if err := st.Submit(save{1, partial}); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st, log = openLog(t, dir)
	for range 2 {
		mustFind(t, log, 0, 300)
		page, err := log.Query(context.Background(), activity.Filter{Tenant: "default", RequestID: "req-299"})
		if err != nil || len(page.Records) != 1 {
			t.Errorf("%d records, %v", len(page.Records), err)
		}
		appendCalls(t, st, log, 300, 700)
	}
}

type save struct {
	block  int64
	hashes []byte
}

func (save) Droppable() bool { return false }
func (s save) Apply(tx *store.Tx) error {
	_, err := tx.Exec(saveBlock, s.block, s.hashes)
	return err
}

// hashesOf must stay the checksum of tenant, zero byte and ID: databases have it.
func TestHashIsThatOfExistingDatabases(t *testing.T) {
	got := hashesOf(&activity.Record{Tenant: "default", ID: "gen-1", UpstreamID: strings.Repeat("é", 128)})
	if want := (hashes{slotID: 0x8a9b291, slotUpstream: 0xe7072368}); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}
