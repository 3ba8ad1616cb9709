package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

const (
	// dialTimeout bounds what check asks of one provider or desktop address.
	dialTimeout = 10 * time.Second
	// maxDials bounds how many providers are asked at a time.
	maxDials = 8
)

// defaultPort is the port of desktops, if the vnc block has none.
const defaultPort = 5900

// dialProviders tries the credential of each endpoint of each provider with a request for its list of
// models: no model is called. The lists are then known to the other checks.
func dialProviders(c *inspected) []Finding {
	var asked []*Finding
	var running sync.WaitGroup
	slots := make(chan struct{}, maxDials)
	for _, p := range c.Built.Providers {
		if p.BuiltIn {
			continue
		}
		for _, e := range p.Endpoints {
			f := &Finding{Subject: "provider " + p.Name}
			if e.Name != "" {
				f.Subject += "@" + e.Name
			}
			asked = append(asked, f)
			running.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				dialProvider(c, p.Name, e, p.Has("models"), f)
			})
		}
	}
	running.Wait()
	found := make([]Finding, len(asked))
	for i, f := range asked {
		found[i] = *f
	}
	return found
}

// endpoint is one address of a provider.
type endpoint interface {
	// Authorize asks for what authorizes requests, such as the token of a cloud.
	Authorize(ctx context.Context) error
	GetModels(ctx context.Context, page string) (*http.Response, error)
	After(page, next string) string
}

func dialProvider(c *inspected, name string, e endpoint, lists bool, f *Finding) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	if err := e.Authorize(ctx); err != nil {
		*f = Finding{Failure, f.Subject, "its cloud gives the gateway no credential: " + c.Hide(err.Error()),
			"Check the auth block, the rights of the identity and the network: docs/clouds.md."}
		return
	}
	if !lists {
		*f = Finding{Note, f.Subject, "it has no list of models and was not asked; there is a credential for it, or none is needed", ""}
		return
	}
	began := time.Now()
	resp, err := e.GetModels(ctx, "")
	if err != nil {
		*f = Finding{Failure, f.Subject, "it cannot be reached: " + c.Hide(err.Error()), "Check base_url, the network and the provider's certificate."}
		return
	}
	defer func() { _ = resp.Body.Close() }()
	took := time.Since(began).Round(time.Millisecond)
	switch status := resp.StatusCode; {
	case status == http.StatusOK:
		data, err := io.ReadAll(io.LimitReader(resp.Body, catalog.MaxDiscoveryBytes))
		models, _, parsing := catalog.ParseDiscovered(name, data)
		if err = errors.Join(err, parsing); err != nil {
			*f = Finding{Warning, f.Subject, "its list of models cannot be read", "Name its models, with discover off, if it has no list."}
			return
		}
		if e.After("", catalog.NextPage(data)) == "" { // else there is more
			c.Built.Catalog.SetDiscovered(name, models) // ignored without discover
		}
		*f = Finding{Note, f.Subject, fmt.Sprintf("its list of %s came in %s: the credential is accepted, or not needed", terminal.Plural(len(models), "model"), took), ""}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		*f = Finding{Failure, f.Subject, fmt.Sprintf("it refuses the gateway's credential with %d", status), "Replace api_key, or give the identity of auth its rights: it is wrong, revoked, or lacks a right."}
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented:
		*f = Finding{Note, f.Subject, fmt.Sprintf("it answers, and has no list of models (%d): the credential was not tried", status), "Check that base_url ends as for an SDK, often in /v1."}
	default:
		*f = Finding{Warning, f.Subject, fmt.Sprintf("it answers the request for its models with %d", status), "Look at the provider's status page."}
	}
}

// dialDesktops resolves an address below the domain of desktops and connects to it.
func dialDesktops(c *inspected) []Finding {
	if c.Desktops == nil {
		return nil
	}
	const subject = "vnc"
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	host := "gatehouse-check." + c.Desktops.Domain // a wildcard leads everywhere
	addresses, err := new(net.Resolver).LookupHost(ctx, host)
	if err != nil && isLocalhost(host) { // resolvers of viewers may know it without the DNS (RFC 6761, section 6.3)
		addresses, err = []string{"127.0.0.1"}, nil
	}
	if err != nil {
		return []Finding{{Failure, subject, "the wildcard DNS record of " + c.Desktops.Wildcard() + " is missing: " + err.Error(), "Add *." + c.Desktops.Domain + " to the DNS."}}
	}
	var found []Finding
	for _, address := range addresses[:min(len(addresses), maxDials)] {
		at := net.JoinHostPort(address, strconv.Itoa(c.port()))
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", at)
		if err != nil {
			found = append(found, Finding{Warning, subject, host + " leads to " + at + ", where nothing answers: " + err.Error(),
				"That is right if Caddy does not run yet; else check the listener and the firewall."})
			continue
		}
		_ = conn.Close() // only whether it opens was asked
		found = append(found, Finding{Note, subject, host + " leads to " + at + ", which accepts connections", ""})
	}
	return found
}
