package caddymodule

import (
	"fmt"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

// guardNames are the guardrails of a configuration, and which of them a block
// has named.
type guardNames struct {
	byName map[string]*guardrail.Guardrail
	used   map[string]bool
}

// buildGuards compiles the guardrails and finds those that blocks name. A name
// that is not known, or that nothing uses, is refused: a typo must not take a
// guardrail away in silence.
func (a *App) buildGuards() (out gateway.Guards, secrets []string, err error) {
	names := guardNames{make(map[string]*guardrail.Guardrail), make(map[string]bool)}
	for _, g := range a.Guardrails {
		if names.byName[g.Name] != nil {
			return out, nil, fmt.Errorf("guardrail %q is configured twice", g.Name)
		}
		compiled, secret, err := a.compileGuardrail(&g)
		if err != nil {
			return out, nil, err
		}
		names.byName[g.Name] = compiled
		if secret != "" {
			secrets = append(secrets, secret)
		}
	}
	out.Keys = make(map[string][]*guardrail.Guardrail)
	for _, k := range a.Keys {
		list, err := names.find(k.Guardrails)
		if err != nil {
			return out, nil, fmt.Errorf("key %q: %w", k.Name, err)
		}
		if len(list) > 0 {
			out.Keys[k.Name] = list
		}
	}
	for _, m := range a.Models {
		list, err := names.find(m.Guardrails)
		if err != nil {
			return out, nil, fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		if len(list) > 0 {
			out.Models = append(out.Models, gateway.ModelGuards{Pattern: m.Pattern, Guardrails: list})
		}
	}
	if out.All, err = names.find(a.GuardrailsOnAll); err != nil {
		return out, nil, err
	}
	for _, g := range a.Guardrails {
		if !names.used[g.Name] {
			return out, nil, fmt.Errorf("guardrail %q: no key, no model and not the gateway names it", g.Name)
		}
	}
	return out, secrets, nil
}

func (n *guardNames) find(list []string) (found []*guardrail.Guardrail, err error) {
	for _, name := range list {
		g := n.byName[name]
		if g == nil {
			return nil, fmt.Errorf("guardrails: there is no guardrail %q", name)
		}
		n.used[name] = true
		found = append(found, g)
	}
	return found, nil
}

func (a *App) compileGuardrail(g *Guardrail) (compiled *guardrail.Guardrail, secret string, err error) {
	spec := guardrail.Spec{Name: g.Name, Window: g.Window}
	switch g.On {
	case "", guardrail.Both.String():
	case guardrail.Input.String():
		spec.On = guardrail.Input
	case guardrail.Output.String():
		spec.On = guardrail.Output
	default:
		return nil, "", fmt.Errorf("guardrail %q: on %q: want input, output or both", g.Name, g.On)
	}
	for _, r := range g.Rules {
		spec.Rules = append(spec.Rules, guardrail.Rule{
			Action: guardrail.Action(r.Guardrail), Detector: guardrail.Detector(r.Detector), Words: r.Words, Pattern: r.Pattern,
		})
	}
	if g.Webhook != nil {
		if spec.Webhook, secret, err = a.webhook(g.Webhook); err != nil {
			return nil, "", fmt.Errorf("guardrail %q: webhook: %w", g.Name, err)
		}
	}
	compiled, err = guardrail.Compile(spec)
	return compiled, secret, err
}

func (a *App) webhook(w *GuardWebhook) (out *guardrail.Webhook, secret string, err error) {
	out = &guardrail.Webhook{URL: w.URL, Timeout: time.Duration(w.Timeout), RefuseStreams: w.RefuseStreams}
	switch w.OnFailure {
	case "", "closed":
	case "open":
		out.FailOpen = true
	default:
		return nil, "", fmt.Errorf("on_failure %q: want open or closed", w.OnFailure)
	}
	if w.APIKey != "" {
		if secret, err = a.secret("the webhook of a guardrail", w.APIKey); err != nil {
			return nil, "", err
		}
		out.Header = http.Header{"Authorization": {"Bearer " + secret}}
	}
	if out.Transport, err = a.keepingTransport(&Provider{BaseURL: w.URL}); err != nil {
		return nil, "", err
	}
	return out, secret, nil
}
