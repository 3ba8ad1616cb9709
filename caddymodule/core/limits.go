package core

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// Allowance is the limits of a key, a tenant or the whole gateway.
type Allowance struct {
	// Rates bound the requests, or tokens, of model calls in any window of time: "60/min", "100000
	// tokens/min"; the windows are s, min, h and day. Default: no limit.
	Rates []string `json:"rates,omitempty"`

	// Concurrency bounds concurrent model calls: "10", or "10 queue 20 2s" (20 more may wait, 2
	// seconds each). Default: no limit.
	Concurrency string `json:"concurrency,omitempty"`

	// Budgets bound money and tokens in a calendar period in UTC: "10usd/day", "5M tokens/month",
	// "100usd/total"; the periods are day, week, month and total. A call reserves the most that it
	// can use before it is sent. With "soft" at the end it reserves an estimate, and the budget may
	// be exceeded by the difference. Default: no limit.
	Budgets []string `json:"budgets,omitempty"`
}

// Caps bound what one request may ask for; 0 means no limit.
type Caps struct {
	// MaxMessages bounds the elements of messages or input. Default: no limit.
	MaxMessages int `json:"max_messages,omitempty"`

	// MaxTools bounds the tools that a request declares anywhere; a namespace and each of its
	// members count. Default: no limit.
	MaxTools int `json:"max_tools,omitempty"`

	// MaxOutputTokens bounds the output that a request may ask for, in tokens per choice. It is
	// added to requests that do not ask. Default: no limit.
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty"`

	// MaxBody bounds a request's body, in bytes, at most 256 MiB; the lesser of a key's and a
	// model's applies. Default: 32 MiB.
	MaxBody int64 `json:"max_body,omitempty"`

	// ClampOutput lowers a higher request to MaxOutputTokens instead of refusing it with 400.
	// Default: false.
	ClampOutput bool `json:"clamp_output,omitempty"`
}

// Tenant is the limits that all keys of a tenant share, and which tools they can call.
type Tenant struct {
	// Name is the tenant's name. Required; a key must name it.
	Name string `json:"name"`

	// MCP are patterns over "<MCP server>/<tool>". A tool of a key must fit them, too. Default:
	// what the key has.
	MCP []string `json:"mcp,omitempty"`

	// Session are the rules of its desktop sessions. Default: those of other levels only.
	Session desktop.SessionRules `json:"session,omitzero"`

	Allowance
}

// ModelLimit is the limits of a pattern of models that all callers share.
type ModelLimit struct {
	// Pattern is over "<provider>/<model>" ("*" matches any run of characters). Required. If
	// several patterns match a model, all apply.
	Pattern string `json:"pattern"`

	// Rates are as in a key's block. There are no budgets. Default: no bound.
	Rates []string `json:"rates,omitempty"`

	// Concurrency is as in a key's block. Default: no bound.
	Concurrency string `json:"concurrency,omitempty"`

	// Guardrails are the names of the guardrails that read calls of these models. Default: those of
	// the key and of the gateway.
	Guardrails []string `json:"guardrails,omitempty"`

	Caps
}

// LimitPolicy is the options of how limits act.
type LimitPolicy struct {
	// OnStoreFailure is what happens to a call under a budget while the ledger cannot be written:
	// "open" admits it without a reservation, "closed" refuses it with 503. Default: closed for
	// keys under a hard budget of money, open for others.
	OnStoreFailure string `json:"on_store_failure,omitempty"`

	// Drain is how long the gateway reads a provider's answer after its client has disconnected, to
	// learn its usage. Default: 0, the provider's work is cancelled at once and its usage
	// estimated.
	Drain caddy.Duration `json:"drain,omitempty"`
}

// maxDrain bounds on_disconnect drain.
const maxDrain = 10 * time.Minute

