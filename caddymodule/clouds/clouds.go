// Package clouds is what authorizes the gateway at model providers and MCP servers by accounts of
// Google, AWS and Microsoft, and by authorization servers: the blocks auth and oauth.
package clouds

import (
	"embed"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"sync"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/cloudauth"
	_ "github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter/clouds" // its dialects
)

//go:embed *.go
var sources embed.FS

func init() {
	for _, account := range []caddy.Module{new(GoogleAuth), new(AWSAuth), new(AzureAuth), new(OAuth)} {
		caddy.RegisterModule(account)
	}
	caddykit.AddSource(OAuth{}, sources)
}

// check refuses an account of one cloud at another one, and a token where others could read it.
// Foreign are the options of other clouds.
func check(s *guest.Server, name, foreign string, token bool) error {
	if foreign != "" {
		return fmt.Errorf("auth %s: the address options (project, region, resource and the like) are those of another cloud", name)
	}
	if base, err := url.Parse(s.BaseURL); token && err == nil && s.BaseURL != "" {
		if err := cloudauth.Secure(base); err != nil {
			return fmt.Errorf("%q: %w: write https://", s.BaseURL, err)
		}
	}
	return nil
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
