package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

const (
	// metadataPath is where an authorization server says what it has (RFC 8414, section 3).
	metadataPath = "/.well-known/oauth-authorization-server"
	// deviceGrant is the grant of RFC 8628, section 3.4.
	deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"
	// clientName is how the gateway knows this command, for its page and its operator.
	clientName = "gatehouse"

	// requestTimeout bounds a request. A refresh waits for the gateway's question to the identity
	// provider.
	requestTimeout = 15 * time.Second
	// maxAnswer bounds an answer, in bytes. The largest of a gateway has a thousand.
	maxAnswer = 64 << 10
	// maxText bounds a token, an address or a code of an answer, in bytes: one line of a header.
	maxText = 4 << 10

	// defaultInterval is the time between two questions whether the person has signed in, and by
	// how much it grows if the gateway asks for that (RFC 8628, section 3.5).
	defaultInterval = 5 * time.Second
	// maxInterval bounds it: a person waits for the answer.
	maxInterval = time.Minute
	// maxCodeLife bounds how long the command waits for its person.
	maxCodeLife = 30 * time.Minute
)

// The errors that are told apart (RFC 6749, section 5.2; RFC 8628, section 3.5).
const (
	invalidGrant = "invalid_grant"
	pending      = "authorization_pending"
	slowDown     = "slow_down"
	expiredToken = "expired_token"
)

// newClient returns a client that follows no redirect: it would take a refresh token elsewhere.
func newClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: transport, Timeout: requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// parseOrigin returns the origin of a gateway's address, as the gateway writes it.
func parseOrigin(address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%q is not the origin of a gateway: want https://HOST, without a path", address)
	case u.Scheme == "http" && !onLoopback(u.Hostname()):
		return "", fmt.Errorf("%q would send tokens in clear: want https://%s", address, u.Host)
	case u.Scheme != "https" && u.Scheme != "http":
		return "", fmt.Errorf("%q is not the origin of a gateway: want https://HOST", address)
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// onLoopback reports whether a host is this machine.
func onLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() || host == "localhost"
}

// server is the authorization server of a gateway, as its metadata has it.
type server struct {
	http   *http.Client
	Issuer string `json:"issuer"`
	Device string `json:"device_authorization_endpoint"`
	Token  string `json:"token_endpoint"`
	Revoke string `json:"revocation_endpoint"`
}

// discover asks a gateway for its endpoints, which must be its own: they get refresh tokens.
func discover(ctx context.Context, client *http.Client, origin string) (*server, error) {
	s := &server{http: client}
	err := s.ask(ctx, http.MethodGet, origin+metadataPath, nil, s)
	if r, ok := errors.AsType[*refusal](err); ok && r.status < http.StatusInternalServerError {
		return nil, fmt.Errorf("nobody can sign in at %s, which answers %d for %s: name the origin of a gateway whose configuration has authorization_server",
			origin, r.status, metadataPath)
	}
	if err != nil {
		return nil, err
	}
	if s.Issuer != origin {
		return nil, fmt.Errorf("the gateway at %s calls itself %.100q: name that origin if you know it", origin, s.Issuer)
	}
	for _, endpoint := range []string{s.Device, s.Token, s.Revoke} {
		if !strings.HasPrefix(endpoint, origin+"/") {
			return nil, fmt.Errorf("%s has an endpoint elsewhere, %.100q, which gets no token", origin, endpoint)
		}
	}
	return s, nil
}

// device is a sign-in that waits for its person (RFC 8628, section 3.2).
type device struct {
	Code     string `json:"device_code"`
	User     string `json:"user_code"`
	URI      string `json:"verification_uri"`
	Complete string `json:"verification_uri_complete"`
	Expires  int64  `json:"expires_in"`
	Interval int64  `json:"interval"`
}

