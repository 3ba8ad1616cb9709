package authserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"go.uber.org/zap"
)

const (
	// MaxTelemetry bounds what a client sends of itself at once, in bytes.
	MaxTelemetry = 4 << 20
	// collectorTimeout bounds a message to the collector.
	collectorTimeout = 10 * time.Second
	// maxForwarding bounds the messages to the collector under way: what comes while it is slow is
	// left out.
	maxForwarding = 64
)

// Collector takes what Claude Code sends of itself (OTLP over HTTP), as it is.
type Collector struct {
	url    string
	client *http.Client
	turns  chan struct{}
}

// NewCollector returns the collector at a URL, to which /v1/metrics and so on are added.
func NewCollector(text string, client *http.Client) (*Collector, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("telemetry %q: want the URL of a collector, such as http://otel:4318", text)
	}
	return &Collector{u.String(), client, make(chan struct{}, maxForwarding)}, nil
}

// ErrTooLarge says that a client has sent more than MaxTelemetry.
var ErrTooLarge = errors.New("too much telemetry at once")

// Forward reads what a client has sent, and sends it to the collector, if there is one with a turn:
// else nothing is kept in memory. The error is ErrTooLarge, or that of the body.
func (s *SignIns) Forward(r *http.Request) error {
	c, body := s.collector, io.LimitReader(r.Body, MaxTelemetry+1)
	if c == nil {
		return discard(body)
	}
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	default:
		s.sampled().Warn("telemetry of clients is left out: the collector is slow")
		return discard(body)
	}
	text, err := io.ReadAll(body)
	switch {
	case err != nil:
		return err
	case len(text) > MaxTelemetry:
		return ErrTooLarge
	}
	if err := c.send(r.Context(), r.URL.Path, r.Header, text); err != nil {
		s.sampled().Warn("telemetry of clients does not reach the collector", zap.Error(err))
	}
	return nil
}

func discard(body io.Reader) error {
	n, err := io.Copy(io.Discard, body)
	if err == nil && n > MaxTelemetry {
		return ErrTooLarge
	}
	return err
}

func (c *Collector) send(ctx context.Context, path string, header http.Header, body []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), collectorTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for _, name := range []string{"Content-Type", "Content-Encoding"} {
		if value := header.Get(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	resp, err := c.client.Do(r)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}
