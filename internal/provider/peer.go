package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
)

// Peer is a server that the gateway asks, and what authorizes the gateway there. It is safe for
// concurrent use.
type Peer struct {
	Transport  http.RoundTripper
	Fresh      http.RoundTripper // opens a connection for each request
	Credential Credential        // nil for none
}

// ErrRedirect is returned for a 3xx answer. The error is a [*RedirectError].
var ErrRedirect = errors.New("the provider answered with a redirect, which is never followed")

// ErrStale is returned by Send if a kept connection ended without an answer at most a second after
// the request was written, or with a 408. Kept means that it had served an earlier request and
// carried no other. Most likely the provider closed it just as it was used again. The provider can
// still have received the request and have begun with it: that is why there is a bound. net/http
// itself repeats a POST only if it counts as idempotent, and then on any number of such
// connections.
var ErrStale = errors.New("a kept connection was closed just as it was used again")

// ErrConnectTimeout is wrapped by the error of Send if no connection was open in time.
var ErrConnectTimeout = errors.New("no connection in time")

// Send sends a request and returns the answer as soon as its header has arrived. The caller must
// close the answer's body; cancelling ctx ends both. The answer's body is never compressed. After
// ErrStale the request can be sent once more with Resend. One whose credential is refused is sent
// once more if there may be a new one. Build makes the request, without its body, for each attempt.
func (p *Peer) Send(ctx context.Context, body *Body, build func(context.Context) *http.Request) (*http.Response, error) {
	resp, a, err := p.send(ctx, p.Transport, body, build)
	if err == nil && p.renews(resp) {
		_ = resp.Body.Close()
		resp, a, err = p.send(ctx, p.Transport, body, build)
	}
	switch {
	case err != nil && ctx.Err() == nil && a.stale(err):
		err = fmt.Errorf("%w: %w", ErrStale, err)
	case err == nil && a.refusedIdle(resp):
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w: status %d", ErrStale, resp.StatusCode)
	case err == nil && a.written.Load() && resp.StatusCode < http.StatusMultipleChoices: // an error may repeat the request
		body.sent()
	}
	return resp, err
}

// Resend is Send on a new connection.
func (p *Peer) Resend(ctx context.Context, body *Body, build func(context.Context) *http.Request) (*http.Response, error) {
	resp, _, err := p.send(ctx, p.Fresh, body, build)
	return resp, err
}

// renews reports whether a request that was refused may have a new credential.
func (p *Peer) renews(resp *http.Response) bool {
	refused := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
	return (refused || expiredAtAWS(resp)) && p.Credential != nil && p.Credential.Refused(resp.StatusCode)
}

func (p *Peer) send(ctx context.Context, transport http.RoundTripper, body *Body, build func(context.Context) *http.Request) (*http.Response, *attempt, error) {
	a := newAttempt()
	reader, err := body.Open()
	if err != nil {
		return nil, a, err
	}
	req := build(httptrace.WithClientTrace(ctx, &a.trace))
	req.Body, req.GetBody, req.ContentLength = reader, body.Open, body.Size()
	if req.ContentLength == 0 { // of another body than this one it would be an unknown length
		req.Body, req.GetBody = http.NoBody, nil
		delete(req.Header, "Content-Type")
	}
	if err := p.sign(req); err != nil {
		_ = reader.Close()
		return nil, a, err
	}
	resp, err := roundTrip(transport, req)
	if err != nil && !unprocessed(err) && a.delivered() {
		body.delivered = true
	}
	if a.conn == nil && ctx.Err() == nil {
		err = connecting(err)
	}
	return resp, a, err
}

// connecting returns the error of a request that got no connection.
func connecting(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%w: %w", ErrConnectTimeout, err)
	}
	return err
}

// sign authorizes a request that is complete.
func (p *Peer) sign(req *http.Request) error {
	if p.Credential == nil {
		return nil
	}
	if err := p.Credential.Sign(req); err != nil {
		return fmt.Errorf("%w: %w", ErrNoCredential, err)
	}
	return nil
}

// ParseAddress parses the address of a server, which the named option has.
func ParseAddress(option, text string) (*url.URL, error) {
	address, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", option, err)
	case address.Scheme != "http" && address.Scheme != "https" || address.Host == "":
		return nil, fmt.Errorf("%s %q: want http://host/… or https://host/…", option, text)
	case address.User != nil || address.RawQuery != "" || address.Fragment != "":
		return nil, fmt.Errorf("%s: no user, query or fragment is possible", option)
	}
	return address, nil
}

// expiredAtAWS reports whether AWS refused temporary keys that had expired, which some of its
// services say with 400.
func expiredAtAWS(resp *http.Response) bool {
	return resp.StatusCode == http.StatusBadRequest && strings.HasPrefix(resp.Header.Get("X-Amzn-Errortype"), "ExpiredToken")
}
