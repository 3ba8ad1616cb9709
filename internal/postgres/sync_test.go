package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// board is what gateways share: which number each has answered. Those that are down answer nothing.
type board struct {
	mu       sync.Mutex
	answered map[string]int64
	syncs    map[string]*postgres.Sync
	asks     int64
}

type peer struct {
	*board
	name string
}

func (p peer) Alone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.syncs) == 1
}

func (p peer) Ask(context.Context) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asks++
	for name, s := range p.syncs {
		if name != p.name && s != nil {
			s.Answer(p.asks)
		}
	}
	return p.asks, nil
}

func (p peer) Answer(_ context.Context, number int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered[p.name] = number
	return nil
}

func (p peer) Answered(_ context.Context, number int64) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.syncs {
		if name != p.name && p.answered[name] < number {
			return false, nil
		}
	}
	return true, nil
}

func (p peer) join(t *testing.T, w *postgres.Writer) *postgres.Sync {
	s := postgres.NewSync(w, p, zap.NewNop())
	t.Cleanup(s.Close)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.syncs[p.name] = s
	return s
}

func TestAQueryWaitsForTheRowsOfOthers(t *testing.T) {
	db := open(t)
	migrate(t, db)
	shared := &board{answered: map[string]int64{}, syncs: map[string]*postgres.Sync{}}
	a := peer{shared, "a"}.join(t, nil)
	a.Wait(t.Context())
	if shared.asks > 0 {
		t.Error("a gateway without others asks")
	}
	w := startWriter(t, db, nil, 0)
	defer closeWriter(t, w)
	peer{shared, "b"}.join(t, w)
	for n := range 10 {
		w.Append("number", number(n))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		a.Wait(ctx)
		if ctx.Err() != nil {
			t.Error("the other gateway did not answer in time")
		}
		cancel()
		wantNumbers(t, db, n+1)
	}
	shared.mu.Lock()
	shared.syncs["down"] = nil
	shared.mu.Unlock()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if a.Wait(ctx); time.Since(began) > time.Second {
		t.Errorf("a gateway that is down is waited for %v", time.Since(began))
	}
}
