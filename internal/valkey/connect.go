package valkey

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	engine "github.com/valkey-io/valkey-go"
)

const (
	// connectTime bounds an attempt to connect, and the wait for a broken connection.
	connectTime = time.Second
	// keepAlive is short, so that a server that has stopped is noticed in two seconds.
	keepAlive = 400 * time.Millisecond
	// sentinelKeepAlive differs from it: dial tells by it where a connection leads to.
	sentinelKeepAlive = time.Second
	// tryInterval is between two attempts to connect, or to get an answer from a server that was lost.
	tryInterval = time.Second
	// refreshInterval is between two questions to the Sentinels, who also tell of a new master.
	refreshInterval = 5 * time.Second
	// mostRedirections of a message in a cluster.
	mostRedirections = 3
)

// options are those of the library.
func (c *Client) options() engine.ClientOption {
	config := c.config
	dialer := net.Dialer{Timeout: connectTime, KeepAlive: keepAlive}
	option := engine.ClientOption{
		InitAddress: config.Addresses, Username: config.Username, Password: config.Password, TLSConfig: config.TLS,
		Dialer: dialer, DialCtxFn: dial, ConnWriteTimeout: connectTime, ClientName: "gatehouse",
		DisableCache: true, DisableRetry: true,
		PipelineMultiplex: -1,   // one connection
		AlwaysPipelining:  true, // else a missed deadline breaks the connection
		ClusterOption:     engine.ClusterOption{MaxMovedRedirections: mostRedirections, ShardsRefreshInterval: refreshInterval},
	}
	if config.Sentinel != "" {
		dialer.KeepAlive = sentinelKeepAlive
		option.Sentinel = engine.SentinelOption{
			MasterSet: config.Sentinel, Dialer: dialer, TLSConfig: config.TLS, Username: config.SentinelUsername, Password: config.SentinelPassword,
			ClientName: "gatehouse", TopologyRefreshInterval: refreshInterval,
		}
	}
	if config.ReadPassword != nil || config.ReadSentinelPassword != nil {
		option.AuthCredentialsFn = func(to engine.AuthCredentialsContext) (engine.AuthCredentials, error) {
			if _, ok := to.Address.(sentinelAddress); ok {
				return credentials(config.SentinelUsername, config.SentinelPassword, config.ReadSentinelPassword)
			}
			return credentials(config.Username, config.Password, config.ReadPassword)
		}
	}
	return option
}

// credentials are a login whose password is read, or the one that was configured.
func credentials(user, password string, read func() (string, error)) (engine.AuthCredentials, error) {
	var err error
	if read != nil {
		password, err = read()
	}
	return engine.AuthCredentials{Username: user, Password: password}, err
}

// sentinelAddress marks a connection to a Sentinel, which has another password.
type sentinelAddress struct{ net.Addr }

type sentinelConnection struct{ net.Conn }

func (c sentinelConnection) RemoteAddr() net.Addr { return sentinelAddress{c.Conn.RemoteAddr()} }

func dial(ctx context.Context, address string, dialer *net.Dialer, config *tls.Config) (net.Conn, error) {
	var connection net.Conn
	var err error
	if config == nil {
		connection, err = dialer.DialContext(ctx, "tcp", address)
	} else {
		connection, err = (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext(ctx, "tcp", address)
	}
	if err == nil && dialer.KeepAlive == sentinelKeepAlive {
		connection = sentinelConnection{connection}
	}
	return connection, err
}

// keep connects, and asks a server that has been lost whether it is back, until the client is closed.
func (c *Client) keep(ctx context.Context) {
	tick := time.NewTicker(tryInterval)
	defer tick.Stop()
	c.connect()
	close(c.tried)
	for {
		select {
		case <-ctx.Done():
			c.gate.close(errClosed)
			if last := c.current.Swap(nil); last != nil {
				last.Close()
			}
			return
		case <-tick.C:
		}
		select {
		case <-c.renew:
			c.connect() // Sentinels, or the DNS, may know another master
		default:
		}
		switch {
		case c.current.Load() == nil:
			c.connect()
		case c.gate.shut.Load() != nil:
			c.probe()
		}
	}
}

// connect makes a new connection in place of the old one.
func (c *Client) connect() {
	client, err := engine.NewClient(c.option)
	if err != nil {
		if c.current.Load() == nil {
			c.gate.close(err)
		}
		return
	}
	last := c.current.Swap(&connection{client})
	c.gate.open()
	if last != nil {
		c.running.Go(last.Close)
	}
}

// probe opens the gate if the server answers.
func (c *Client) probe() {
	key := c.key.Load()
	if key == nil {
		return
	}
	client := c.current.Load()
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	_, outcome, err := answer(client.Do(ctx, client.B().Exists().Key(*key).Build()))
	switch outcome {
	case Answered, Refused, NotReady:
		c.gate.open()
	default:
		c.gate.close(err)
	}
}

// wake fills a channel of one place.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
