package admission

import (
	"context"
	"sync"
	"time"
)

// lazyTimeout is a context with a timeout that begins when somebody first asks for it. A timer costs
// more than a ledger on this machine, which never does.
type lazyTimeout struct {
	limit  time.Duration
	begin  sync.Once
	timed  context.Context // nil until it is asked for
	cancel context.CancelFunc
}

func (t *lazyTimeout) begun() context.Context {
	t.begin.Do(func() { t.timed, t.cancel = context.WithTimeout(context.Background(), t.limit) })
	return t.timed
}

func (t *lazyTimeout) Deadline() (time.Time, bool) { return t.begun().Deadline() }
func (t *lazyTimeout) Done() <-chan struct{}       { return t.begun().Done() }
func (t *lazyTimeout) Err() error                  { return t.begun().Err() }
func (t *lazyTimeout) Value(any) any               { return nil }

// stop ends the context. Nobody may ask for it for the first time at the same time.
func (t *lazyTimeout) stop() {
	if t.cancel != nil {
		t.cancel()
	}
}
