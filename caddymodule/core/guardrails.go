package core

import (
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
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
	all    []Guardrail
	byName map[string]*judge.Guardrail
	used   map[string]bool
}

// buildGuardrails compiles the guardrails and finds those that blocks of the core name. An unknown
// name is refused.
func buildGuardrails(b *Build) error {
	a, out := b.Settings, new(policy.Guardrails)
	b.Config.Guardrails = out
	out.Keys, out.Servers = make(map[string][]*judge.Guardrail), make(map[string][]*judge.Guardrail)
	names := guardNames{a.Guardrails, make(map[string]*judge.Guardrail), make(map[string]bool)}
	b.guardrails = names
	for _, g := range a.Guardrails {
		if names.byName[g.Name] != nil {
			return fmt.Errorf("guardrail %q is configured twice", g.Name)
		}
		compiled, secret, err := g.compile(b.Ctx)
		if err != nil {
			return err
		}
		names.byName[g.Name] = compiled
		if secret != "" {
			b.Hide(secret)
		}
	}
	for _, k := range a.Keys {
		if err := b.Guard(out.Keys, k.Name, k.Guardrails); err != nil {
			return fmt.Errorf("key %q: %w", k.Name, err)
		}
	}
	for _, m := range a.Models {
		list, err := names.find(m.Guardrails)
		if err != nil {
			return fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		if len(list) > 0 {
			out.Models = append(out.Models, policy.ModelGuardrails{Pattern: m.Pattern, Guardrails: list})
		}
	}
	var err error
	out.All, err = names.find(a.GuardrailsOnAll)
	return err
}

// Guard adds the guardrails that a block names to those of keys or of MCP servers. An unknown name
// is an error.
func (b *Build) Guard(of map[string][]*judge.Guardrail, block string, names []string) error {
	list, err := b.guardrails.find(names)
	if err == nil && len(list) > 0 {
		of[block] = list
	}
	return err
}

// unused refuses a guardrail that nothing names: a typo must not silently disable a guardrail.
func (n *guardNames) unused() error {
	for _, g := range n.all {
		if !n.used[g.Name] {
			return fmt.Errorf("guardrail %q: it is not used: name it in a key, in a model, in an mcp block or in gatehouse", g.Name)
		}
	}
	return nil
}

func (n *guardNames) find(list []string) (found []*judge.Guardrail, err error) {
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

func (g *Guardrail) compile(ctx caddy.Context) (compiled *judge.Guardrail, secret string, err error) {
	spec := judge.Spec{Name: g.Name, Window: g.Window}
	switch g.On {
	case "", judge.Both.String():
	case judge.Input.String():
		spec.On = judge.Input
	case judge.Output.String():
		spec.On = judge.Output
	default:
		return nil, "", fmt.Errorf("guardrail %q: on %q: want input, output or both", g.Name, g.On)
	}
	for _, r := range g.Rules {
		spec.Rules = append(spec.Rules, judge.Rule{
			Action: judge.Action(r.Guardrail), Detector: judge.Detector(r.Detector), Words: r.Words, Pattern: r.Pattern,
		})
	}
	if g.Webhook != nil {
		if spec.Webhook, secret, err = g.Webhook.build(ctx); err != nil {
			return nil, "", fmt.Errorf("guardrail %q: webhook: %w", g.Name, err)
		}
	}
	compiled, err = judge.Compile(spec)
	return compiled, secret, err
}

func (w *GuardWebhook) build(ctx caddy.Context) (out *judge.Webhook, secret string, err error) {
	out = &judge.Webhook{URL: w.URL, Timeout: time.Duration(w.Timeout), RefuseStreams: w.RefuseStreams}
	switch w.OnFailure {
	case "", "closed":
	case "open":
		out.FailOpen = true
	default:
		return nil, "", fmt.Errorf("on_failure %q: want open or closed", w.OnFailure)
	}
	if w.APIKey != "" {
		if secret, err = ResolveSecret(ctx.Logger(), "the webhook of a guardrail", w.APIKey); err != nil {
			return nil, "", err
		}
		out.Header = http.Header{"Authorization": {"Bearer " + secret}}
	}
	out.Transport, err = NewTransport(ctx, 0, w.URL)
	return out, secret, err
}
