// Package valkey talks to Valkey or Redis: one server, one that Sentinels choose, or a cluster.
//
//	c := valkey.New(valkey.Config{Addresses: []string{"10.0.0.5:6379"}})
//	reply, err := c.Run(ctx, script, keys, args)
//
// The client connects in the background, and again after a failure. All messages share one connection,
// in their order. A message is never sent twice; after an error its effect is unknown, unless the error
// is ErrNotDone too. When three messages in a row have failed, further ones fail at once, until the
// server answers a question that is asked each second.
package valkey

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	engine "github.com/valkey-io/valkey-go"
)

// defaultTime bounds a message of a script without a time of its own.
const defaultTime = time.Second

var (
	// ErrUnavailable is wrapped if the server cannot be reached, or did not answer in time.
	ErrUnavailable = errors.New("Valkey does not answer")
	// ErrNotDone is wrapped besides ErrUnavailable if the message has surely changed nothing: it was
	// not sent, or the server has refused it because of its own state.
	ErrNotDone = errors.New("nothing was changed")
)

// Reply is the answer to a message.
type Reply = engine.ValkeyMessage

// Config says where the engine is.
type Config struct {
	Addresses []string // of the server, of nodes of a cluster, or of Sentinels
	Sentinel  string   // the name of the master that the Sentinels watch; "": there are none
	Username  string   // "" is the default user
	Password  string
	TLS       *tls.Config // nil: no TLS

	// ReadPassword is asked at each connection, instead of Password: a secret file may change. It may
	// be nil.
	ReadPassword func() (string, error)

	// Of the Sentinels, if they have their own.
	SentinelUsername, SentinelPassword string
	// ReadSentinelPassword is to SentinelPassword what ReadPassword is to Password.
	ReadSentinelPassword func() (string, error)

	// Observe is told of each message: the script or command, how long it took, and the outcome. It
	// may be nil.
	Observe func(message string, took time.Duration, outcome Outcome)
}

// Outcome is how a message has ended.
type Outcome string

// Outcomes of a message.
const (
	Answered  Outcome = "answered"
	Refused   Outcome = "refused"   // an error of the script or the command
	NotReady  Outcome = "not_ready" // the server cannot do it in its state: ErrNotDone
	NotSent   Outcome = "not_sent"  // no connection, too many are under way, or three have failed: ErrNotDone
	TimedOut  Outcome = "timed_out" // the effect is unknown
	Cancelled Outcome = "cancelled" // the caller's context had ended: ErrNotDone
	Broken    Outcome = "broken"    // the connection broke: the effect is unknown
)

// Client is safe for concurrent use.
type Client struct {
	config    Config
	option    engine.ClientOption
	deadlines deadlines
	gate      gate

	current atomic.Pointer[connection]
	tried   chan struct{} // closed after the first attempt to connect
	renew   chan struct{} // the connection leads to the wrong server
	key     atomic.Pointer[string]

	stop    context.CancelFunc
	running sync.WaitGroup
}

// connection is a client of the library, which connects again to the same server by itself.
type connection struct{ engine.Client }

// New returns a client, which connects in the background. Close ends it.
func New(c Config) *Client {
	client := &Client{config: c, tried: make(chan struct{}), renew: make(chan struct{}, 1)}
	client.option = client.options()
	if c.Observe == nil {
		client.config.Observe = func(string, time.Duration, Outcome) {}
	}
	var life context.Context
	life, client.stop = context.WithCancel(context.Background())
	client.gate.since.Store(time.Now().UnixNano())
	client.running.Go(func() { client.keep(life) })
	return client
}

// Do sends one command about a key. It has a second.
func (c *Client) Do(ctx context.Context, command, key string, args ...string) (Reply, error) {
	return c.message(ctx, command, key, defaultTime, mostUnderWay, func(ctx context.Context, client engine.Client) engine.ValkeyResult {
		return client.Do(ctx, client.B().Arbitrary(command).Keys(key).Args(args...).Build())
	})
}

// Run runs a script. The end of ctx does not abandon a message that was sent, since its effect would
// be unknown; an earlier deadline of ctx does.
func (c *Client) Run(ctx context.Context, s *Script, keys, args []string) (Reply, error) {
	return c.message(ctx, s.name, keys[0], s.within, s.most, func(ctx context.Context, client engine.Client) engine.ValkeyResult {
		return s.lua.Exec(ctx, client, keys, args)
	})
}

// message sends one, if most are not under way.
func (c *Client) message(ctx context.Context, name, key string, within time.Duration, most int64, send func(context.Context, engine.Client) engine.ValkeyResult) (Reply, error) {
	start := time.Now()
	reply, outcome, err := c.try(ctx, key, within, most, send)
	c.config.Observe(name, time.Since(start), outcome)
	return reply, err
}

func (c *Client) try(ctx context.Context, key string, within time.Duration, most int64, send func(context.Context, engine.Client) engine.ValkeyResult) (Reply, Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, Cancelled, fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrNotDone, err)
	}
	if end, ok := ctx.Deadline(); ok {
		within = min(within, time.Until(end))
	}
	deadline := c.deadlines.after(within)
	client, err := c.connected(deadline)
	if err == nil {
		err = c.gate.enter(most)
	}
	if err != nil {
		return Reply{}, NotSent, fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrNotDone, err)
	}
	defer c.gate.leave()
	if old := c.key.Load(); old == nil {
		c.key.CompareAndSwap(nil, &key)
	}
	reply, outcome, err := answer(send(deadline, client))
	switch outcome {
	case Answered, Refused:
		c.gate.answered()
	case TimedOut, Broken, NotSent:
		c.gate.missed(err)
	}
	if errors.Is(err, errReplica) {
		wake(c.renew)
	}
	return reply, outcome, err
}

// connected returns the connection; it waits for the first attempt.
func (c *Client) connected(ctx context.Context) (engine.Client, error) {
	if current := c.current.Load(); current != nil {
		return current, nil
	}
	select {
	case <-c.tried:
	case <-ctx.Done():
	}
	if current := c.current.Load(); current != nil {
		return current, nil
	}
	return nil, c.gate.reason()
}

// Stats returns how the client is at present.
func (c *Client) Stats() Stats {
	s := c.gate.stats()
	s.Up = s.Up && c.current.Load() != nil
	return s
}

// Close ends the connections.
func (c *Client) Close() {
	c.stop()
	c.running.Wait()
}