// buildLimits turns the limits of all blocks into the gateway's.
func buildLimits(b *Build) (*policy.Limits, error) {
	a := b.Settings
	out := &policy.Limits{
		Keys: map[string]*policy.KeyLimits{}, Tenants: map[string]*policy.KeyLimits{}, Servers: map[string]*limits.Subject{}, Drain: time.Duration(a.Drain),
	}
	var err error
	if out.OnStoreFailure, err = parsePolicy(a.OnStoreFailure); err != nil {
		return out, err
	}
	if out.Drain < 0 || out.Drain > maxDrain {
		return out, fmt.Errorf("on_disconnect: drain %s must be at most %s", out.Drain, maxDrain)
	}
	b.Budgets("gateway", a.Allowance)
	everybody, err := Subject(a.Allowance, policy.GatewaySubject())
	if err != nil {
		return out, err
	}
	b.belongs = make(map[string]bool)
	for _, k := range a.Keys {
		b.belongs[TenantOf(k.Rights)] = true
		if len(k.Budgets) > 0 {
			b.Budgets(fmt.Sprintf("key %q", k.Name), k.Allowance)
		}
	}
	tenants := make(map[string]limits.Subject)
	for _, t := range a.Tenants {
		if _, twice := tenants[t.Name]; twice {
			return out, fmt.Errorf("tenant %q is configured twice", t.Name)
		}
		if tenants[t.Name], err = Subject(t.Allowance, policy.TenantSubject(t.Name)); err != nil {
			return out, fmt.Errorf("tenant %q: %w", t.Name, err)
		}
		b.Budgets(fmt.Sprintf("tenant %q", t.Name), t.Allowance)
	}
	for _, k := range a.Keys {
		of, at := out.Keys, k.Name
		if !k.limited() {
			of, at = out.Tenants, TenantOf(k.Rights)
		}
		if of[at] != nil { // those of a tenant
			continue
		}
		if of[at], err = k.limits(tenants, everybody); err != nil {
			return out, fmt.Errorf("key %q: %w", k.Name, err)
		}
	}
	for _, m := range a.Models {
		caps, err := m.Caps.Resolve()
		if err != nil {
			return out, fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		subject, err := Subject(Allowance{Rates: m.Rates, Concurrency: m.Concurrency}, policy.ModelSubject(m.Pattern))
		if err != nil {
			return out, fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		out.Models = append(out.Models, policy.ModelLimits{Pattern: m.Pattern, Subject: subject, Caps: caps})
	}
	return out, nil
}

// limited reports whether the key has limits of its own.
func (k *Key) limited() bool {
	return len(k.Rates)+len(k.Budgets)+len(k.Concurrency)+len(k.Unpriced) > 0 || k.Caps != Caps{}
}

// limits returns the limits of a key, its tenant and the gateway.
func (k *Key) limits(tenants map[string]limits.Subject, everybody limits.Subject) (*policy.KeyLimits, error) {
	out := &policy.KeyLimits{Tenant: TenantOf(k.Rights)}
	if k.limited() {
		own, err := Subject(k.Allowance, policy.KeySubject(k.Name))
		if err != nil {
			return nil, err
		}
		out.Subjects = append(out.Subjects, own)
	}
	if tenant, ok := tenants[out.Tenant]; ok {
		out.Subjects = append(out.Subjects, tenant)
	}
	out.Subjects = append(out.Subjects, everybody)
	var err error
	if out.Caps, err = k.Caps.Resolve(); err != nil {
		return nil, err
	}
	out.Unpriced, err = ParseUnpriced(k.Unpriced)
	return out, err
}

func ParseUnpriced(text string) (allow bool, err error) {
	if text != "" && text != "allow" {
		return false, fmt.Errorf("unpriced %q: want allow", text)
	}
	return text != "", nil
}

func TenantOf(r Rights) string { return cmp.Or(r.Tenant, keys.DefaultTenant) }

func parsePolicy(text string) (policy.FailurePolicy, error) {
	switch text {
	case "":
		return policy.FailByBudget, nil
	case "open":
		return policy.FailOpen, nil
	case "closed":
		return policy.FailClosed, nil
	}
	return 0, fmt.Errorf("on_store_failure %q: want open or closed", text)
}

// Subject parses an allowance; it refuses limits that contradict each other.
func Subject(a Allowance, name string) (limits.Subject, error) {
	s := limits.Subject{Name: name}
	for _, text := range a.Rates {
		rate, err := limits.ParseRate(text)
		if err != nil {
			return s, err
		}
		s.Rates = append(s.Rates, rate)
	}
	for _, text := range a.Budgets {
		budget, err := limits.ParseBudget(text)
		if err != nil {
			return s, err
		}
		s.Budgets = append(s.Budgets, budget)
	}
	if a.Concurrency != "" {
		var err error
		if s.Concurrency, err = limits.ParseConcurrency(strings.Fields(a.Concurrency)...); err != nil {
			return s, err
		}
	}
	return s, s.Check()
}

func (c Caps) Resolve() (policy.Caps, error) {
	if c.MaxMessages < 0 || c.MaxTools < 0 || c.MaxOutputTokens < 0 || c.MaxBody < 0 {
		return policy.Caps{}, errors.New("a negative cap")
	}
	if c.ClampOutput && c.MaxOutputTokens == 0 {
		return policy.Caps{}, errors.New("clamp_output without max_output_tokens")
	}
	return policy.Caps{
		Messages: c.MaxMessages, Tools: c.MaxTools, Output: c.MaxOutputTokens, Clamp: c.ClampOutput, Body: c.MaxBody,
	}, nil
}
