//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// openKinds are the pages that are open, and how often each is read again: data-live of the templates.
var openKinds = []struct {
	path, part string
	pages      int
	every      time.Duration
}{
	{"/console/", `id="overview"`, 25, 10 * time.Second},
	{"/console/activity", `id="activity"`, 25, 5 * time.Second},
}

// pages are open at a console until close.
type pages struct {
	origin string
	cookie *http.Cookie
	client *http.Client
	ctx    context.Context // ends with the first page that fails
	fail   context.CancelCauseFunc
	polls  sync.WaitGroup
}

// openAll signs in with a key and opens the pages, each at another time.
func openAll(ctx context.Context, s *server, key string) (*pages, error) {
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return nil, err
	}
	p := &pages{origin: "http://localhost:" + port}
	p.client, _ = browserClient(s.addr)
	if p.cookie, err = signIn(ctx, p.client, p.origin, key); err != nil {
		return nil, err
	}
	p.ctx, p.fail = context.WithCancelCause(ctx)
	for _, kind := range openKinds {
		if err := p.poll(ctx, kind.path, kind.part); err != nil {
			p.close()
			return nil, err
		}
		p.polls.Go(func() {
			tick := time.NewTicker(kind.every / time.Duration(kind.pages))
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
				case <-p.ctx.Done():
					return
				}
				if err := p.poll(p.ctx, kind.path, kind.part); err != nil {
					p.fail(err) // nothing else, if it has ended
				}
			}
		})
	}
	return p, nil
}

func (p *pages) close() {
	p.fail(context.Canceled)
	p.polls.Wait()
	p.client.CloseIdleConnections()
}

// poll reads the live part of a page again, as its script does.
func (p *pages) poll(ctx context.Context, path, part string) error {
	header := http.Header{"Gatehouse-Live": {"1"}, "Cookie": {p.cookie.Name + "=" + p.cookie.Value}}
	body, err := fetch(ctx, p.client, http.MethodGet, p.origin+path, header)
	if err == nil && !bytes.Contains(body, []byte(part)) {
		err = fmt.Errorf("%s: an answer without %s", path, part)
	}
	return err
}
