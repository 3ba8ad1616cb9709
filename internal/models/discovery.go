package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const (
	discoverTimeout = 30 * time.Second
	// discoverRetry is the wait after a failed refresh, if it is shorter than the interval. Before
	// the first list the wait begins with firstRetry and doubles: a provider that starts together
	// with the gateway is soon there.
	discoverRetry = 30 * time.Second
	firstRetry    = time.Second

	// listGap is the least pause between two reads of a list. Calls that need a first list begin a
	// read at once, but for this pause.
	listGap = time.Second

	// firstListWait bounds how long a call waits for a first list. Providers answer well within a
	// second, and SDKs repeat what is refused with 503.
	firstListWait = 2 * time.Second

	// maxListPages bounds the pages of a list; a page of Anthropic has up to a thousand models.
	maxListPages = 50
)

// Discovery is a provider whose own list of models is read at an interval.
type Discovery struct {
	Provider *provider.Provider
	Every    time.Duration
}

// discovery reads the lists of models of the providers that have one, and gives them to the catalog
// of its configuration.
type discovery struct {
	catalog *catalog.Catalog
	lists   *Lists                   // outlive the configuration
	redact  func(text string) string // takes secrets out of causes for the log
	logger  *zap.Logger
	sources map[string]*listSource // by provider
	over    <-chan struct{}        // closed when no list is read any more
}

// listSource is one provider whose list is read.
type listSource struct {
	Discovery
	noList atomic.Bool   // its last answer was errNoList
	tried  atomic.Bool   // a read has ended
	needed chan struct{} // holds one element while a call waits for the next read of the list

	mu    sync.Mutex    // guards the following
	known bool          // a list has come
	ended chan struct{} // closed at the end of the read under way, or of the next one
}

// need begins a read unless one is under way, after the pause since the last one, and returns what
// is closed at its end. It returns nil if a list has come, perhaps just now.
func (s *listSource) need() (ended <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known {
		return nil
	}
	select {
	case s.needed <- struct{}{}:
	default:
	}
	return s.ended
}

// end ends a read for all who need it. Known says that this one or an earlier one gave a list.
func (s *listSource) end(known bool) {
	s.tried.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = known
	close(s.ended)
	s.ended = make(chan struct{})
	select {
	case <-s.needed:
	default:
	}
}

// errNoList is the answer of a provider that serves no list of models.
var errNoList = errors.New("the provider has no list of models")

func newDiscovery(providers []Discovery, c *catalog.Catalog, lists *Lists, redact func(string) string, logger *zap.Logger) *discovery {
	d := &discovery{catalog: c, lists: lists, redact: redact, logger: logger, sources: make(map[string]*listSource, len(providers))}
	for _, p := range providers {
		d.sources[p.Provider.Name] = &listSource{Discovery: p, needed: make(chan struct{}, 1), ended: make(chan struct{})}
	}
	return d
}

// start reads the lists until ctx ends. Those that an earlier configuration has read are known at
// once.
func (d *discovery) start(ctx context.Context) {
	d.over = ctx.Done()
	for _, s := range d.sources {
		known := d.lists.of(s.Provider)
		if known != nil {
			d.catalog.SetDiscovered(s.Provider.Name, known)
		}
		go d.refresh(ctx, s, known != nil)
	}
}

// refresh reads one list until ctx ends. After a failure the last list stays.
func (d *discovery) refresh(ctx context.Context, s *listSource, known bool) {
	retry := firstRetry
	if known {
		retry = discoverRetry
	}
	lastCause := "" // of the last attempt, if it failed
	for {
		wait := s.Every
		models, odd, err := fetchModels(ctx, s.Provider)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			wait = min(wait, retry)
			retry = min(2*retry, discoverRetry)
			s.noList.Store(errors.Is(err, errNoList))
			cause := d.redact(err.Error())
			if cause != lastCause {
				d.logger.Warn(discoveryFailure(known, s.noList.Load()),
					zap.String("provider", s.Provider.Name), zap.String("cause", cause), zap.Duration("retry_in", wait))
			}
			lastCause = cause
		default:
			known, retry, lastCause = true, discoverRetry, ""
			if odd != nil {
				d.logger.Warn("a provider's list of models has entries that cannot be read; the others are used",
					zap.String("provider", s.Provider.Name), zap.String("cause", d.redact(odd.Error())))
			}
			d.lists.keep(s.Provider, models)
			d.catalog.SetDiscovered(s.Provider.Name, models)
		}
		s.end(known)
		select {
		case <-ctx.Done():
			return
		case <-time.After(listGap):
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait - listGap):
		case <-s.needed:
		}
	}
}

