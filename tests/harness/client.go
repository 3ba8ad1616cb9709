package harness

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/described"
)

// The routes that take a model.
const (
	ChatV1          = "/v1/chat/completions"
	ChatRouter      = "/api/v1/chat/completions"
	ResponsesV1     = "/v1/responses"
	ResponsesRouter = "/api/v1/responses"
)

// Answer is a whole answer. Err is a failure to read its body to the end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Err    error
}

// Client calls the gateway over HTTP.
type Client struct {
	t      *testing.T
	Origin string // http://127.0.0.1:port
	Secure string // https://localhost:port, "" without an HTTPS site
	HTTP   *http.Client
	HTTP2  *http.Client // speaks HTTP/2 only; for Secure
}

// NewClient follows no redirect and speaks HTTP/1.1, or HTTP/2 only if roots are given.
func NewClient(t *testing.T, roots *x509.CertPool) *http.Client {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}
	if roots != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP2(true)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Request is a call: method GET without a body, else POST.
func (c *Client) Request(path, key, body string) *http.Request {
	c.t.Helper()
	method, reader := http.MethodGet, io.Reader(nil)
	if body != "" {
		method, reader = http.MethodPost, strings.NewReader(body)
	}
	origin := c.Origin
	if strings.HasPrefix(path, "http") {
		origin = ""
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, origin+path, reader)
	if err != nil {
		c.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+Secret(key))
	}
	return r
}

// Get is a call without a body; without a key it has no credential.
func (c *Client) Get(path, key string) Answer { c.t.Helper(); return c.Send(c.Request(path, key, "")) }

// Post is a call with a body.
func (c *Client) Post(path, key, body string) Answer {
	c.t.Helper()
	return c.Send(c.Request(path, key, body))
}

// Do is a call with any method.
func (c *Client) Do(method, path, key, body string) Answer {
	c.t.Helper()
	r := c.Request(path, key, body)
	r.Method = method
	return c.Send(r)
}

// Want is Do, and the status it must have.
func (c *Client) Want(status int, method, path, key, body string) Answer {
	c.t.Helper()
	a := c.Do(method, path, key, body)
	if a.Status != status {
		c.t.Fatalf("%s %s: %d %s, want %d", method, path, a.Status, a.Body, status)
	}
	return a
}

// Send makes the call and reads the whole answer.
func (c *Client) Send(r *http.Request) Answer {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), WaitLimit)
	defer cancel()
	resp, err := c.For(r).Do(r.WithContext(ctx))
	if err != nil {
		c.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if strict := described.Strict(resp.Header, body); err == nil && strict != nil {
		c.t.Errorf("%s %s: %v: %.300s", r.Method, r.URL, strict, body)
	}
	a := Answer{resp.StatusCode, resp.Header, body, err}
	if _, wrong := described.Check(c.t, r, a.Status, a.Header, body); err == nil && wrong != nil {
		c.t.Errorf("%s %s: not as the API's description says: %v: %d %.1000s", r.Method, r.URL, wrong, a.Status, a.Body)
	}
	return a
}

// For is the HTTP client for a request.
func (c *Client) For(r *http.Request) *http.Client {
	if r.URL.Scheme == "https" {
		return c.HTTP2
	}
	return c.HTTP
}

// Try is Send for goroutines of a test.
func (c *Client) Try(r *http.Request) (status int, body []byte, err error) {
	resp, err := c.HTTP.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// Open makes the call and returns as soon as the answer's header is there.
func (c *Client) Open(r *http.Request) *Stream {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), WaitLimit)
	resp, err := c.For(r).Do(r.WithContext(ctx))
	if err != nil {
		cancel()
		c.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	s := &Stream{c.t, resp, bufio.NewReader(resp.Body), cancel}
	c.t.Cleanup(s.Disconnect)
	return s
}

// Dial opens a connection on which a test writes its request by hand.
func (c *Client) Dial() (net.Conn, *bufio.Reader) {
	c.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.Origin, "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(WaitLimit)); err != nil {
		c.t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

// Head is the head of a request for Dial; framing is its Content-Length or Transfer-Encoding.
func Head(path, key, framing string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n\r\n", path, Secret(key), framing)
}

// ReadAnswer reads an answer on a connection of Dial.
func ReadAnswer(t *testing.T, reader *bufio.Reader) Answer {
	t.Helper()
	resp, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal("no answer: ", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return Answer{resp.StatusCode, resp.Header, body, err}
}
