package source

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

const (
	// maxAnswer bounds an answer in bytes, maxListAnswer a page of a list.
	maxAnswer     = 16 << 10
	maxListAnswer = 256 << 10
)

// Webhook is what [NewWebhook] needs besides a [Config].
type Webhook struct {
	URL       string // https, or http to a loopback address
	Secrets   []string
	Gateway   func() string // the name of this gateway among several, for the control plane
	Transport http.RoundTripper
}

// NewWebhook is [New] for a control plane that is asked by a webhook.
func NewWebhook(w Webhook, c Config) (*Source, error) {
	if err := checkURL(w.URL); err != nil {
		return nil, err
	}
	secrets, err := parseSecrets(w.Secrets)
	if err != nil {
		return nil, err
	}
	c.Plane, c.Same = &webhook{w, secrets, c.Now}, w.URL
	return New(c)
}

// webhook asks questions. It is safe for concurrent use.
type webhook struct {
	Webhook
	secrets [][]byte // the first one is the newest
	now     func() time.Time
}

// Format implements fmt.Formatter: it has secrets.
func (w *webhook) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "webhook") }

// Resolve implements [guest.Source].
func (w *webhook) Resolve(ctx context.Context, q guest.Question) (a guest.Answer, err error) {
	question := resolveQuestion{head: w.head(typeResolve, q.Tenant), Reason: q.Reason, Name: q.Name, Caller: q.Caller}
	question.Session.ViewOnly = q.ViewOnly
	body, err := w.post(ctx, question, maxAnswer)
	if err != nil {
		return a, err
	}
	a, err = parseAnswer(body)
	return a, invalid(err)
}

// List implements [guest.Source].
func (w *webhook) List(ctx context.Context, tenant, cursor string) (items []guest.Item, next string, err error) {
	body, err := w.post(ctx, listQuestion{head: w.head(typeList, tenant), Cursor: cursor, Limit: pageItems}, maxListAnswer)
	if err != nil {
		return nil, "", err
	}
	items, next, err = parseList(body)
	return items, next, invalid(err)
}

// head begins a question.
func (w *webhook) head(kind, tenant string) head {
	return head{Type: kind, Version: version, Tenant: tenant, Gateway: w.Gateway()}
}

func (w *webhook) post(ctx context.Context, question any, most int64) ([]byte, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	// A question may be asked twice. The empty list sends no header and lets net/http repeat the
	// request where the server closed a kept connection just as it was used again.
	req.Header["Idempotency-Key"] = nil
	w.sign(req.Header, "msg_"+rand.Text(), w.now(), body)
	resp, err := w.Transport.RoundTrip(req) // a transport does not follow redirects
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return readAnswer(resp, most)
}

func readAnswer(resp *http.Response, most int64) ([]byte, error) {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return nil, failed(FailedRedirect, "it answered with a redirect (%d), which is not followed", resp.StatusCode)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, failed(FailedStatus, "it answered with status %d, want 200", resp.StatusCode)
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, failed(FailedContentType, "the content type is not application/json")
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && int64(len(answer)) > most {
		err = failed(FailedTooLarge, "the answer has more than %d bytes", most)
	}
	return answer, err
}

// checkURL refuses what would show passwords on the way.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("webhook: want a URL such as https://control.example.com/desktops")
	case u.User != nil || u.Fragment != "":
		return errors.New("webhook: a URL with a user or a fragment is not possible")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return fmt.Errorf("webhook: http is possible to a loopback address only, as answers have passwords: write https://%s", u.Host)
	}
	return nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
