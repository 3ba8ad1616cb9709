// Package shared makes the desktops of several gateways one: tokens and sessions are in Valkey or
// Redis, registrations and release marks in PostgreSQL.
//
//	desks := shared.New(shared.Config{State: state, Node: node, Feed: feed, DB: db}) // before node.Start
//	desks.Start()
//	desks.Close()
//
// A release is first in PostgreSQL, then in the engine, and then an event. A gateway that misses the
// event reads it in PostgreSQL within a second, or hears it with its next beat.
package shared

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

const (
	// lookInterval is the time between two looks whether somebody could end a session here.
	lookInterval = time.Second
	// pingTimeout bounds the question to the engine.
	pingTimeout = time.Second
	// feedIsLate is how old the last reading of the feed, one each second, may be.
	feedIsLate = 3 * time.Second
	// noAnswer is for Sharing.Heard.
	noAnswer = time.Duration(-1)
)

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
	State *desktop.State
	Node  Node
	DB    *postgres.DB // has PostgresSchema
	Feed  *postgres.Feed
	Now   func() time.Time // the clock of State; nil: time.Now
}

// Desks keeps a State and what other gateways know together.
type Desks struct {
	sharing *desktop.Sharing
	tokens  *tokens
	feed    *postgres.Feed

	stop chan struct{}
	once sync.Once
	done sync.WaitGroup
}

// New makes the State of a gateway one that others share. It must be called before the node starts
// and before the first service of workstations does.
func New(c Config) *Desks {
	if c.Now == nil {
		c.Now = time.Now
	}
	engine := &tokens{node: c.Node, now: c.Now}
	d := &Desks{tokens: engine, feed: c.Feed, stop: make(chan struct{})}
	kept := &records{db: c.DB, feed: c.Feed}
	d.sharing = c.State.Share(engine, kept)
	kept.apply = d.sharing.Apply
	c.Feed.Follow(postgres.Follower{Name: "workstations", Read: kept.read})
	c.Node.On(eventEnded, func(text string) {
		if e, ok := parseEnded(text); ok {
			d.sharing.Ended(e.at, e.why, e.by, e.sessions...)
		}
	})
	c.Node.On(eventRevoked, func(text string) {
		if r, ok := engine.parseRevoked(text); ok {
			d.sharing.Revoked(r)
		}
	})
	c.Node.Join(cluster.Part{
		Name: "desktops", Beat: d.sharing.Beat, Rejoin: d.sharing.Rejoin, Reap: engine.reap,
		Replay: func(ctx context.Context, _ bool) error { return d.sharing.Replay(ctx) },
	})
	return d
}

// KeepOpen says whether sessions stay open while neither Valkey nor PostgreSQL can be reached
// (on_store_failure open). Otherwise they end after 30 seconds.
func (d *Desks) KeepOpen(yes bool) { d.sharing.KeepOpen(yes) }

// Start begins to look whether the engine or PostgreSQL answers, until Close.
func (d *Desks) Start() {
	d.done.Go(func() {
		tick := time.NewTicker(lookInterval)
		defer tick.Stop()
		for {
			select {
			case <-d.stop:
				return
			case <-tick.C:
				d.look()
			}
		}
	})
}

// Close ends what Start began.
func (d *Desks) Close() {
	d.once.Do(func() { close(d.stop) })
	d.done.Wait()
}

// look finds out when somebody could last end a session of this gateway: its workstation's release is
// read in PostgreSQL, or heard of through the engine. A server that hangs must not hold this up.
func (d *Desks) look() {
	if feed := d.feed.Status(); feed.Err == nil && !feed.At.IsZero() && time.Since(feed.At) < feedIsLate {
		d.sharing.Heard(time.Since(feed.At))
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	if d.tokens.ping(ctx) == nil {
		d.sharing.Heard(0)
	} else {
		d.sharing.Heard(noAnswer)
	}
}
