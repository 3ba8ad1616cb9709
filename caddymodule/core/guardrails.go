package core

import (
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// Guardrail refuses texts of callers and models, or replaces parts of them. It reads the calls of
// the blocks that name it.
type Guardrail struct {
	// Name is shown to callers whose call is refused. Required, unique: 1 to 64 letters, digits,
	// dots, dashes and underscores.
	Name string `json:"name"`

	// On says which texts are read: "input", "output" or "both". Default: both.
	On string `json:"on,omitempty"`

	// Rules are all tried on each text. Required without a webhook; at most 64.
	Rules []GuardRule `json:"rules,omitempty"`

	// Window is the longest delay of a streamed answer, in characters. A match up to this length is
	// always found whole. At most 8192. Default: 256.
	Window int `json:"window,omitempty"`

	// Webhook is an external moderator, asked after the rules. Default: none.
	Webhook *GuardWebhook `json:"webhook,omitempty"`
}

// GuardRule is one rule of a guardrail.
type GuardRule struct {
	// Guardrail is what happens to a text with a match: "deny" refuses the call with 422, "redact"
	// replaces the match. Required.
	Guardrail string `json:"guardrail"`

	// Detector is what to look for: "secrets" (API keys and other credentials, by the rules of
	// gitleaks), "email", "card" (payment cards), "words" or "regexp". Required.
	Detector string `json:"detector"`

	// Words are the list of "words". They match as whole words in any case; a phrase is one
	// element. At most 10,000.
	Words []string `json:"words,omitempty"`

	// Pattern is the expression of "regexp", in Go's syntax; it must not match an empty text.
	Pattern string `json:"pattern,omitempty"`
}

// GuardWebhook is an external moderator; docs/guardrails.md describes its request and answer.
type GuardWebhook struct {
	// URL is the address for the POST, http or https. Required.
	URL string `json:"url"`

	// APIKey is sent as a bearer token: {env.NAME} or {file./path}. Default: none.
	APIKey string `json:"api_key,omitempty" placeholders:"yes"`

	// Timeout bounds the whole request. Default: 2s.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// OnFailure is what happens to a text without a verdict: "open" lets it pass, "closed" refuses
	// the call with 503. Default: closed.
	OnFailure string `json:"on_failure,omitempty"`

	// RefuseStreams refuses calls that ask for a stream, because a webhook cannot judge an answer
	// before its end. Required on output. Default: false.
	RefuseStreams bool `json:"refuse_streams,omitempty"`
}

// guardNames are the guardrails of a configuration, and which of them a block has named.
type guardNames struct {
	byName map[string]*guardrail.Guardrail
	used   map[string]bool
}

// buildGuardrails compiles the guardrails and finds those that blocks name. It refuses an unknown
// name and an unused guardrail: a typo must not silently disable a guardrail.
func buildGuardrails(a *App) (out *policy.Guardrails, secrets []string, err error) {
	out = new(policy.Guardrails)
	names := guardNames{make(map[string]*guardrail.Guardrail), make(map[string]bool)}
	for _, g := range a.Guardrails {
		if names.byName[g.Name] != nil {
			return out, nil, fmt.Errorf("guardrail %q is configured twice", g.Name)
		}
		compiled, secret, err := g.compile(a.ctx)
		if err != nil {
			return out, nil, err
		}
		names.byName[g.Name] = compiled
		if secret != "" {
			secrets = append(secrets, secret)
		}
	}
	out.Keys = make(map[string][]*guardrail.Guardrail)
	add := func(kind, name string, named []string) error {
		list, err := names.find(named)
		if err != nil {
			return fmt.Errorf("%s %q: %w", kind, name, err)
		}
		if len(list) > 0 {
			out.Keys[name] = list
		}
		return nil
	}
	for _, k := range a.Keys {
		if err := add("key", k.Name, k.Guardrails); err != nil {
			return out, nil, err
		}
	}
	for _, r := range a.Roles {
		if err := add("role", r.Name, r.Guardrails); err != nil {
			return out, nil, err
		}
	}
	for _, m := range a.Models {
		list, err := names.find(m.Guardrails)
		if err != nil {
			return out, nil, fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		if len(list) > 0 {
			out.Models = append(out.Models, policy.ModelGuardrails{Pattern: m.Pattern, Guardrails: list})
		}
	}
	out.Servers = make(map[string][]*guardrail.Guardrail)
	for _, m := range a.MCP {
		list, err := names.find(m.Guardrails)
		if err != nil {
			return out, nil, fmt.Errorf("mcp %q: %w", m.Name, err)
		}
		if len(list) > 0 {
			out.Servers[m.Name] = list
		}
	}
	if out.All, err = names.find(a.GuardrailsOnAll); err != nil {
		return out, nil, err
	}
	for _, g := range a.Guardrails {
		if !names.used[g.Name] {
			return out, nil, fmt.Errorf("guardrail %q: it is not used: name it in a key, in a model, in an mcp block or in gatehouse", g.Name)
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

func (g *Guardrail) compile(ctx caddy.Context) (compiled *guardrail.Guardrail, secret string, err error) {
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
		if spec.Webhook, secret, err = g.Webhook.build(ctx); err != nil {
			return nil, "", fmt.Errorf("guardrail %q: webhook: %w", g.Name, err)
		}
	}
	compiled, err = guardrail.Compile(spec)
	return compiled, secret, err
}

func (w *GuardWebhook) build(ctx caddy.Context) (out *guardrail.Webhook, secret string, err error) {
	out = &guardrail.Webhook{URL: w.URL, Timeout: time.Duration(w.Timeout), RefuseStreams: w.RefuseStreams}
	switch w.OnFailure {
	case "", "closed":
	case "open":
		out.FailOpen = true
	default:
		return nil, "", fmt.Errorf("on_failure %q: want open or closed", w.OnFailure)
	}
	if w.APIKey != "" {
		if secret, err = resolveSecret(ctx.Logger(), "the webhook of a guardrail", w.APIKey); err != nil {
			return nil, "", err
		}
		out.Header = http.Header{"Authorization": {"Bearer " + secret}}
	}
	connections, err := newConnections(nil, 0, w.URL)
	if err != nil {
		return nil, "", err
	}
	out.Transport, err = connections.kept(ctx)
	return out, secret, err
}
