package runtimekeys_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// many is a gateway with many keys.
const many = 100_000

func manySecret(i int) string { return fmt.Sprintf("gh-benchmark-%030d", i) }

// fill writes many keys to a store, in few commits.
func fill(b *testing.B, st *store.Store) {
	limit := int64(5e9)
	for i := range many {
		sum, _ := keys.Sum(manySecret(i))
		r := &runtimekeys.Record{
			ID: sum, Seq: int64(i + 1), Tenant: "acme", Label: "gh-ben...123", Created: noon, Secrets: []runtimekeys.Secret{{Sum: sum}},
			Settings: runtimekeys.Settings{Name: fmt.Sprintf("key of user %d", i), Limit: &limit, Reset: "monthly", Creator: "user_123"},
		}
		if err := st.Submit(runtimekeys.Insertion(r)); err != nil {
			b.Fatal(err)
		}
	}
	if err := st.Flush(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkManyKeys reports how long 100,000 keys take to be read at a start, the memory of each
// before and after its first call, and a look-up.
func BenchmarkManyKeys(b *testing.B) {
	st := openStore(b, b.TempDir())
	fill(b, st)
	block := block(nil)
	before := heap()
	began := time.Now()
	s, _ := open(b, runtimekeys.NewTable(st))
	took := time.Since(began)
	after := heap()
	for i := range many {
		_, _, _ = s.Authenticate(block, manySecret(i), noon)
	}
	used := heap()
	b.Run("lookup", func(b *testing.B) {
		secrets := make([]string, 1024)
		for i := range secrets {
			secrets[i] = manySecret(i * 97)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, _, err := s.Authenticate(block, secrets[i%len(secrets)], noon); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(took.Milliseconds()), "start-ms")
		b.ReportMetric(float64(after-before)/many, "B/key")
		b.ReportMetric(float64(used-after)/many, "B/used-key")
	})
	b.Run("unknown", func(b *testing.B) {
		for b.Loop() {
			_, _, _ = s.Authenticate(block, "gh-unknown-secret-of-nobody", noon)
		}
	})
	b.Run("change", func(b *testing.B) {
		s, _ := open(b, noTable{runtimekeys.NewTable(st)})
		hash := s.List(keys.EveryTenant(""), runtimekeys.Query{})[0].Hash()
		edit := mustEdit(b, false, `{"name":"renamed"}`)
		for b.Loop() {
			if _, err := s.Update(context.Background(), block, keys.EveryTenant(""), hash, edit); err != nil {
				b.Fatal(err)
			}
		}
	})
	runtime.KeepAlive(s)
}

// BenchmarkManySharedKeys is what BenchmarkManyKeys reports of a start, from PostgreSQL and from the
// snapshot, and the time of a change among so many keys.
func BenchmarkManySharedKeys(b *testing.B) {
	dsn := migrate(b, enginetest.Postgres(b))
	db, err := postgres.Open(dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	limit := int64(5e9)
	err = postgres.NewFeed(postgres.FeedConfig{DB: db}).Change(context.Background(), func(ctx context.Context, tx pgx.Tx, _ int64) error {
		for i := range many {
			sum, _ := keys.Sum(manySecret(i))
			r := runtimekeys.Record{
				ID: sum, Seq: int64(i + 1), Version: int64(i + 1), Tenant: "acme", Label: "gh-ben...123", Created: noon, Secrets: []runtimekeys.Secret{{Sum: sum}},
				Settings: runtimekeys.Settings{Name: fmt.Sprintf("key of user %d", i), Limit: &limit, Reset: "monthly", Creator: "user_123"},
			}
			if err := runtimekeys.Upsert(ctx, tx, &r); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "UPDATE feed SET seq = $1", many)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	start := func(b *testing.B) *node {
		before, began := heap(), time.Now()
		n, err := join(b, dsn, dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		took := time.Since(began)
		if list := n.List(acme, runtimekeys.Query{Offset: many - 1}); len(list) != 1 {
			b.Fatal("keys are missing")
		}
		b.ReportMetric(float64(took.Milliseconds()), "start-ms")
		b.ReportMetric(float64(heap()-before)/many, "B/key")
		return n
	}
	b.Run("first start", func(b *testing.B) {
		for range b.N {
			start(b).close()
		}
	})
	b.Run("start", func(b *testing.B) {
		for range b.N {
			start(b).close()
		}
	})
	b.Run("change", func(b *testing.B) {
		n := start(b)
		hash := n.List(acme, runtimekeys.Query{})[0].Hash()
		edit := mustEdit(b, false, `{"name":"renamed"}`)
		for b.Loop() {
			if _, err := n.Update(context.Background(), block(nil), acme, hash, edit); err != nil {
				b.Fatal(err)
			}
		}
		n.close()
	})
	b.Run("start from the snapshot", func(b *testing.B) {
		for range b.N {
			n, err := join(b, "postgres://127.0.0.1:1/none", dir, nil)
			if err != nil {
				b.Fatal(err)
			}
			n.close()
		}
	})
}

// noTable reads a table and writes nothing.
type noTable struct{ runtimekeys.Table }

func (noTable) Change(_ context.Context, judge runtimekeys.Judge) error {
	_, _, err := judge()
	return err
}
