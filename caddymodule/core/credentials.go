package core

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"sync"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/cloudauth"
)

// credentials has the credential of each account of a cloud. A reload finds those of the
// configuration before, so that it loses no token; the release of the last reference ends their
// work in the background.
var credentials = caddy.NewUsagePool()

type pooledCredential struct {
	cloudauth.Credential
	end context.CancelFunc
}

// Destruct runs when the last reference is released.
func (c pooledCredential) Destruct() error {
	c.end()
	return nil
}

// heldCredentials are the references of one configuration.
type heldCredentials struct {
	mu   sync.Mutex // guards the following
	keys []string
}

// get returns the credential of an account, with a reference to it. Equal accounts have one
// credential.
func (h *heldCredentials) get(account any, make newCredential) (cloudauth.Credential, error) {
	text, err := json.Marshal(account)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text) // a secret may be written in it
	key := string(hash[:])
	value, _, err := credentials.LoadOrNew(key, func() (caddy.Destructor, error) {
		ctx, end := context.WithCancel(context.Background())
		made, err := make(ctx)
		if err != nil {
			end()
			return nil, err
		}
		return pooledCredential{made, end}, nil
	})
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys = append(h.keys, key)
	return value.(pooledCredential).Credential, nil
}

// release gives the references back. It may be called again.
func (h *heldCredentials) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range h.keys {
		_, _ = credentials.Delete(key) // Destruct returns no error
	}
	h.keys = nil
}

// tokenClient asks token endpoints, through the proxy of the environment.
var tokenClient = sync.OnceValue(func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = func(r *http.Request) (*url.URL, error) {
		if metadata(r.URL.Hostname()) {
			return nil, nil
		}
		return http.ProxyFromEnvironment(r)
	}
	return cloudauth.Client(transport)
})

// metadata reports whether a host is the metadata service of the machine itself, which no proxy
// reaches.
func metadata(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "metadata.google.internal" || err == nil && (ip.IsLinkLocalUnicast() || ip == awsMetadata)
}

// awsMetadata is the address of EC2's metadata service in IPv6.
var awsMetadata = netip.MustParseAddr("fd00:ec2::254")
