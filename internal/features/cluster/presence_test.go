package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// counted is a database that knows so many gateways, or is away (0).
type counted int

func (c *counted) see(context.Context) (int, error) {
	if *c == 0 {
		return 0, errors.New("away")
	}
	return int(*c), nil
}

func (c *counted) forget(context.Context) error { return nil }

func TestAGatewayKnowsHowManyThereAreWithoutTheEngine(t *testing.T) {
	dir, database := t.TempDir(), counted(0)
	open := func() *presence { return newPresence(dir, &database, zap.NewNop()) }
	ask := func(p *presence, after time.Duration, want int) {
		t.Helper()
		p.ask(t.Context(), p.began.Add(after))
		if got := p.count(); got != want {
			t.Errorf("%d gateways after %v, want %d", got, after, want)
		}
	}
	first := open()
	ask(first, 0, unknownGateways) // nobody can say
	database = 1
	ask(first, time.Second, 1)
	database = 3
	ask(first, 10*time.Second, 3)
	database = 0
	ask(first, time.Hour, 3)
	again := open()
	ask(again, 0, 3) // as the last run has known
	database = 1     // all begin: the others have not told yet
	ask(again, time.Second, 3)
	ask(again, presenceSettles, 1)
	database = 0
	ask(open(), 0, 1)
}

// An engine is judged when it comes, not only when a gateway starts.
func TestAnEngineThatWouldLoseWhatWasSpentShutsHardBudgets(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	var distrusted error
	j := engineJudge{hard: true, distrust: func(err error) { distrusted = err }, logger: zap.New(core)}
	good := valkey.Server{Program: "Redis", Version: "7.0.15", Role: "master", AppendOnly: true, Eviction: "noeviction"}
	bad := good
	bad.Eviction = "allkeys-lru"
	for _, step := range []struct {
		server  valkey.Server
		shut    bool
		logged  int
		message string
	}{
		{good, false, 0, ""},
		{bad, true, 1, "hard budgets are shut: Redis at  has maxmemory-policy allkeys-lru: with full memory it forgets what was spent, and sessions"},
		{bad, true, 1, ""},
		{good, false, 2, "the settings of Valkey are as they should be"},
	} {
		if err := j.judge(step.server); (err != nil) != step.shut || (distrusted != nil) != step.shut {
			t.Errorf("%s: %v, %v", step.server.Eviction, err, distrusted)
		}
		if logs.Len() != step.logged {
			t.Errorf("%d lines are logged, want %d", logs.Len(), step.logged)
		} else if step.message != "" && logs.All()[step.logged-1].Message != step.message {
			t.Errorf("%q", logs.All()[step.logged-1].Message)
		}
	}
	j.hard = false
	if err := j.judge(bad); err != nil || distrusted != nil {
		t.Errorf("without a hard budget: %v", err)
	}
}
