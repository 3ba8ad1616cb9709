//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
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
	client http.Client
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
	p := &pages{origin: "http://localhost:" + port, client: http.Client{
		Timeout:       ioTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: ioTimeout}).DialContext(ctx, network, s.addr)
		}},
	}}
	if err := p.signIn(ctx, key); err != nil {
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

func (p *pages) signIn(ctx context.Context, key string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.origin+"/console/sign-in", strings.NewReader(url.Values{"key": {key}}.Encode()))
	if err != nil {
		return err
	}
	req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {p.origin}}
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	res.Body.Close()
	if len(res.Cookies()) == 0 {
		return fmt.Errorf("signing in: status %d and no cookie", res.StatusCode)
	}
	p.cookie = res.Cookies()[0]
	return nil
}

// poll reads the live part of a page again, as its script does.
func (p *pages) poll(ctx context.Context, path, part string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.origin+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Gatehouse-Live", "1")
	req.AddCookie(p.cookie)
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxPage))
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(part)) {
		return fmt.Errorf("%s: %s without %s", path, res.Status, part)
	}
	return nil
}
