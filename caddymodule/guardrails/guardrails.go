// Package guardrails is the blocks guardrail of the configuration: what is found in prompts and
// answers, and refused or taken out.
package guardrails

import (
	"embed"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

//go:embed *.go
var sources embed.FS

func init() { core.Register("guardrails", func() core.Feature { return new(Feature) }, sources) }

// Feature is the member of the app.
type Feature struct {
	// Guardrails are rules for the texts of calls. At least one block must name each of them.
	Guardrails []Guardrail `json:"guardrails,omitempty"`
}

// Options implements [core.Feature].
func (f *Feature) Options() caddykit.Options {
	return caddykit.Options{"guardrail": caddykit.Listed(&f.Guardrails, (*Guardrail).read)}
}

// Build implements [core.Feature]. The core compiles the guardrails before it builds what names
// them.
func (f *Feature) Build(*core.Build) error { return nil }

// Join implements [core.Guardrails].
func (f *Feature) Join(all []guardrail.Guardrail) guardrail.Set { return judge.Join(all) }

// Compile implements [core.Guardrails].
func (f *Feature) Compile(ctx caddy.Context) (all []guardrail.Guardrail, secrets []string, err error) {
	for i := range f.Guardrails {
		g, secret, err := f.Guardrails[i].compile(ctx)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, g)
		if secret != "" {
			secrets = append(secrets, secret)
		}
	}
	return all, secrets, nil
}

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

func (g *Guardrail) compile(ctx caddy.Context) (compiled *judge.Guardrail, secret string, err error) {
	spec := judge.Spec{Name: g.Name, Window: g.Window}
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
		if secret, err = core.ResolveSecret(ctx.Logger(), "the webhook of a guardrail", w.APIKey); err != nil {
			return nil, "", err
		}
		out.Header = http.Header{"Authorization": {"Bearer " + secret}}
	}
	out.Transport, err = core.NewTransport(ctx, 0, w.URL)
	return out, secret, err
}
