package cluster

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

const (
	// presenceFile is the file of a data directory that has the number of gateways of the cluster.
	presenceFile = "gateways"
	// presenceInterval is the time between two questions to the database how many there are.
	presenceInterval = 10 * time.Second
	// presenceTimeout bounds such a question.
	presenceTimeout = 2 * time.Second
	// presenceSettles is how long the number of the last run counts too: after a start of all
	// gateways the database does not know each of them yet.
	presenceSettles = time.Minute
	// unknownGateways is how many there are supposed to be if nobody can be asked: a cluster has
	// two or more.
	unknownGateways = 2
	// mostGateways bounds what is believed of the file.
	mostGateways = 10_000
)

// presence knows how many gateways there are when the engine cannot be asked, so that each takes
// its part of the limits: the database says it, or the last run of this gateway has known it.
type presence struct {
	nodes  nodes
	file   string
	began  time.Time
	last   int // what the last run has known; 0: nothing
	kept   int // what is in the file
	logger *zap.Logger
	number atomic.Int64
}

// nodes is what the database knows of the gateways.
type nodes interface {
	// see says that this one lives, and returns how many do.
	see(ctx context.Context) (int, error)
	// forget says that this one ends.
	forget(ctx context.Context) error
}

// seen is nodes in PostgreSQL, as one of that name.
type seen struct {
	db   *postgres.DB
	name string
}

func (s seen) see(ctx context.Context) (int, error) { return s.db.See(ctx, s.name) }
func (s seen) forget(ctx context.Context) error     { return s.db.Forget(ctx, s.name) }

// newPresence reads what the last run has known.
func newPresence(dir string, n nodes, logger *zap.Logger) *presence {
	p := &presence{nodes: n, file: filepath.Join(dir, presenceFile), began: time.Now(), logger: logger}
	if text, err := os.ReadFile(p.file); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n > 0 && n <= mostGateways {
			p.last, p.kept = n, n
		}
	}
	p.number.Store(int64(cmp.Or(p.last, unknownGateways)))
	return p
}

// count returns the number.
func (p *presence) count() int { return int(p.number.Load()) }

// ask asks the database. While that is away, the number stays.
func (p *presence) ask(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, presenceTimeout)
	defer cancel()
	n, err := p.nodes.see(ctx)
	if err != nil {
		return // the writer of rows says that it is away
	}
	if now.Sub(p.began) < presenceSettles {
		n = max(n, p.last)
	}
	p.number.Store(int64(n))
	if n == p.kept {
		return
	}
	p.kept = n
	if err := os.WriteFile(p.file, []byte(strconv.Itoa(n)+"\n"), 0o600); err != nil {
		p.logger.Warn("keeping the number of gateways for a start without the engines", zap.Error(err))
	}
}

// follow asks now and then, until ctx ends.
func (p *presence) follow(ctx context.Context) {
	tick := time.NewTicker(presenceInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.ask(ctx, time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// leave says that this gateway ends: else it counts for a minute more.
func (p *presence) leave(ctx context.Context) {
	if err := p.nodes.forget(ctx); err != nil {
		p.logger.Debug("leaving the gateways that the database knows", zap.Error(err))
	}
}