// begin begins a sign-in.
func (s *server) begin(ctx context.Context) (*device, error) {
	d := new(device)
	if err := s.ask(ctx, http.MethodPost, s.Device, url.Values{"surface": {clientName}}, d); err != nil {
		return nil, err
	}
	if d.Complete == "" {
		d.Complete = d.URI
	}
	if !isText(d.Code) || !isText(d.User) || !isText(d.Complete) || !strings.HasPrefix(d.Complete, s.Issuer+"/") {
		return nil, fmt.Errorf("%s begins a sign-in without a code or an address of its own", s.Issuer)
	}
	return d, nil
}

// life is how long the code is good.
func (d *device) life() time.Duration { return seconds(d.Expires, maxCodeLife) }

// tokens are what a sign-in has got (RFC 6749, section 5.1).
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Expires int64  `json:"expires_in"`
	Email   string `json:"email"`
}

var errCodeEnded = errors.New("nobody has signed in while the code was good: run the command again")

// wait asks until the person has signed in.
func (s *server) wait(ctx context.Context, d *device) (*tokens, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.life(), errCodeEnded)
	defer cancel()
	interval := defaultInterval
	if d.Interval > 0 {
		interval = seconds(d.Interval, maxInterval)
	}
	for {
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		t, err := s.tokens(ctx, url.Values{"grant_type": {deviceGrant}, "device_code": {d.Code}})
		r, refused := errors.AsType[*refusal](err)
		switch {
		case err == nil:
			return t, nil
		case !refused || r.Code == slowDown || r.status >= http.StatusInternalServerError:
			interval = min(interval+defaultInterval, maxInterval)
		case r.Code == expiredToken:
			return nil, errCodeEnded
		case r.Code != pending:
			return nil, err
		}
	}
}

// renew refreshes.
func (s *server) renew(ctx context.Context, refresh string) (*tokens, error) {
	return s.tokens(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
}

func (s *server) tokens(ctx context.Context, form url.Values) (*tokens, error) {
	t := new(tokens)
	if err := s.ask(ctx, http.MethodPost, s.Token, form, t); err != nil {
		return nil, err
	}
	if !isText(t.Access) || t.Refresh != "" && !isText(t.Refresh) {
		return nil, fmt.Errorf("%s answers without a token", s.Issuer)
	}
	return t, nil
}

// revoke ends the sign-in of a token (RFC 7009).
func (s *server) revoke(ctx context.Context, token string) error {
	return s.ask(ctx, http.MethodPost, s.Revoke, url.Values{"token": {token}}, new(struct{}))
}

// refusal is an answer of an endpoint that is no success.
type refusal struct {
	where  string
	status int
	Code   string `json:"error"`
	Text   string `json:"error_description"`
}

func (r *refusal) Error() string {
	if r.Code == "" {
		return fmt.Sprintf("%s answers %d", r.where, r.status)
	}
	return fmt.Sprintf("%s answers %d %.100q: %.500q", r.where, r.status, r.Code, r.Text)
}

// ask sends a request, and decodes the JSON of a 200. The error may be a *refusal.
func (s *server) ask(ctx context.Context, method, address string, form url.Values, answer any) error {
	var body io.Reader
	if form != nil {
		form.Set("client_id", clientName)
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it is read
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("the answer of %s did not arrive whole: %w", address, err)
	case len(text) > maxAnswer:
		return fmt.Errorf("the answer of %s is too large: at most %d bytes", address, maxAnswer)
	case resp.StatusCode != http.StatusOK:
		refused := &refusal{where: address, status: resp.StatusCode}
		_ = json.Unmarshal(text, refused) // else the status says it
		return refused
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("%s does not answer as an authorization server does: want JSON", address)
	}
	return nil
}

// isText reports whether a text is visible ASCII, as tokens are (RFC 6749, appendix A): it does
// nothing in a terminal or a header.
func isText(text string) bool {
	return text != "" && len(text) <= maxText && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// seconds returns a time of an answer, which is not negative and at most most.
func seconds(n int64, most time.Duration) time.Duration {
	return time.Duration(min(max(n, 0), int64(most/time.Second))) * time.Second
}
