package authserver

import (
	"bytes"
	"context"
	"fmt"
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

// Forward sends what a client has sent to the collector, if there is one: path is that of the
// request, header has what its body is.
func (s *SignIns) Forward(ctx context.Context, path string, header http.Header, body []byte) {
	c := s.collector
	if c == nil {
		return
	}
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	default:
		s.sampled().Warn("telemetry of clients is left out: the collector is slow")
		return
	}
	if err := c.send(ctx, path, header, body); err != nil {
		s.sampled().Warn("telemetry of clients does not reach the collector", zap.Error(err))
	}
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
