package gateway

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// brokenLedger fails to tell its subjects.
type brokenLedger struct {
	limits.Ledger
	err error
}

func (l brokenLedger) Subjects(context.Context, time.Time) ([]string, error) { return nil, l.err }

func TestAStartWaitsForNoLedger(t *testing.T) {
	away := fmt.Errorf("%w: Valkey does not answer", limits.ErrUnavailable)
	if err := warnOfUnnamed(t.Context(), brokenLedger{err: away}, time.Now(), nil, nil, zap.NewNop()); err != nil {
		t.Errorf("while the engine is away: %v", err)
	}
	broken := errors.New("broken")
	if err := warnOfUnnamed(t.Context(), brokenLedger{err: broken}, time.Now(), nil, nil, zap.NewNop()); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}
