package authserver

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
)

// maxForm bounds a form, in bytes. The largest that a client of ours sends has a thousand.
const maxForm = 16 << 10

// The errors of the endpoints (RFC 6749, sections 4.1.2.1 and 5.2; RFC 8628, section 3.5).
const (
	invalidRequest   = "invalid_request"
	invalidGrant     = "invalid_grant"
	unsupportedGrant = "unsupported_grant_type"
	pending          = "authorization_pending"
	slowDown         = "slow_down"
	accessDenied     = "access_denied"
	expiredToken     = "expired_token"
	unavailable      = "temporarily_unavailable"
	invalidClient    = "invalid_client"
	invalidTarget    = "invalid_target" // RFC 8707, section 2
)

// refusal is an answer of an endpoint that is no success.
type refusal struct {
	status     int
	code, text string
	retry      time.Duration
}

func (r *refusal) Error() string { return r.code + ": " + r.text }

func badRequest(code, text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: code, text: text}
}

// write writes the refusal of an endpoint. What is not one is a store, or an identity provider,
// that is away.
func (s *Server) write(w http.ResponseWriter, err error) {
	var r *refusal
	if !errors.As(err, &r) {
		s.logger.Error("a sign-in cannot go on", zap.Error(err))
		const text = "the gateway, or the identity provider behind it, cannot answer now; try again"
		r = &refusal{http.StatusServiceUnavailable, unavailable, text, 5 * time.Second}
	}
	if r.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(r.retry/time.Second)))
	}
	writeJSON(w, r.status, struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}{r.code, r.text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, _ := json.Marshal(v) // texts and numbers
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have left
}

// readForm reads the form in the body of a request. What is not known in it is left alone (RFC
// 6749, section 3.2); a parameter that comes twice is refused.
func readForm(r *http.Request) (url.Values, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, badRequest(invalidRequest, "want a form as Content-Type: application/x-www-form-urlencoded")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxForm+1))
	switch {
	case err != nil:
		return nil, badRequest(invalidRequest, "the form did not arrive whole")
	case len(body) > maxForm:
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, code: invalidRequest, text: "the form is too large: at most 16 KiB"}
	}
	return parseForm(string(body))
}

// clientForm is readForm for what only programs send: a page of another site must not use up the
// attempts of its readers.
func (s *Server) clientForm(r *http.Request) (url.Values, error) {
	if s.csrf.Check(r) != nil {
		return nil, &refusal{status: http.StatusForbidden, code: invalidRequest, text: "a page of another site has sent this request; send it from a program"}
	}
	return readForm(r)
}

func parseForm(body string) (url.Values, error) {
	form, err := url.ParseQuery(body)
	if err != nil {
		return nil, badRequest(invalidRequest, "the form is malformed")
	}
	for name, values := range form {
		if len(values) > 1 {
			return nil, badRequest(invalidRequest, strconv.Quote(clean(name, maxClient))+" is there twice")
		}
	}
	return form, nil
}

// maxClient bounds what a client calls itself, in characters.
const maxClient = 64

// clean returns a text of a stranger for pages and logs: printable ASCII, not longer than most.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), most)]
}

// addressOf returns the address of who asks.
func (s *Server) addressOf(r *http.Request) netip.Addr {
	text := r.RemoteAddr
	if s.config.Client != nil {
		text = s.config.Client(r)
	}
	if peer, err := netip.ParseAddrPort(text); err == nil {
		return peer.Addr().Unmap()
	}
	a, _ := netip.ParseAddr(text)
	return a.Unmap()
}
