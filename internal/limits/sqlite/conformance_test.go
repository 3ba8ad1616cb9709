package sqlite_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/limitstest"
)

var noon = limitstest.Noon

// open opens a store with the tables of this package.
func open(t testing.TB, dir string, opts store.Options) *store.Store {
	t.Helper()
	opts.Schemas = []store.Schema{sqlite.LedgerSchema, sqlite.RateSchema}
	st, err := store.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func openLedger(t testing.TB, st *store.Store) (*sqlite.Ledger, []limits.Crash) {
	t.Helper()
	l, crashed, err := sqlite.OpenLedger(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	return l, crashed
}

func newLedger(t *testing.T) limits.Ledger {
	l, _ := openLedger(t, open(t, t.TempDir(), store.Options{CommitInterval: time.Millisecond}))
	return l
}

func TestLedgerKeepsTheContract(t *testing.T) { limitstest.Run(t, newLedger) }

func TestLedgerKeepsTheContractOnABadNetwork(t *testing.T) {
	for seed := range uint64(3) {
		limitstest.Run(t, func(t *testing.T) limits.Ledger { return limitstest.NewUnreliable(newLedger(t), seed, nil) })
	}
}

func TestLocalRatesKeepTheContract(t *testing.T) {
	limitstest.RunRates(t, func(t *testing.T, c *limitstest.Clock) limits.Rates { return rates(t, c.Now) })
	limitstest.RunRates(t, func(t *testing.T, c *limitstest.Clock) limits.Rates {
		return stored(t, open(t, t.TempDir(), store.Options{CommitInterval: time.Millisecond}), c.Now)
	})
}

func TestOneGatewayKeepsTheContractOfConcurrency(t *testing.T) {
	limitstest.RunConcurrency(t, func(t *testing.T) []limitstest.Gateway {
		return []limitstest.Gateway{{Limiter: limits.NewConcurrencyLimiter(), Rates: rates(t, time.Now)}}
	})
}
