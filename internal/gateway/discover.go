package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const (
	discoverTimeout = 30 * time.Second
	// discoverRetry is the wait after a failed refresh, when it is shorter
	// than the interval: a provider that is down at start is soon back.
	discoverRetry = 30 * time.Second
)

// keepDiscovering reads the provider's list of models until ctx ends. A failed
// refresh keeps the last list.
func (g *Gateway) keepDiscovering(ctx context.Context, d Discovery) {
	for {
		wait := d.Every
		models, err := fetchModels(ctx, d.Provider)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			wait = min(wait, discoverRetry)
			g.logger.Warn("reading a provider's models failed; the last list stays",
				zap.String("provider", d.Provider.Name), zap.String("cause", g.redactor.Text(err.Error())), zap.Duration("retry_in", wait))
		default:
			g.state.keepDiscovered(d.Provider, models)
			g.catalog.SetDiscovered(d.Provider.Name, models)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func fetchModels(ctx context.Context, p *provider.Provider) ([]catalog.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	resp, err := p.Get(ctx, provider.Models)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, catalog.MaxDiscoveryBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > catalog.MaxDiscoveryBytes {
		return nil, fmt.Errorf("the list has more than %d bytes", catalog.MaxDiscoveryBytes)
	}
	return catalog.ParseDiscovered(p.Name, data)
}
