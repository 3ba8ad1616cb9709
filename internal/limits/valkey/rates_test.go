package valkey_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/limitstest"
	valkeyclient "github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// patience bounds what a test waits for. Nothing waits that long unless it is broken.
const patience = 10 * time.Second

// peer is one node of a cluster.
type peer struct {
	*valkey.Rates
	node    *cluster.Node
	limiter *limits.ConcurrencyLimiter
	engine  *valkeyclient.Client
	logs    *observer.ObservedLogs
}

// started returns a gateway of a cluster. now is the clock of the engine, nil for its own.
func started(t testing.TB, e *enginetest.Engine, name string, now func() time.Time) *peer {
	t.Helper()
	return startedAt(t, e.Addr, cluster.Config{Node: name, Now: now})
}

// startedAt returns a gateway that reaches the engine at an address. It waits for an engine that
// this machine has no time for.
func startedAt(t testing.TB, addr string, c cluster.Config) *peer {
	t.Helper()
	return startedWith(t, addr, c, patience)
}

// startedWith returns a gateway that decides alone after a timeout; 0: the usual one.
func startedWith(t testing.TB, addr string, c cluster.Config, timeout time.Duration) *peer {
	t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	client := valkeyclient.New(valkeyclient.Config{Addresses: []string{addr}})
	c.Name, c.Engine, c.Logger = clusterName(t), client, zap.NewNop()
	node, clock := cluster.New(c), c.Now
	if clock == nil {
		clock = time.Now
	}
	local, err := sqlite.NewRates(t.Context(), nil, clock)
	if err != nil {
		t.Fatal(err)
	}
	limiter := limits.NewConcurrencyLimiter()
	a := valkey.NewRates(valkey.RatesConfig{Node: node, Local: local, Limiter: limiter, Logger: zap.New(core), Timeout: timeout})
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = a.Close(ctx)
		node.Stop()
		client.Close()
	})
	return &peer{a, node, limiter, client, logs}
}

// clusterName is another one for each test: they share an engine.
func clusterName(t testing.TB) string { return strings.ReplaceAll(t.Name(), "/", ".") }

func rated(t testing.TB, name string, words ...string) limits.Subject {
	t.Helper()
	s := limits.Subject{Name: name}
	for _, w := range words {
		rate, err := limits.ParseRate(w)
		if err != nil {
			t.Fatal(err)
		}
		s.Rates = append(s.Rates, rate)
	}
	return s
}

func TestSharedRatesKeepTheContract(t *testing.T) {
	e := enginetest.Redis(t)
	limitstest.RunRates(t, func(t *testing.T, c *limitstest.Clock) limits.Rates { return started(t, e, "a", c.Now) })
}

// turns sends each call to the next gateway.
type turns struct {
	of   []*peer
	next int
}

func (s *turns) Request(ctx context.Context, subjects []limits.Subject) (limits.Reading, *limits.RateRefusal, error) {
	s.next++
	return s.of[s.next%len(s.of)].Request(ctx, subjects)
}

func (s *turns) Tokens(ctx context.Context, n int64, subjects []limits.Subject) (limits.Reading, *limits.Grant, *limits.RateRefusal, error) {
	s.next++
	return s.of[s.next%len(s.of)].Tokens(ctx, n, subjects)
}

func (s *turns) Read(ctx context.Context, subjects []limits.Subject) ([]limits.RateUse, error) {
	s.next++
	return s.of[s.next%len(s.of)].Read(ctx, subjects)
}

// Three gateways in turn and one gateway by itself answer the same to the same calls.
func TestThreeGatewaysCountAsOne(t *testing.T) {
	e := enginetest.Redis(t)
	for seed := range uint64(amount(2, 4)) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			c := &limitstest.Clock{}
			c.Set(limitstest.Noon.Add(123456 * time.Microsecond))
			three := &turns{}
			for _, name := range []string{"a", "b", "c"} {
				three.of = append(three.of, started(t, e, name, c.Now))
			}
			one, err := sqlite.NewRates(t.Context(), nil, c.Now)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(seed, 1))
			all := []limits.Subject{
				rated(t, "key:a", "3/s", "40/min", "900 tokens/min"), rated(t, "key:b", "7/s", "30 tokens/s"),
				rated(t, "tenant:a", "50/min", "90/h", "5k tokens/h"), rated(t, "gateway", "200/day", "9k tokens/day"),
			}
			refused := 0
			for i := range 1500 {
				subjects := []limits.Subject{all[random.IntN(2)], all[2], all[3]}[:1+random.IntN(3)]
				if n := random.Int64N(40); n < 20 {
					want, wantRefusal, _ := one.Request(t.Context(), subjects)
					got, refusal, err := three.Request(t.Context(), subjects)
					if err != nil || wantRefusal == nil && got != want || !same(refusal, wantRefusal) {
						t.Fatalf("request %d: %+v %+v %v\nwant %+v %+v", i, got, refusal, err, want, wantRefusal)
					}
					if refusal != nil {
						refused++
					}
				} else {
					_, wantGrant, wantRefusal, _ := one.Tokens(t.Context(), n, subjects)
					_, grant, refusal, err := three.Tokens(t.Context(), n, subjects)
					if err != nil || !same(refusal, wantRefusal) {
						t.Fatalf("tokens %d: %+v %v\nwant %+v", i, refusal, err, wantRefusal)
					}
					if n%3 == 0 {
						actual := random.Int64N(80)
						wantGrant.Adjust(actual)
						grant.Adjust(actual)
						for _, s := range subjects {
							enginetest.Within(t, patience, "the correction is counted", func() bool { return used(t, one, s) == used(t, three, s) })
						}
					}
				}
				switch pause := random.IntN(20); {
				case pause == 0:
					c.Set(c.Now().Add(time.Duration(random.Int64N(int64(time.Minute / 2)))))
				case pause < 10:
					c.Set(c.Now().Add(time.Duration(random.Int64N(int64(time.Second)))))
				}
				c.Set(c.Now().Truncate(time.Microsecond))
			}
			if refused < 20 {
				t.Errorf("only %d refusals", refused)
			}
		})
	}
}

// same compares refusals. A remembered one does not look for another rate with a longer wait.
func same(a, b *limits.RateRefusal) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.RetryAfter == b.RetryAfter && a.Never == b.Never && a.Subject == b.Subject && a.Rate == b.Rate && a.Reset == b.Reset && a.Remaining == b.Remaining
}

func used(t *testing.T, r limits.Rates, s limits.Subject) (sum int64) {
	t.Helper()
	uses, err := r.Read(t.Context(), []limits.Subject{s})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range uses {
		sum += u.Used
	}
	return sum
}
