package clusterimport_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/clusterimport"
	"github.com/gatehouse-proxy/gatehouse/internal/features/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// many is how many rows of each kind are moved.
const many = 5000

// records is a storage that a test has filled.
type records map[string][]byte

func (r records) Store(context.Context, string, []byte) error { return errors.New("it is only read") }
func (r records) Delete(context.Context, string) error        { return errors.New("it is only read") }

func (r records) Load(_ context.Context, key string) ([]byte, error) { return r[key], nil }

func (r records) List(context.Context, string, bool) (keys []string, err error) {
	for key := range r {
		keys = append(keys, key)
	}
	return keys, nil
}

// rows is a statement with many rows.
type rows struct {
	query string
	args  func(n int) []any
}

func (rows) Droppable() bool { return false }

func (r rows) Apply(tx *store.Tx) error {
	for n := range many {
		if _, err := tx.Exec(r.query, r.args(n)...); err != nil {
			return err
		}
	}
	return nil
}

// alone fills the database of a gateway, and returns what its calls have cost.
func alone(t *testing.T, name string) (from clusterimport.Source, spent, cost *big.Int) {
	t.Helper()
	st, err := gateway.OpenStopped(t.TempDir(), zap.NewNop(), runtimekeys.Schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	id := func(n int) []byte {
		sum := sha256.Sum256(fmt.Append(nil, name, n))
		return sum[:]
	}
	spent, cost = new(big.Int), new(big.Int)
	amount := func(n int) int64 { return 1<<45 + int64(n) }
	for _, r := range []rows{
		{"INSERT INTO ledger (subject, budget, period, spent, version) VALUES (?, 'usd/day', ?, ?, 1)", func(n int) []any {
			spent.Add(spent, big.NewInt(amount(n)))
			return []any{fmt.Sprint("key:", name, n%50), fmt.Sprint("2026-", n), amount(n)}
		}},
		{"INSERT INTO api_key VALUES (?, ?, 'acme', ?, 1, 2, '', '{}')", func(n int) []any { return []any{id(n), n + 1, fmt.Sprint(name, n)} }},
		{"INSERT INTO api_key_secret VALUES (?, ?, 0)", func(n int) []any { return []any{id(n), id(n)} }},
		{"INSERT INTO owners VALUES ('openai', ?, 'response', 'acme', ?)", func(n int) []any {
			return []any{fmt.Sprint(name, n), time.Now().Add(owners.TTL).UnixNano()}
		}},
	} {
		if err := st.Submit(r); err != nil {
			t.Fatal(err)
		}
		if err := st.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	log, random, now := sqliteactivity.New(st), rand.New(rand.NewPCG(1, 1)), time.Now()
	for n := range many {
		r := activitytest.Random(random, n)
		r.ID, r.RequestID, r.CreatedAt, r.CostNano = fmt.Sprint(name, n), fmt.Sprint("req-", name, n), now.Add(-time.Duration(n)*4*time.Minute), amount(n)
		cost.Add(cost, big.NewInt(r.CostNano))
		log.Append(r)
	}
	old := activitytest.Call(0)
	old.CreatedAt = now.AddDate(0, 0, -100)
	log.Append(old)
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	desks := records{}
	for n := range many {
		desk := fmt.Sprint(name, n)
		sum := sha256.Sum256([]byte("acme\x00" + desk))
		value, err := json.Marshal(map[string]any{"version": 1, "tenant": "acme", "name": desk, "address": "10.0.0.7:5901", "registered_at": now, "changed_at": now})
		if err != nil {
			t.Fatal(err)
		}
		desks["gatehouse/workstations/"+hex.EncodeToString(sum[:])+".json"] = value
	}
	return clusterimport.Source{Store: st, Storage: desks}, spent, cost
}

func TestEverythingIsMovedOnce(t *testing.T) {
	db, err := postgres.Open(enginetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	engine := valkey.New(valkey.Config{Addresses: []string{enginetest.Redis(t).Addr}})
	defer engine.Close()
	to := clusterimport.Target{DB: db, Engine: engine, Cluster: "prod", Schemas: cluster.Schemas, Keep: activity.DefaultAge}
	a, spent, cost := alone(t, "a")
	b, _, _ := alone(t, "b")
	move := func(what string, from clusterimport.Source, o clusterimport.Options, before int64) {
		t.Helper()
		report, err := clusterimport.Run(t.Context(), from, to, o)
		if err != nil || len(report) != 5 {
			t.Fatalf("%s: %d parts, %v", what, len(report), err)
		}
		for i, sum := range []string{spent.String(), "0", "0", "0", cost.String()} {
			if p := report[i]; p.Rows != many || p.Sum != sum || p.Before != before || p.After != before+many || p.LeftOut != int64(i/4) {
				t.Errorf("%s: %+v, want %d with the sum %s", what, p, many, sum)
			}
		}
	}
	move("a dry run", a, clusterimport.Options{DryRun: true}, 0)
	move("a move", a, clusterimport.Options{}, 0)
	if _, err := clusterimport.Run(t.Context(), a, to, clusterimport.Options{}); !errors.Is(err, clusterimport.ErrNotEmpty) {
		t.Errorf("into a cluster that has rows: %v", err)
	}
	if _, err := clusterimport.Run(t.Context(), a, to, clusterimport.Options{Merge: true}); !errors.Is(err, clusterimport.ErrTwice) {
		t.Errorf("a second time: %v", err)
	}
	later := activitytest.Call(1) // the gateway has run since
	later.CreatedAt = time.Now()
	sqliteactivity.New(a.Store).Append(later)
	if err := a.Store.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := clusterimport.Run(t.Context(), a, to, clusterimport.Options{Merge: true}); !errors.Is(err, clusterimport.ErrTwice) {
		t.Errorf("a second time, with a call more: %v", err)
	}
	move("another gateway", b, clusterimport.Options{Merge: true}, many)

	log := postgresactivity.New(postgresactivity.Config{DB: db, Writer: postgres.NewWriter(db, "a"), Node: "a"})
	if _, ok, err := log.FindAny(t.Context(), "req-b77"); !ok || err != nil {
		t.Errorf("a call that was moved: %v, %v", ok, err)
	}
	sums := func() (calls, nano int64) {
		days, err := log.Daily(t.Context(), activity.Filter{AllTenants: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range days {
			calls, nano = calls+d.Requests, nano+d.CostNano
		}
		return calls, nano
	}
	calls, nano := sums()
	if want := 2 * (cost.Int64() + activitytest.Call(0).CostNano); calls != 2*many+2 || nano != want {
		t.Errorf("the sums have %d calls for %d nano-USD, want %d", calls, nano, want)
	}
	if n, err := log.Rebuild(t.Context()); n != 2*many || err != nil {
		t.Errorf("rebuilt from %d rows, %v", n, err)
	}
	if c, n := sums(); c != calls || n != nano {
		t.Errorf("rebuilt, the sums have %d calls for %d nano-USD", c, n)
	}
}
