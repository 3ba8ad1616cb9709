// Package valkey talks to Valkey or Redis: one server, one that Sentinels choose, or a cluster.
//
//	c := valkey.New(valkey.Config{Addresses: []string{"10.0.0.5:6379"}})
//	reply, err := c.Run(ctx, script, keys, args)
//
// A message has the deadline of its context, else one of its own. It is never sent twice: after an
// error its effect is unknown. The client connects by itself, and again after a failure.
package valkey

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	engine "github.com/valkey-io/valkey-go"
)

const (
	// timeout bounds a message whose context has no deadline, and the wait for a broken connection.
	timeout = time.Second
	// keepAlive is short, so that a server that has stopped is noticed in two seconds.
	keepAlive = 400 * time.Millisecond
)

// ErrUnavailable is wrapped if the server cannot be reached, or did not answer in time.
var ErrUnavailable = errors.New("Valkey does not answer")

// Reply is the answer to a message.
type Reply = engine.ValkeyMessage

// Config says where the engine is.
type Config struct {
	Addresses []string // of the server, of nodes of a cluster, or of Sentinels
	Sentinel  string   // the name of the master that the Sentinels watch; "": there are none
	Username  string   // "" is the default user
	Password  string
	TLS       *tls.Config // nil: no TLS

	// Of the Sentinels, if they have their own.
	SentinelUsername, SentinelPassword string
}

// Client is safe for concurrent use.
type Client struct {
	option engine.ClientOption

	mu     sync.Mutex // guards the following
	client engine.Client
	closed bool
}

// New returns a client. It connects with the first message.
func New(c Config) *Client {
	dialer := net.Dialer{Timeout: timeout, KeepAlive: keepAlive}
	option := engine.ClientOption{
		InitAddress: c.Addresses, Username: c.Username, Password: c.Password, TLSConfig: c.TLS, Dialer: dialer,
		ConnWriteTimeout: timeout, DisableCache: true, DisableRetry: true, ClientName: "gatehouse",
	}
	if c.Sentinel != "" {
		option.Sentinel = engine.SentinelOption{
			MasterSet: c.Sentinel, Dialer: dialer, TLSConfig: c.TLS, Username: c.SentinelUsername, Password: c.SentinelPassword,
			TopologyRefreshInterval: 5 * time.Second,
		}
	}
	return &Client{option: option}
}

// connected returns the client, which it makes with the first message.
func (c *Client) connected() (engine.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("%w: the client is closed", ErrUnavailable)
	}
	if c.client == nil {
		client, err := engine.NewClient(c.option)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		c.client = client
	}
	return c.client, nil
}

// Do sends one command about a key.
func (c *Client) Do(ctx context.Context, command, key string, args ...string) (Reply, error) {
	client, err := c.connected()
	if err != nil {
		return Reply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return answer(client.Do(ctx, client.B().Arbitrary(command).Keys(key).Args(args...).Build()))
}

// Run runs a script.
func (c *Client) Run(ctx context.Context, s *Script, keys, args []string) (Reply, error) {
	client, err := c.connected()
	if err != nil {
		return Reply{}, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return answer(s.lua.Exec(ctx, client, keys, args))
}

// answer tells a server's error, which is the reply to the message, from a failure to get one.
func answer(r engine.ValkeyResult) (Reply, error) {
	if err := r.NonValkeyError(); err != nil {
		return Reply{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	reply, err := r.ToMessage()
	if serverError, ok := engine.IsValkeyErr(err); ok && !serverError.IsNil() {
		return Reply{}, err
	}
	return reply, nil
}

// Close ends the connections.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.client != nil {
		c.client.Close()
		c.client = nil
	}
}
