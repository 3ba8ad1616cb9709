package valkey

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

const (
	// ratesTimeout is how long a call waits for the engine. Then this gateway decides alone.
	ratesTimeout = 100 * time.Millisecond
	// askInterval is the time between two questions about slots for which calls wait. Usually an
	// event comes first.
	askInterval = 250 * time.Millisecond
	// batch is how many statements or corrections one message has.
	batch = 64
)

var (
	//go:embed rates_window.lua
	windowText string
	//go:embed slots.lua
	placesText string
	//go:embed rates_admit.lua
	admitText string
	//go:embed rates_correct.lua
	correctText string
	//go:embed rates_look.lua
	lookText string
	//go:embed rates_reap.lua
	reapText string

	scripts = rateScripts{
		admit:   cluster.NewScript("admit", windowText+placesText+admitText),
		correct: cluster.NewScript("correct", windowText+correctText),
		look:    cluster.NewScript("look rates", windowText+lookText),
		reap:    cluster.NewScript("reap places", placesText+reapText),
	}
)

type rateScripts struct{ admit, correct, look, reap *valkey.Script }

// within returns the scripts whose answers are awaited for so long. Nobody waits for reap.
func (s rateScripts) within(d time.Duration) rateScripts {
	return rateScripts{admit: s.admit.Within(d), correct: s.correct.Within(d), look: s.look.Within(d), reap: s.reap}
}

// RatesConfig is what an Rates needs.
type RatesConfig struct {
	Node    *cluster.Node
	Local   limits.Rates               // decide while the engine does not answer
	Limiter *limits.ConcurrencyLimiter // shares its slots
	Logger  *zap.Logger
	Timeout time.Duration // for tests: how long a call waits for the engine; 0: 100 ms
}

// Rates is rates, and slots of calls at once, that the gateways of a cluster share. It is
// [limits.Rates] and [limits.SharedSlots].
//
// While the engine does not answer, a gateway decides alone with its part of each limit: the limit
// by the number of gateways, rounded up. So rates are at most twice the limit in the window of the
// switch, and calls at once at most the limit and that part. A request whose answer is lost counts
// twice: here and there.
type Rates struct {
	node        *cluster.Node
	local       limits.Rates
	limiter     *limits.ConcurrencyLimiter
	slots       *slots
	ask         func(context.Context, []limits.Subject, []want) (limits.Reading, *limits.RateRefusal, []granted, error) // enter, or a bad network in tests
	scripts     rateScripts
	breaker     *breaker
	refusals    refusals
	corrections corrections

	changed chan struct{} // something waits to be sent; capacity 1
	stop    context.CancelFunc
	ended   sync.WaitGroup
}

// NewRates joins the node. It must be called before the node starts.
func NewRates(c RatesConfig) *Rates {
	ctx, stop := context.WithCancel(context.Background())
	a := &Rates{
		node: c.Node, local: c.Local, limiter: c.Limiter, scripts: scripts.within(cmp.Or(c.Timeout, ratesTimeout)), breaker: &breaker{logger: c.Logger},
		changed: make(chan struct{}, 1), stop: stop,
	}
	a.ask = a.enter
	a.slots = newSlots(c.Limiter, a.wake)
	c.Limiter.Share(a)
	c.Node.Join(cluster.Part{
		Name:   "concurrency",
		Beat:   func(context.Context) error { a.slots.restateAll(false); return nil },
		Rejoin: func(context.Context) error { a.slots.restateAll(true); return nil },
		Replay: func(context.Context, bool) error { a.slots.restateAll(true); return nil },
		Reap:   a.reap,
	})
	c.Node.On("places", a.slots.recheck)
	a.ended.Add(1)
	go a.send(ctx)
	return a
}

// Close sends what waits, for as long as the context lets it, and ends. The node must not have
// stopped.
func (a *Rates) Close(ctx context.Context) error {
	a.stop()
	a.ended.Wait()
	err := a.flush(ctx)
	a.limiter.Share(nil)
	return err
}

// Request implements limits.Rates.
func (a *Rates) Request(ctx context.Context, subjects []limits.Subject) (limits.Reading, *limits.RateRefusal, error) {
	reading, refusal, _, err := a.enter(ctx, subjects, nil)
	return reading, refusal, err
}

