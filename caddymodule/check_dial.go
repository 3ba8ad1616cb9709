package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const (
	// dialTimeout bounds what check asks of one provider or desktop address.
	dialTimeout = 10 * time.Second
	// maxDials bounds how many providers are asked at a time.
	maxDials = 8
)

const (
	testDialect = provider.Test

	// defaultPort is that of VNC.port.
	defaultPort = 5900
)

// dialProviders tries the credential of each endpoint of each provider with a request for its list of
// models: no model is called. The lists are then known to the other checks.
func dialProviders(c *inspected) []finding {
	var asked []*finding
	var running sync.WaitGroup
	slots := make(chan struct{}, maxDials)
	for _, p := range c.built.Providers {
		if p.BuiltIn {
			continue
		}
		for _, e := range p.Endpoints {
			f := &finding{Subject: "provider " + p.Name}
			if e.Name != "" {
				f.Subject += "@" + e.Name
			}
			asked = append(asked, f)
			running.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				dialProvider(c, p, e, f)
			})
		}
	}
	running.Wait()
	found := make([]finding, len(asked))
	for i, f := range asked {
		found[i] = *f
	}
	return found
}

func dialProvider(c *inspected, p *provider.Provider, e *provider.Endpoint, f *finding) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	began := time.Now()
	resp, err := e.GetModels(ctx, "")
	if err != nil {
		text := err.Error()
		for _, secret := range c.built.Secrets {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
		*f = finding{failure, f.Subject, "it cannot be reached: " + text, "Check base_url, the network and the provider's certificate."}
		return
	}
	defer func() { _ = resp.Body.Close() }()
	took := time.Since(began).Round(time.Millisecond)
	switch status := resp.StatusCode; {
	case status == http.StatusOK:
		data, err := io.ReadAll(io.LimitReader(resp.Body, catalog.MaxDiscoveryBytes))
		models, _, parsing := catalog.ParseDiscovered(p.Name, data)
		if err = errors.Join(err, parsing); err != nil {
			*f = finding{warning, f.Subject, "its list of models cannot be read", "Name its models, with discover off, if it has no list."}
			return
		}
		c.built.Catalog.SetDiscovered(p.Name, models) // ignored without discover
		*f = finding{note, f.Subject, fmt.Sprintf("its list of %s came in %s: the credential is accepted, or not needed", plural(len(models), "model"), took), ""}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		*f = finding{failure, f.Subject, fmt.Sprintf("it refuses the gateway's credential with %d", status), "Replace api_key: it is wrong, revoked, or lacks a right."}
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented:
		*f = finding{note, f.Subject, fmt.Sprintf("it answers, and has no list of models (%d): the credential was not tried", status), "Check that base_url ends as for an SDK, often in /v1."}
	default:
		*f = finding{warning, f.Subject, fmt.Sprintf("it answers the request for its models with %d", status), "Look at the provider's status page."}
	}
}

// dialDesktops resolves an address below the domain of desktops and connects to it.
func dialDesktops(c *inspected) []finding {
	if c.app.VNC == nil {
		return nil
	}
	const subject = "vnc"
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	host := "gatehouse-check." + c.app.VNC.Domain // a wildcard leads everywhere
	addresses, err := new(net.Resolver).LookupHost(ctx, host)
	if err != nil {
		return []finding{{failure, subject, "the wildcard DNS record of " + c.app.wildcard() + " is missing: " + err.Error(), "Add *." + c.app.VNC.Domain + " to the DNS."}}
	}
	port := c.app.VNC.Port
	if port == 0 {
		port = defaultPort
	}
	var found []finding
	for _, address := range addresses[:min(len(addresses), maxDials)] {
		at := net.JoinHostPort(address, strconv.Itoa(port))
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", at)
		if err != nil {
			found = append(found, finding{warning, subject, host + " leads to " + at + ", where nothing answers: " + err.Error(),
				"That is right if Caddy does not run yet; else check the listener and the firewall."})
			continue
		}
		_ = conn.Close() // only whether it opens was asked
		found = append(found, finding{note, subject, host + " leads to " + at + ", which accepts connections", ""})
	}
	return found
}
