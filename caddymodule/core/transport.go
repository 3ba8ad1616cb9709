package core

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const (
	httpTransport = "http.reverse_proxy.transport.http"

	// idlePerHost is high because calls last seconds and come in bursts. Caddy's own 32 would open
	// and close connections all the time.
	idlePerHost = 256

	// usualConnect bounds the opening of a connection. It is longer than Caddy's own three seconds:
	// providers are far away, and a lost packet of the handshake is sent again after one and three
	// seconds.
	usualConnect = 10 * time.Second
)

// connections are the settings of the connections to a provider.
type connections struct {
	settings *reverseproxy.HTTPTransport
	connect  time.Duration
}

// newConnections checks the settings of Caddy's own HTTP transport, and adds our defaults. Settings
// that need reverse_proxy to prepare the request are refused: the transport is used as a bare
// RoundTripper. A connect of 0 is the default.
func newConnections(transport json.RawMessage, connect time.Duration, baseURLs ...string) (*connections, error) {
	t := new(reverseproxy.HTTPTransport)
	if transport != nil {
		raw, err := withoutProtocol(transport)
		if err != nil {
			return nil, err
		}
		if err := caddy.StrictUnmarshalJSON(raw, t); err != nil {
			return nil, err
		}
	}
	plain := false
	for _, base := range baseURLs {
		plain = plain || strings.HasPrefix(base, "http://")
	}
	switch {
	case t.ProxyProtocol != "":
		return nil, errors.New("proxy_protocol is not possible: providers get no data about clients")
	case t.TLS != nil && strings.Contains(t.TLS.ServerName, "{"):
		return nil, errors.New("a placeholder in tls_server_name is not possible")
	case t.TLS != nil && plain:
		return nil, errors.New("TLS settings with an http:// address: write https://")
	case t.DialTimeout != 0 && connect != 0:
		return nil, errors.New("dial_timeout and connect of timeouts: give only one of them")
	}
	if t.KeepAlive == nil {
		t.KeepAlive = new(reverseproxy.KeepAlive)
	}
	if t.KeepAlive.MaxIdleConnsPerHost == 0 {
		t.KeepAlive.MaxIdleConnsPerHost = idlePerHost
	}
	if t.Compression == nil {
		t.Compression = new(bool)
	}
	connect = cmp.Or(connect, time.Duration(t.DialTimeout), usualConnect)
	t.DialTimeout = caddy.Duration(connect)
	return &connections{settings: t, connect: connect}, nil
}

// Transports are the ways to a server.
type Transports struct {
	Kept    http.RoundTripper // keeps connections
	Fresh   http.RoundTripper // opens a connection for each request
	Connect time.Duration     // how long opening a connection may take
}

// NewTransports checks the settings of Caddy's own HTTP transport, for requests to an address, and
// adds our defaults. Idle is how long a connection is kept unless they say so; connect as 0 is what
// they say.
func NewTransports(ctx caddy.Context, settings json.RawMessage, connect, idle time.Duration, url string) (t Transports, err error) {
	c, err := newConnections(settings, connect, url)
	if err != nil {
		return t, err
	}
	kept := c.settings.KeepAlive
	kept.IdleConnTimeout = cmp.Or(kept.IdleConnTimeout, caddy.Duration(idle))
	t.Connect = c.connect
	t.Kept, t.Fresh, err = c.transports(ctx)
	return t, err
}

// NewTransport returns a transport that keeps connections, with Caddy's defaults but for ours.
// Connect as 0 is the default.
func NewTransport(ctx caddy.Context, connect time.Duration, url string) (http.RoundTripper, error) {
	c, err := newConnections(nil, connect, url)
	if err != nil {
		return nil, err
	}
	return c.kept(ctx)
}

// transports returns one that keeps connections, and one that opens a connection for each request.
func (c *connections) transports(ctx caddy.Context) (kept, fresh http.RoundTripper, err error) {
	if kept, err = c.kept(ctx); err != nil {
		return nil, nil, err
	}
	fresh, err = c.fresh(ctx)
	return kept, fresh, err
}

// kept returns a transport that keeps connections.
func (c *connections) kept(ctx caddy.Context) (http.RoundTripper, error) {
	raw, err := json.Marshal(c.settings)
	if err != nil {
		return nil, err
	}
	module, err := ctx.LoadModuleByID(httpTransport, raw)
	if err != nil {
		return nil, err
	}
	made := module.(*reverseproxy.HTTPTransport)
	made.Transport.DialContext = provider.ReadToEnd(made.Transport.DialContext)
	provider.SendPings(made.Transport)
	made.Transport.TLSHandshakeTimeout = cmp.Or(made.Transport.TLSHandshakeTimeout, c.connect)
	return made, nil
}

// fresh returns a transport that opens a connection for each request, and closes it.
func (c *connections) fresh(ctx caddy.Context) (http.RoundTripper, error) {
	settings, keepAlive := *c.settings, *c.settings.KeepAlive
	keepAlive.Enabled = new(bool)
	settings.KeepAlive = &keepAlive
	return (&connections{&settings, c.connect}).kept(ctx)
}

// withoutProtocol removes the module's inline key, and refuses other transports.
func withoutProtocol(raw json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	if protocol := string(fields["protocol"]); protocol != `"http"` {
		return nil, fmt.Errorf("protocol %s: only the http transport is possible", protocol)
	}
	delete(fields, "protocol")
	return json.Marshal(fields)
}
