package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const (
	discoverTimeout = 30 * time.Second
	// discoverRetry is the wait after a failed refresh, when it is shorter
	// than the interval. Before the first list the wait begins with
	// firstRetry and doubles: a provider that starts together with the
	// gateway is soon there.
	discoverRetry = 30 * time.Second
	firstRetry    = time.Second

	// firstListWait bounds how long a call waits for a first list. Providers
	// answer well within a second, and SDKs repeat what is refused with 503.
	firstListWait = 5 * time.Second
)

// discovery is a Discovery at work.
type discovery struct {
	Discovery
	firstAnswer chan struct{} // closed once the provider was asked
	noList      atomic.Bool   // its last answer was errNoList
}

// errNoList is a provider's answer that it serves no list of models.
var errNoList = errors.New("the provider has no list of models")

// keepDiscovering reads the provider's list of models until ctx ends. A failed
// refresh keeps the last list.
func (g *Gateway) keepDiscovering(ctx context.Context, d *discovery, known bool) {
	answered := sync.OnceFunc(func() { close(d.firstAnswer) })
	defer answered()
	retry := discoverRetry
	lastCause := "" // of the last attempt, if it failed
	if known {
		answered()
	} else {
		retry = firstRetry
	}
	for {
		wait := d.Every
		models, odd, err := fetchModels(ctx, d.Provider)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			wait = min(wait, retry)
			retry = min(2*retry, discoverRetry)
			d.noList.Store(errors.Is(err, errNoList))
			cause := g.redactor.Text(err.Error())
			if cause != lastCause {
				g.logger.Warn(discoveryFailure(known, d.noList.Load()),
					zap.String("provider", d.Provider.Name), zap.String("cause", cause), zap.Duration("retry_in", wait))
			}
			lastCause = cause
		default:
			known, retry, lastCause = true, discoverRetry, ""
			if odd != nil {
				g.logger.Warn("a provider's list of models has entries that cannot be read; the others are used",
					zap.String("provider", d.Provider.Name), zap.String("cause", g.redactor.Text(odd.Error())))
			}
			g.state.keepDiscovered(d.Provider, models)
			g.catalog.SetDiscovered(d.Provider.Name, models)
		}
		answered()
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// discoveryFailure is what the log says of a list that could not be read.
func discoveryFailure(known, noList bool) string {
	switch {
	case known:
		return "reading a provider's models failed; the last list stays"
	case noList:
		return "the provider has no list of models; set discover off, or name its models"
	}
	return "reading a provider's models failed; until it succeeds, only models that the configuration or a catalog names can be called"
}

// awaited returns the providers whose first list of models may still come, and can hold a
// model that the key may use.
func (g *Gateway) awaited(key *keys.Key) []string {
	return slices.DeleteFunc(g.catalog.Awaited(), func(name string) bool {
		return !key.AllowsProvider(name) || g.discover[name].noList.Load()
	})
}

// awaitLists waits until each of the providers has been asked once for its
// models, or firstListWait is over.
func (g *Gateway) awaitLists(ctx context.Context, providers ...string) error {
	if len(providers) == 0 {
		return nil
	}
	late := time.NewTimer(firstListWait)
	defer late.Stop()
	for _, name := range providers {
		select {
		case <-g.discover[name].firstAnswer:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return apierror.New(apierror.ClientGone, "the client left").WithCause(ctx.Err())
		}
	}
	return nil
}

func fetchModels(ctx context.Context, p *provider.Provider) (models []catalog.Model, odd, err error) {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	resp, err := p.Get(ctx, provider.Models)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return nil, nil, fmt.Errorf("status %d: %w", resp.StatusCode, errNoList)
	default:
		return nil, nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, catalog.MaxDiscoveryBytes+1))
	if err != nil {
		return nil, nil, err
	}
	if len(data) > catalog.MaxDiscoveryBytes {
		return nil, nil, fmt.Errorf("the list has more than %d bytes", catalog.MaxDiscoveryBytes)
	}
	return catalog.ParseDiscovered(p.Name, data)
}