// discoveryFailure is the log message for a list that could not be read.
func discoveryFailure(known, noList bool) string {
	switch {
	case known:
		return "reading a provider's models failed; the last list stays"
	case noList:
		return "the provider has no list of models; set discover off, or name its models"
	}
	return "reading a provider's models failed; until it succeeds, only models that the configuration or a catalog names can be called"
}

// await reads the first lists of providers, and waits until each was read or failed to be, at most
// firstListWait. A read goes on after it. The error is the refusal of a client that has left.
func (d *discovery) await(ctx context.Context, providers ...string) error {
	if len(providers) == 0 {
		return nil
	}
	late := time.NewTimer(firstListWait)
	defer late.Stop()
	var reads []<-chan struct{}
	for _, name := range providers {
		if s := d.sources[name]; !s.noList.Load() {
			if ended := s.need(); ended != nil {
				reads = append(reads, ended)
			}
		}
	}
	for _, ended := range reads {
		select {
		case <-ended:
		case <-late.C:
			return nil
		case <-d.over:
			return nil
		case <-ctx.Done():
			return apierror.New(apierror.ClientGone, "the client left").WithCause(ctx.Err())
		}
	}
	return nil
}

// noList reports whether the provider has last answered that it serves no list.
func (d *discovery) noList(provider string) bool { return d.sources[provider].noList.Load() }

// tried reports whether the provider was asked for its list.
func (d *discovery) tried(provider string) bool { return d.sources[provider].tried.Load() }

// fetchModels asks a provider for its list: the first of its endpoints that answers with one. Odd
// names the entries that cannot be read.
func fetchModels(ctx context.Context, p *provider.Provider) (models []catalog.Model, odd, err error) {
	for _, e := range p.Endpoints {
		models, odd, err = fetchFrom(ctx, p, e)
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return models, odd, err
}

func fetchFrom(ctx context.Context, p *provider.Provider, e *provider.Endpoint) (models []catalog.Model, odd, err error) {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	models = []catalog.Model{} // an empty list is one too
	at := ""
	for range maxListPages {
		data, err := fetchPage(ctx, e, at)
		if err != nil {
			return nil, nil, err
		}
		page, oddOfPage, err := catalog.ParseDiscovered(p.Name, data)
		if err != nil {
			return nil, nil, err
		}
		models, odd = append(models, page...), errors.Join(odd, oddOfPage)
		if len(models) > catalog.MaxModels {
			return nil, nil, fmt.Errorf("the list has more than %d models", catalog.MaxModels)
		}
		if at = e.After(at, catalog.NextPage(data)); at == "" {
			return models, odd, nil
		}
	}
	return nil, nil, fmt.Errorf("the list has more than %d pages", maxListPages)
}

// fetchPage asks for one page of the lists of models, "" = the first.
func fetchPage(ctx context.Context, e *provider.Endpoint, at string) ([]byte, error) {
	resp, err := e.GetModels(ctx, at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return nil, fmt.Errorf("status %d: %w", resp.StatusCode, errNoList)
	default:
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, catalog.MaxDiscoveryBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > catalog.MaxDiscoveryBytes {
		return nil, fmt.Errorf("the list has more than %d bytes", catalog.MaxDiscoveryBytes)
	}
	return data, nil
}

// Lists are the last lists of all providers. They outlive a configuration: after a reload
// models must not vanish until the provider has answered again.
type Lists struct {
	mu    sync.Mutex                 // guards the following
	known map[string][]catalog.Model // by provider name and base URL
}

func (l *Lists) keep(p *provider.Provider, models []catalog.Model) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = make(map[string][]catalog.Model)
	}
	l.known[p.Identity()] = models
}

// of returns the last list of p, nil if there was none.
func (l *Lists) of(p *provider.Provider) []catalog.Model {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[p.Identity()]
}
