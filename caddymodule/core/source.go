package core

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/source"
)

// Source is a control plane that says where workstations are and who may have them. It is asked for
// those of its tenants that are neither declared nor registered.
type Source struct {
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

// readSource reads one source:
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
func (v *VNC) readSource(d *caddyfile.Dispenser) error {
	var s Source
	if !d.AllArgs(&s.Name) {
		return d.ArgErr()
	}
	err := caddykit.Options{
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
	}.Block(d)
	v.Sources = append(v.Sources, s)
	return err
}

// buildSources returns the sources, and the secrets in them.
func buildSources(ctx caddy.Context, configured []Source, state *gateway.State) (sources []desktop.Source, secrets []string, err error) {
	for _, s := range configured {
		built, some, err := s.build(ctx, state)
		if err != nil {
			return nil, nil, fmt.Errorf("source %q: %w", s.Name, err)
		}
		sources, secrets = append(sources, built), append(secrets, some...)
	}
	return sources, secrets, nil
}

func (s *Source) build(ctx caddy.Context, state *gateway.State) (out desktop.Source, secrets []string, err error) {
	if s.Webhook == nil {
		return out, nil, fmt.Errorf("webhook is missing: the address of the control plane")
	}
	for _, text := range s.Webhook.Secrets {
		value, err := ResolveSecret(ctx.Logger(), "the webhook of a source", text)
		if err != nil {
			return out, nil, err
		}
		secrets = append(secrets, value)
	}
	if out.Networks, err = parseNetworks("networks", s.Networks); err != nil {
		return out, nil, err
	}
	if out.Ports, err = parsePorts("ports", s.Ports); err != nil {
		return out, nil, err
	}
	if len(out.Ports) == 0 {
		out.Ports = desktop.Ports{{First: 5900, Last: 5999}}
	}
	if out.Tenants = s.Tenants; len(out.Tenants) == 0 {
		out.Tenants = []string{keys.DefaultTenant}
	}
	connections, err := newConnections(nil, time.Duration(s.Webhook.Timeout), s.Webhook.URL)
	if err != nil {
		return out, nil, err
	}
	transport, err := connections.kept(ctx)
	if err != nil {
		return out, nil, err
	}
	out.Source, err = source.New(source.Config{
		Name: s.Name, URL: s.Webhook.URL, Secrets: secrets, Gateway: state.Workstations.Node, Transport: transport,
		Timeout: time.Duration(s.Webhook.Timeout), Cache: time.Duration(s.Webhook.Cache), Stale: time.Duration(s.Webhook.Stale),
		Logger: ctx.Logger(), Now: time.Now,
	})
	return out, secrets, err
}

func parseNetworks(option string, texts []string) (networks []netip.Prefix, err error) {
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: want a network such as 10.0.0.0/8", option, text)
		}
		networks = append(networks, prefix)
	}
	return networks, nil
}

// parsePorts reads ports: one, or the first and last of several.
func parsePorts(option string, texts []string) (ports desktop.Ports, err error) {
	for _, text := range texts {
		low, high, several := strings.Cut(text, "-")
		if !several {
			high = low
		}
		first, err := strconv.ParseUint(low, 10, 16)
		last, err2 := strconv.ParseUint(high, 10, 16)
		if err != nil || err2 != nil || first == 0 || last < first {
			return nil, fmt.Errorf("%s: %q: want a port such as 5901, or ports such as 5900-5999", option, text)
		}
		ports = append(ports, desktop.PortRange{First: uint16(first), Last: uint16(last)})
	}
	return ports, nil
}
