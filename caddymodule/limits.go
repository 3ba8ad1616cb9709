package caddymodule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// maxDrain bounds on_disconnect drain: who waits longer wants no disconnects.
const maxDrain = 10 * time.Minute

// buildLimits turns the limits of all blocks into the gateway's.
func (a *App) buildLimits() (gateway.Limits, error) {
	out := gateway.Limits{Keys: make(map[string]*gateway.KeyLimits), Drain: time.Duration(a.Drain)}
	var err error
	if out.OnStoreFailure, err = parsePolicy(a.OnStoreFailure); err != nil {
		return out, err
	}
	if out.Drain < 0 || out.Drain > maxDrain {
		return out, fmt.Errorf("on_disconnect: drain %s: at most %s", out.Drain, maxDrain)
	}
	everybody, err := a.subject(gateway.GatewaySubject())
	if err != nil {
		return out, err
	}
	tenants := make(map[string]limits.Subject)
	for _, t := range a.Tenants {
		if _, twice := tenants[t.Name]; twice {
			return out, fmt.Errorf("tenant %q is configured twice", t.Name)
		}
		if !slices.ContainsFunc(a.Keys, func(k Key) bool { return tenantOf(k) == t.Name }) {
			return out, fmt.Errorf("tenant %q: no key belongs to it", t.Name)
		}
		if tenants[t.Name], err = t.subject(gateway.TenantSubject(t.Name)); err != nil {
			return out, fmt.Errorf("tenant %q: %w", t.Name, err)
		}
	}
	for _, k := range a.Keys {
		own, err := k.subject(gateway.KeySubject(k.Name))
		if err != nil {
			return out, fmt.Errorf("key %q: %w", k.Name, err)
		}
		kl := &gateway.KeyLimits{Subjects: []limits.Subject{own}}
		if tenant, ok := tenants[tenantOf(k)]; ok {
			kl.Subjects = append(kl.Subjects, tenant)
		}
		kl.Subjects = append(kl.Subjects, everybody)
		if kl.Caps, err = k.Caps.resolve(); err != nil {
			return out, fmt.Errorf("key %q: %w", k.Name, err)
		}
		switch k.Unpriced {
		case "":
		case "allow":
			kl.Unpriced = true
		default:
			return out, fmt.Errorf("key %q: unpriced %q: want allow", k.Name, k.Unpriced)
		}
		out.Keys[k.Name] = kl
	}
	for _, m := range a.Models {
		caps, err := m.Caps.resolve()
		if err != nil {
			return out, fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		subject, err := Allowance{Rates: m.Rates, Concurrency: m.Concurrency}.subject(gateway.ModelSubject(m.Pattern))
		if err != nil {
			return out, fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		out.Models = append(out.Models, gateway.ModelLimits{Pattern: m.Pattern, Subject: subject, Caps: caps})
	}
	return out, nil
}

func tenantOf(k Key) string {
	if k.Tenant == "" {
		return keys.DefaultTenant
	}
	return k.Tenant
}

func parsePolicy(text string) (gateway.FailurePolicy, error) {
	switch text {
	case "":
		return gateway.FailByBudget, nil
	case "open":
		return gateway.FailOpen, nil
	case "closed":
		return gateway.FailClosed, nil
	}
	return 0, fmt.Errorf("on_store_failure %q: want open or closed", text)
}

// subject reads an allowance; it refuses limits that contradict each other.
func (a Allowance) subject(name string) (limits.Subject, error) {
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

func (c Caps) resolve() (gateway.Caps, error) {
	if c.MaxMessages < 0 || c.MaxTools < 0 || c.MaxOutputTokens < 0 || c.MaxBody < 0 {
		return gateway.Caps{}, errors.New("a negative cap")
	}
	if c.ClampOutput && c.MaxOutputTokens == 0 {
		return gateway.Caps{}, errors.New("clamp_output without max_output_tokens")
	}
	return gateway.Caps{
		Messages: c.MaxMessages, Tools: c.MaxTools, Output: c.MaxOutputTokens, Clamp: c.ClampOutput, Body: c.MaxBody,
	}, nil
}