// Share implements limits.SharedSlots.
func (a *Rates) Share(subject string, demand *limits.Demand) limits.Share {
	q := &share{of: a.slots, subject: subject, demand: demand}
	a.slots.shares[subject] = q
	return q
}

// Enter implements limits.SharedSlots.
func (a *Rates) Enter(ctx context.Context, subjects []limits.Subject) (reading limits.Reading, refusal *limits.RateRefusal, err error) {
	a.slots.enter(subjects, func(counted bool, wants []want) (refused bool, answers []granted) {
		if counted {
			_, _, answers, err = a.ask(ctx, nil, wants)
		} else {
			reading, refusal, answers, err = a.ask(ctx, subjects, wants)
		}
		return refusal != nil || err != nil, answers
	})
	return reading, refusal, err
}

// enter counts one request, unless there are no subjects, and states the wants, in one message. It
// returns an answer to each of them, and none with a refusal or an error: then nothing was stated.
func (a *Rates) enter(ctx context.Context, subjects []limits.Subject, wants []want) (limits.Reading, *limits.RateRefusal, []granted, error) {
	if err := ctx.Err(); err != nil {
		return limits.Reading{}, nil, nil, err
	}
	began := a.node.Now()
	if refusal := a.refusals.find(subjects, began); refusal != nil {
		return refusal.Reading, refusal, nil, nil
	}
	var buffer [limits.MaxSubjects]ratedSubject
	rates := ratesOf(buffer[:0], limits.Requests, subjects)
	if len(rates) == 0 && len(wants) == 0 {
		return limits.Reading{}, nil, nil, nil
	}
	answer, ok := a.admit(ctx, 1, rates, wants)
	if !ok {
		reading, refusal, err := a.local.Request(ctx, a.part(subjects))
		return whole(reading, subjects), wholeRefusal(refusal, subjects), a.guess(wants), err
	}
	if answer.refusal != nil {
		a.refusals.remember(answer.refusal, began)
		return answer.refusal.Reading, answer.refusal, nil, nil
	}
	return answer.reading, nil, answer.shares, nil
}

// Tokens implements limits.Rates.
func (a *Rates) Tokens(ctx context.Context, n int64, subjects []limits.Subject) (limits.Reading, *limits.Grant, *limits.RateRefusal, error) {
	if err := ctx.Err(); err != nil {
		return limits.Reading{}, nil, nil, err
	}
	n = max(n, 0)
	var buffer [limits.MaxSubjects]ratedSubject
	rates := ratesOf(buffer[:0], limits.Tokens, subjects)
	if len(rates) == 0 {
		return limits.Reading{}, limits.NewGrant(n, func(int64) {}), nil, nil
	}
	answer, ok := a.admit(ctx, n, rates, nil)
	if !ok {
		reading, grant, refusal, err := a.local.Tokens(ctx, n, a.part(subjects))
		return whole(reading, subjects), grant, wholeRefusal(refusal, subjects), err
	}
	if answer.refusal != nil {
		return answer.refusal.Reading, nil, answer.refusal, nil
	}
	corrections := make([]correction, len(rates))
	for i, r := range rates {
		corrections[i] = correction{window: r.window(), seconds: r.seconds(), slot: answer.windows[i].Window.Head()}
	}
	return answer.reading, limits.NewGrant(n, func(delta int64) {
		if n > 0 { // what has counted nothing is not corrected
			a.correctLater(corrections, delta)
		}
	}), nil, nil
}

// admit sends a message. It reports false if the engine does not answer, or has taken this gateway
// for dead.
func (a *Rates) admit(ctx context.Context, n int64, rates []ratedSubject, wants []want) (answer admitted, ok bool) {
	if a.breaker.open.Load() {
		return answer, false
	}
	n = bounded(n)
	// A client that leaves is no engine that does not answer.
	reply, err := a.node.Run(context.WithoutCancel(ctx), a.scripts.admit, admitArgs(n, rates, wants)...)
	if errors.Is(err, cluster.ErrLeaseLost) { // the node states its places again
		return answer, false
	}
	if err == nil {
		answer, err = parseAdmitted(reply, n, rates, wants)
	}
	if a.breaker.note(err) {
		a.slots.setNodes(a.node.Count(), false)
	}
	return answer, err == nil
}
