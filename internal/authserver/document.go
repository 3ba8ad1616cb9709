package authserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// documentTimeout and maxDocument bound the fetch of a metadata document; maxDocument in bytes.
	documentTimeout, maxDocument = 5 * time.Second, 64 << 10
	// documentLife is how long a document is kept, and failureLife that there is none.
	documentLife, failureLife = 10 * time.Minute, time.Minute
	// maxDocuments bounds what is kept. maxFetches bounds what one address lets the gateway fetch,
	// and maxFetchesInAll what all do, in boundsWindow.
	maxDocuments, maxFetches, maxFetchesInAll = 256, 20, 500
)

// documents are what clients say of themselves at the https address that is their ID (Client ID
// Metadata Document, draft-ietf-oauth-client-id-metadata-document).
type documents struct {
	http    *http.Client
	fetches counter

	mu   sync.Mutex
	kept map[string]document
}

type document struct {
	client client
	err    error
	until  time.Time
}

func newDocuments(c *http.Client) *documents {
	if c == nil {
		c = publicClient()
	}
	own := *c
	own.Timeout = documentTimeout
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &documents{http: &own, fetches: counter{one: maxFetches, all: maxFetchesInAll}, kept: map[string]document{}}
}

// find returns the client with a URL as its ID.
func (d *documents) find(ctx context.Context, id string, hosts []string, a addresses) (client, error) {
	u, err := url.Parse(id)
	switch {
	case err != nil || !isURI(id, maxClientID) || !isPlain(u.Host) || u.User != nil,
		strings.Trim(u.Path, "/") == "", path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/"):
		return client{}, errors.New("the client_id is no URL of a metadata document: want https, a host and a path")
	case !mayBeAt(hosts, u.Hostname()):
		return client{}, fmt.Errorf("the operator of the gateway lets no client be at %q", clean(u.Hostname(), maxRedirect))
	}
	d.mu.Lock()
	found, ok := d.kept[id]
	d.mu.Unlock()
	if ok && a.now.Before(found.until) {
		return found.client, found.err
	}
	if !d.fetches.count(a.from, a.now) {
		if ok && found.err == nil {
			return found.client, nil // it is old, and others may have used up the fetches
		}
		const text = "too many programs were looked up for this address; try again in ten minutes"
		return client{}, &refusal{http.StatusTooManyRequests, slowDown, text, boundsWindow}
	}
	found.client, found.err = d.fetch(ctx, id)
	found.client.host, found.until = u.Hostname(), a.now.Add(documentLife)
	if found.err != nil {
		found.until = a.now.Add(failureLife)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for other := range d.kept {
		if len(d.kept) < maxDocuments {
			break
		}
		delete(d.kept, other)
	}
	d.kept[id] = found
	return found.client, found.err
}

// fetch reads a document. What went wrong is not shown: it would tell of networks behind the
// gateway.
func (d *documents) fetch(ctx context.Context, id string) (client, error) {
	none := errors.New("there is no metadata document at the client_id that the gateway can read: want JSON of at most 64 KiB, " +
		"at a public address, without a redirect, within 5 seconds")
	r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, id, nil)
	if err != nil {
		return client{}, none
	}
	r.Header.Set("Accept", "application/json")
	resp, err := d.http.Do(r)
	if err != nil {
		return client{}, none
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	var m metadata
	if err != nil || resp.StatusCode != http.StatusOK || len(body) > maxDocument || json.Unmarshal(body, &m) != nil {
		return client{}, none
	}
	if m.ID != id {
		return client{}, errors.New("the metadata document names another client_id than its own address")
	}
	if m.Auth != "" && m.Auth != "none" {
		return client{}, errors.New("the metadata document wants another token_endpoint_auth_method than none")
	}
	return client{id: id, name: nameOf(m.Name), redirects: m.Redirects}, m.check(nil)
}

// publicClient connects to public addresses alone: who names a document must not reach what is
// behind the gateway. The address is checked when it is dialled, so that no name can change after
// it was looked up.
func publicClient() *http.Client {
	dialer := net.Dialer{Timeout: documentTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !isPublic(at.Addr()) {
			return errors.New("the address is not public")
		}
		return nil
	}}
	return &http.Client{Transport: &http.Transport{
		DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: documentTimeout, MaxResponseHeaderBytes: maxDocument,
	}}
}

// isPublic reports whether an address is one of the internet: IPv4, but for special purposes
// (RFC 6890), and IPv6 in 2000::/3 without those that stand for IPv4.
func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.Is6() && !global.Contains(a) || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

var global = netip.MustParsePrefix("2000::/3")

var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this host (RFC 1122)
	netip.MustParsePrefix("100.64.0.0/10"),    // shared by carriers (RFC 6598)
	netip.MustParsePrefix("168.63.129.16/32"), // platform address, Azure
	netip.MustParsePrefix("192.0.0.0/24"),     // protocols (RFC 6890)
	netip.MustParsePrefix("192.0.2.0/24"),     // documentation (RFC 5737)
	netip.MustParsePrefix("192.88.99.0/24"),   // 6to4 relays (RFC 7526)
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks (RFC 2544)
	netip.MustParsePrefix("198.51.100.0/24"),  // documentation
	netip.MustParsePrefix("203.0.113.0/24"),   // documentation
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, broadcast
	netip.MustParsePrefix("2001::/23"),        // protocols, Teredo (RFC 2928)
	netip.MustParsePrefix("2001:db8::/32"),    // documentation (RFC 3849)
	netip.MustParsePrefix("2002::/16"),        // 6to4, which stands for IPv4 (RFC 3056)
	netip.MustParsePrefix("3fff::/20"),        // documentation (RFC 9637)
}
