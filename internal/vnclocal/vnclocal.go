// Package vnclocal brings a native viewer to a desktop behind a gateway, from the viewer's own machine.
// Any viewer can then connect: it needs no TLS, no server name and no way to port 5900.
//
//	viewer                    this program                                gateway
//	  |                         |  POST /v1/workstations/{id}/vnc            |
//	  |                         |------------------------------------------->|  an address
//	  |  loopback, RFB          |  TLS with the name, or a WebSocket, RFB    |
//	  |------------------------>|------------------------------------------->|  the desktop
//
//	address, err := gateway.Issue(ctx, "desk1", vnclocal.Order{})
//	listener, err := vnclocal.Listen("127.0.0.1:0")
//	viewer, err := listener.Accept(ctx)       // one, of the same user
//	err = gateway.Serve(ctx, address, viewer, password)
package vnclocal

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

const (
	// requestTimeout bounds a request to the gateway, and each step of a handshake with it, in which it
	// may log in to a workstation.
	requestTimeout = 30 * time.Second
	// maxAnswer bounds an answer of the gateway, in bytes.
	maxAnswer = 64 << 10
)

// Gateway is a gateway and a key for it.
type Gateway struct {
	URL    *url.URL       // of its HTTP API, such as https://gateway.example.com
	Key    string         // with the scope workstations:connect
	Roots  *x509.CertPool // that its certificates may be from; nil: the system's
	Socket bool           // desktops come over a WebSocket at URL instead of the port in the address
}

// New returns the gateway at an address. A key is sent in clear to this machine only.
func New(address, key string) (*Gateway, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, err
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%q is not the address of a gateway: want https://…", address)
	case u.Scheme == "http" && !onLoopback(u.Hostname()):
		return nil, fmt.Errorf("%s would be sent the key in clear: want https://…", u.Host)
	case key == "":
		return nil, errors.New("the key is empty")
	}
	return &Gateway{URL: u, Key: key}, nil
}

// onLoopback reports whether a host is this machine by its name or address.
func onLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() || host == localhost || strings.HasSuffix(host, "."+localhost)
}

// localhost and all names below it are this machine (RFC 6761, section 6.3); not every resolver knows it.
const localhost = "localhost"

// Order is what is asked for with an address. nil: as the gateway has it.
type Order struct {
	ViewOnly *bool `json:"view_only,omitempty"`
	Shared   *bool `json:"shared,omitempty"`
	TakeOver *bool `json:"take_over,omitempty"`
}

// Address is where a desktop is, and the token that opens it.
type Address struct {
	Workstation string
	Host        string // the token and the domain
	Port        string
}

// Issue asks for the address of a workstation. The error has the gateway's own words.
func (g *Gateway) Issue(ctx context.Context, workstation string, o Order) (Address, error) {
	none := Address{}
	if workstation == "" || workstation == "." || workstation == ".." {
		return none, fmt.Errorf("%q is not the name of a workstation", workstation)
	}
	body, err := json.Marshal(o)
	if err != nil {
		return none, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.path(workstation, "vnc"), bytes.NewReader(body))
	if err != nil {
		return none, err
	}
	r.Header = g.header()
	r.Header.Set("Content-Type", "application/json")
	resp, err := g.client().Do(r)
	if err != nil {
		return none, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return none, err
	}
	var answer struct {
		URL   string `json:"vnc_url"`
		Error struct{ Message string }
	}
	err = json.Unmarshal(text, &answer)
	switch {
	case err == nil && answer.Error.Message != "":
		return none, fmt.Errorf("the gateway refuses: %s", printable(answer.Error.Message))
	case err != nil || resp.StatusCode != http.StatusOK:
		return none, fmt.Errorf("%s answers %s, which is no gateway's answer", g.URL.Host, resp.Status)
	}
	host, port, err := net.SplitHostPort(answer.URL)
	if err != nil {
		return none, fmt.Errorf("the gateway's address of the desktop: %w", err)
	}
	return Address{Workstation: workstation, Host: host, Port: port}, nil
}

// token is the first label of the name.
func (a Address) token() string {
	token, _, _ := strings.Cut(a.Host, ".")
	return token
}

// path is the URL of something of a workstation.
func (g *Gateway) path(workstation, of string) string {
	return g.URL.JoinPath("v1", "workstations", url.PathEscape(workstation), of).String()
}

func (g *Gateway) header() http.Header {
	return http.Header{"Authorization": {"Bearer " + g.Key}}
}

// client follows no redirects: the key is for this gateway.
func (g *Gateway) client() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: g.tls(""), DialContext: dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (g *Gateway) tls(name string) *tls.Config {
	return &tls.Config{RootCAs: g.Roots, ServerName: name, MinVersion: tls.VersionTLS12}
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil && strings.HasSuffix(host, "."+localhost) {
		address = net.JoinHostPort(localhost, port)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// printable makes a text of the gateway fit for a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}
