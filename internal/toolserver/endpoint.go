package toolserver

import (
	"context"
	"maps"
	"net/http"
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// endpoint is the address of a server, and what each request to it has.
type endpoint struct {
	address   url.URL
	fields    []provider.HeaderField
	userAgent []string
	peer      provider.Peer
}

// identity asks for an answer that is not compressed.
var identity = []string{"identity"}

// request makes a request without its body. The client's header is not changed.
func (e *endpoint) request(ctx context.Context, method string, header http.Header) *http.Request {
	req := (&http.Request{
		Method: method, URL: &e.address, Host: e.address.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header, len(header)+len(e.fields)+3),
	}).WithContext(ctx)
	maps.Copy(req.Header, header)
	req.Header["Accept-Encoding"], req.Header["User-Agent"] = identity, e.userAgent
	for _, f := range e.fields {
		req.Header[f.Name] = []string{f.Value()}
	}
	return req
}

// Send sends one request (POST, GET or DELETE) and returns the answer as soon as its header has arrived.
// Header has the fields of the protocol and those that are forwarded; it is not changed. Body must not
// change any more. The caller must close the answer's body; cancelling ctx ends both. Errors are those
// of [provider.Peer.Send].
func (s *Server) Send(ctx context.Context, method string, header http.Header, body []byte) (*http.Response, error) {
	pieces := provider.NewBody([][]byte{body}, func() {})
	defer pieces.Release()
	return s.SendBody(ctx, method, header, pieces)
}

// SendBody is Send with a body that says when its bytes are free. After [provider.ErrStale] a request that
// may run twice can be sent once more with Resend.
func (s *Server) SendBody(ctx context.Context, method string, header http.Header, body *provider.Body) (*http.Response, error) {
	return s.endpoint.peer.Send(ctx, body, func(ctx context.Context) *http.Request { return s.endpoint.request(ctx, method, header) })
}

// Resend is SendBody on a new connection.
func (s *Server) Resend(ctx context.Context, method string, header http.Header, body *provider.Body) (*http.Response, error) {
	return s.endpoint.peer.Resend(ctx, body, func(ctx context.Context) *http.Request { return s.endpoint.request(ctx, method, header) })
}

// Address is the host of the server, without brackets, and its port.
func (s *Server) Address() (host string, port int) { return provider.HostPort(&s.endpoint.address) }

// Credential returns what authorizes the gateway there, nil for nothing but a header.
func (s *Server) Credential() provider.Credential { return s.endpoint.peer.Credential }

// Secrets returns what the server is sent to know the gateway by.
func (s *Server) Secrets() []string {
	return provider.Secrets(s.endpoint.peer.Credential, s.endpoint.fields)
}
