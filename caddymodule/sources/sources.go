// Package sources is the blocks source of vnc: control planes that are asked for workstations.
package sources

import (
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/source"
)

//go:embed *.go
var files embed.FS

func init() { core.Register("sources", func() core.Feature { return new(Feature) }, files) }

// Feature is the member of vnc.
type Feature struct {
	// Sources are control planes that are asked for workstations which are neither declared nor
	// registered.
	Sources []Source `json:"sources,omitempty"`
}

// Options implements [core.Feature].
func (f *Feature) Options() caddykit.Options {
	return caddykit.Options{"source": caddykit.Listed(&f.Sources, (*Source).read)}
}

// Build implements [core.Feature]. The core asks for the sources when it builds the desktops.
func (f *Feature) Build(*core.Build) error { return nil }

// BuildSources implements [core.Sources].
func (f *Feature) BuildSources(ctx caddy.Context, node func() string) (built []desktop.Source, secrets []string, err error) {
	for i := range f.Sources {
		s := &f.Sources[i]
		made, some, err := s.build(ctx, node)
		if err != nil {
			return nil, nil, fmt.Errorf("source %q: %w", s.Name, err)
		}
		built, secrets = append(built, made), append(secrets, some...)
	}
	return built, secrets, nil
}

// Source is a control plane that says where workstations are and who may have them. It is asked for
// those of its tenants that are neither declared nor registered.
type Source struct {
	SourceSettings

	// Guest is how it is asked instead of by a webhook, by a module that others wrote (see package
	// guest): a member with its name.
	Guest caddy.ModuleMap `json:"-" caddy:"namespace=gatehouse.sources"`
}

// SourceSettings are the members of a source but for its guest.
type SourceSettings struct {
	// Name is shown in lists, logs and metrics: letters, digits and . _ -. Required.
	Name string `json:"name"`

	// Webhook is how it is asked. Required.
	Webhook *SourceWebhook `json:"webhook"`

	// Tenants are those whose workstations it has. A tenant has one source. Default: "default".
	Tenants []string `json:"tenants,omitempty"`

	// Networks are the networks (CIDR) in which its workstations can be. Loopback, link-local and
	// other special addresses must be named by a /32 or /128. Required.
	Networks []string `json:"networks"`

	// Ports are those of its workstations: numbers, or ranges. Default: 5900-5999.
	Ports []string `json:"ports,omitempty"`
}

// SourceWebhook is how a control plane is asked; docs/sources.md describes questions and answers.
type SourceWebhook struct {
	// URL is where questions are sent: https, or http to a loopback address. Required.
	URL string `json:"url"`

	// Secrets sign the questions, as the Standard Webhooks specification has it: "whsec_" and the
	// base64 of 24 to 64 bytes, as {env.NAME} or {file./path}. There are two while one is rotated.
	// Required.
	Secrets []string `json:"secrets" placeholders:"yes"`

	// Timeout bounds a question. At most 10s. Default: 2s.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// Cache is how long an answer counts that allows a workstation, unless it says less. At most
	// 5m. Default: 30s.
	Cache caddy.Duration `json:"cache,omitempty"`

	// Stale is how long such an answer lets viewers reconnect while the control plane is down. At
	// most 24h. Default: 10m.
	Stale caddy.Duration `json:"stale,omitempty"`
}

// read reads one source:
//
//	source NAME {
//		webhook URL {
//			secret {env.NAME} [{env.OLD}]
//			timeout | cache | stale DURATION
//		}
//		tenants NAME…
//		networks CIDR…
//		ports NUMBER|FIRST-LAST…
//	}
func (s *Source) read(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&s.Name) {
		return d.ArgErr()
	}
	options := caddykit.Options{
		"webhook": {Read: func(d *caddyfile.Dispenser) error {
			s.Webhook = new(SourceWebhook)
			if !d.AllArgs(&s.Webhook.URL) {
				return d.ArgErr()
			}
			return caddykit.Options{
				"secret":  caddykit.Words(&s.Webhook.Secrets),
				"timeout": caddykit.Value(&s.Webhook.Timeout, caddykit.ParseDuration),
				"cache":   caddykit.Value(&s.Webhook.Cache, caddykit.ParseDuration),
				"stale":   caddykit.Value(&s.Webhook.Stale, caddykit.ParseDuration),
			}.Block(d)
		}},
		"tenants":  caddykit.Words(&s.Tenants),
		"networks": caddykit.Words(&s.Networks),
		"ports":    caddykit.Words(&s.Ports),
	}
	for _, m := range caddy.GetModules(namespace) {
		options[m.ID.Name()] = caddykit.Option{Read: s.guest(m.ID)}
	}
	return options.Block(d)
}

func (s *Source) build(ctx caddy.Context, node func() string) (out desktop.Source, secrets []string, err error) {
	if (s.Webhook == nil) == (len(s.Guest) == 0) {
		return out, nil, errors.New("want webhook, the address of the control plane, or one module of gatehouse.sources")
	}
	if out.Networks, err = core.ParseNetworks("networks", s.Networks); err != nil {
		return out, nil, err
	}
	if out.Ports, err = core.ParsePorts("ports", s.Ports); err != nil {
		return out, nil, err
	}
	if len(out.Ports) == 0 {
		out.Ports = desktop.Ports{{First: 5900, Last: 5999}}
	}
	if out.Tenants = s.Tenants; len(out.Tenants) == 0 {
		out.Tenants = []string{keys.DefaultTenant}
	}
	if s.Webhook == nil {
		out.ControlPlane, err = s.loadGuest(ctx)
	} else {
		out.ControlPlane, secrets, err = s.Webhook.build(ctx, s.Name, node)
	}
	return out, secrets, err
}

func (w *SourceWebhook) build(ctx caddy.Context, name string, node func() string) (made *source.Source, secrets []string, err error) {
	for _, text := range w.Secrets {
		value, err := core.ResolveSecret(ctx.Logger(), "the webhook of a source", text)
		if err != nil {
			return nil, nil, err
		}
		secrets = append(secrets, value)
	}
	transport, err := core.NewTransport(ctx, time.Duration(w.Timeout), w.URL)
	if err != nil {
		return nil, nil, err
	}
	made, err = source.NewWebhook(source.Webhook{URL: w.URL, Secrets: secrets, Gateway: node, Transport: transport}, source.Config{
		Name: name, Timeout: time.Duration(w.Timeout), Cache: time.Duration(w.Cache), Stale: time.Duration(w.Stale),
		Logger: ctx.Logger(), Now: time.Now,
	})
	return made, secrets, err
}
