// Package valkey has the tokens and sessions of several gateways in Valkey or Redis.
//
//	desktops := valkey.New(valkey.Config{State: state, Node: node, Records: records, Feed: feed}) // before node.Start
//	desktops.Start()
//	desktops.Close()
//
// A release is first in the records, then in the engine, and then an event. A gateway that misses the
// event reads it in the records within a second, or learns of it with its next beat.
package valkey

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

const (
	// pollInterval is the time between two checks whether somebody could end a session here.
	pollInterval = time.Second
	// pingTimeout bounds the question to the engine.
	pingTimeout = time.Second
	// feedIsLate is how old the last reading of the feed, one each second, may be.
	feedIsLate = 3 * time.Second
	// lostAfter is how long sessions stay open that nobody could end: neither the engine nor the
	// records can be read.
	lostAfter = 30 * time.Second
	// readTimeout bounds the reading of workstations of which events tell.
	readTimeout = 2 * time.Second
)

// eventChanged names a workstation: another gateway has ended sessions or tokens there. It may be lost.
const eventChanged = "desktop-changed"

// Node is what is needed of a [cluster.Node].
type Node interface {
	ID() string
	Now() time.Time
	Run(ctx context.Context, s *valkey.Script, args ...string) (valkey.Reply, error)
	Publish(ctx context.Context, kind, text string) error
	On(kind string, f func(text string))
	Join(p cluster.Part)
	Await(ctx context.Context) error
}

// Config is what New needs.
type Config struct {
	State   *desktop.State
	Node    Node
	Records desktop.Records
	Feed    *postgres.Feed   // by which the records are followed
	Now     func() time.Time // the clock of State; nil: time.Now
}

// Desktops has a State share its tokens and sessions.
type Desktops struct {
	state    *desktop.State
	shared   *desktop.Shared
	store    *store
	feed     *postgres.Feed
	news     *news
	keepOpen atomic.Bool
	heard    time.Time // the last answer of the engine or the records

	stop chan struct{}
	once sync.Once
	done sync.WaitGroup
}

// New makes the State of a gateway one that others share. It must be called before the node starts
// and before the first service of workstations does.
func New(c Config) *Desktops {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &store{codec: codec{now: c.Now, engine: c.Node.Now}, node: c.Node, recent: &recent{tokens: make(map[desktop.Hash]issuedToken)}}
	d := &Desktops{state: c.State, store: s, feed: c.Feed, stop: make(chan struct{})}
	d.shared = desktop.NewShared(c.State, s, c.Records)
	d.news = &news{read: d.changed, unread: make(map[desktop.ID]bool)}
	c.Node.On(eventChanged, func(text string) { d.news.add(parseID(text)) })
	c.Node.Join(cluster.Part{
		Name: "desktops", Beat: d.beat, Rejoin: d.shared.Rejoin, Reap: d.reap,
		Replay: func(ctx context.Context, _ bool) error { return d.shared.Replay(ctx, s.recent.all(c.Now())) },
	})
	return d
}

// changed reads what other gateways have changed. If that fails, the next beat reads it.
func (d *Desktops) changed(ids ...desktop.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	changed, _ := d.shared.Changed(ctx, ids...)
	for _, w := range changed {
		d.store.recent.refresh(w)
	}
}

func (d *Desktops) beat(ctx context.Context) error {
	d.store.recent.all(d.store.now()) // forgets old ones
	held, err := d.store.note(ctx, d.shared.Traffic())
	if err != nil {
		return err
	}
	return d.shared.Beat(ctx, held)
}

// reap takes out the sessions of a node that is dead.
func (d *Desktops) reap(ctx context.Context, node string) error {
	held, err := d.store.held(ctx, node)
	if err != nil || len(held) == 0 {
		return err
	}
	if err := d.shared.Reap(ctx, node, held); err != nil {
		return err
	}
	return d.store.forget(ctx, node)
}

// KeepOpen says whether sessions stay open while neither Valkey nor PostgreSQL can be reached
// (on_store_failure open). Otherwise they end after 30 seconds.
func (d *Desktops) KeepOpen(yes bool) { d.keepOpen.Store(yes) }

// Start begins to check whether the engine or PostgreSQL answers, until Close.
func (d *Desktops) Start() {
	d.done.Go(func() {
		tick := time.NewTicker(pollInterval)
		defer tick.Stop()
		for {
			select {
			case <-d.stop:
				return
			case <-tick.C:
				d.poll()
			}
		}
	})
}

// Close ends what Start and events began.
func (d *Desktops) Close() {
	d.once.Do(func() { close(d.stop) })
	d.done.Wait()
	d.news.close()
}

// poll finds out when somebody could last end a session of this gateway: its workstation's release is
// read in the records, or heard of through the engine. A server that hangs must not hold this up. After
// 30 seconds without an answer all sessions end: their workstations may have been released.
func (d *Desktops) poll() {
	now := d.store.now()
	switch feed := d.feed.Status(); {
	case feed.Err == nil && !feed.At.IsZero() && time.Since(feed.At) < feedIsLate:
		d.heard = now.Add(-time.Since(feed.At))
	case d.answers() || d.heard.IsZero():
		d.heard = d.store.now()
	}
	if d.store.now().Sub(d.heard) >= lostAfter && !d.keepOpen.Load() {
		d.state.EndAll(desktop.ReasonEngineLost)
	}
}

// answers reports whether the engine does.
func (d *Desktops) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	return d.store.ping(ctx) == nil
}
