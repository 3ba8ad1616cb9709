// Package inspect is what commands see of a configuration that was provisioned and not started.
package inspect

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Config is a configuration that was provisioned and not started.
type Config struct {
	Context   caddy.Context  // of its apps
	Built     gateway.Config // what the gateway would be made of
	Keys      []Key
	Tenants   []Tenant
	Models    []string       // patterns of the model blocks
	Limits    limits.Subject // what all callers share
	Providers []Provider
	MCP       []MCPServer
	Desktops  *Desktops // nil: none
	DataDir   string
	Retention activity.Retention

	Storage json.RawMessage // as configured; nil: Caddy's default
	HTTP    json.RawMessage // as configured: Caddy forgets which listener wrappers a server has
}

// MakesKeys reports whether there can be callers whom the configuration does not list: keys that
// are made at run time, and people of an identity. Limits of other tenants are for those.
func (c *Config) MakesKeys() bool { return c.Built.Limits.OtherTenants != nil }

// Key is a key of the configuration or of a key file.
type Key struct {
	Name      string
	Tenant    string
	Expires   string // as configured
	ExpiresAt time.Time
	Disabled  bool
	Literal   bool // a secret is written in the configuration
	CanChat   bool
	Models    []string
	Unpriced  bool // the key says what becomes of calls without a price
	Limits    limits.Subject

	CanCallTools bool     // by its scopes
	CanAutomate  bool     // by its scopes
	MCP          []string // patterns of tools
	Reaches      []string // the MCP servers that its tenant, too, lets it use
}

// Tenant is the limits that the keys of a tenant share.
type Tenant struct {
	Name   string
	Limits limits.Subject
}

// Provider is a provider block.
type Provider struct {
	Name     string
	BaseURL  string
	APIKey   string // as configured
	Keyless  bool   // nothing authorizes the gateway there
	AnyModel bool   // models has "*"
	Test     bool   // the built-in provider
}

// MCPServer is an mcp block.
type MCPServer struct {
	Name    string
	URL     string
	APIKey  string // as configured
	Keyless bool   // nothing authorizes the gateway there
	Demo    bool   // the built-in server
	// Desktops is the built-in server of desktops.
	Desktops bool
	// Ask asks the server how many tools it has.
	Ask func(ctx context.Context) (tools int, err error)
}

// Desktops is the vnc block.
type Desktops struct {
	Domain         string
	Port           int
	Automated      bool                              // agents may look at desktops, or act
	OwnCertificate bool                              // the configuration loads one
	Policy         func() *caddytls.AutomationPolicy // that governs the wildcard certificate
}

// Wildcard is the name of the certificate.
func (d *Desktops) Wildcard() string { return "*." + d.Domain }

// RenewBy returns from when on the renewal of the certificate is late.
func (d *Desktops) RenewBy(c *x509.Certificate) time.Time {
	var window float64
	if policy := d.Policy(); policy != nil {
		window = policy.RenewalWindowRatio
	}
	return caddykit.RenewBy(c, window)
}

// Hide takes the secrets of the configuration out of a text.
func (c *Config) Hide(text string) string {
	for _, secret := range c.Built.Secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

// take, if set, gets each configuration that is provisioned.
var take func(*Config)

// Take hands over each configuration that is provisioned until stop is called. It is for a process
// that serves nothing.
func Take(f func(*Config)) (stop func()) {
	take = f
	return func() { take = nil }
}

// Provisioned is called by the app when it is provisioned. It does nothing outside of [Take].
func Provisioned(config func() *Config) {
	if take != nil {
		take(config())
	}
}
