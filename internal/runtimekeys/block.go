package runtimekeys

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// Block is what a configuration allows keys that are made at run time. No key has more.
type Block struct {
	Scopes      keys.Scope              // without keys:manage: a key that is made cannot make others
	Models      pattern.List            // empty: every callable model
	Tools       pattern.List            // "<MCP server>/<tool>"; empty: none
	TenantTools map[string]pattern.List // those of tenants that bound their keys
	HostedTools bool                    // they may use tools that run at the provider
	Limits      limits.Subject
	Caps        policy.Caps
	Unpriced    bool           // see policy.KeyLimits
	Max         int            // keys at most
	MaxBudget   int64          // the largest limit of a budget; 0: any
	Shared      *policy.Limits // of the same configuration: those of tenants and of the gateway
}

// DefaultMax and MostMax bound the keys of a gateway. A key takes about 600
// bytes of memory, and as much again once it is used (BenchmarkManyKeys).
const (
	DefaultMax = 100_000
	MostMax    = 1_000_000
)

// Check refuses a block that allows nothing or too much.
func (b *Block) Check() error {
	switch {
	case b.Scopes == 0:
		return fmt.Errorf("no scopes: name at least one")
	case b.Scopes&keys.KeysManage != 0:
		return fmt.Errorf("the scope %s cannot be given at run time", keys.KeysManage)
	case b.Max < 1 || b.Max > MostMax:
		return fmt.Errorf("max %d: want 1 to %d", b.Max, MostMax)
	}
	for _, p := range b.Models {
		if err := pattern.Valid(p); err != nil {
			return fmt.Errorf("models: %w", err)
		}
	}
	if err := keys.ValidTools(b.Tools, nil); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return b.Limits.Check()
}

// MaxBody returns the largest body that a key may send, in bytes; 0 without a block.
func (b *Block) MaxBody() int64 {
	if b == nil {
		return 0
	}
	return b.Caps.Body
}

// limitBudget returns the budget of the key's limit and limit_reset, nil without a limit. A limit of
// 0 becomes one nano-USD, the least that the ledger knows: no priced call fits in it.
func limitBudget(s *Settings) *limits.Budget {
	if s.Limit == nil {
		return nil
	}
	return &limits.Budget{Unit: limits.Money, Period: s.Period(), Limit: max(*s.Limit, 1)}
}

// own returns the limits that the key itself has. The settings were checked when they were made.
func (r *Record) own() limits.Subject {
	own, _ := subjectOf(&r.Settings)
	own.Name = r.Subject()
	return own
}

// subjectOf parses the limits of settings. The error names the member that is wrong.
func subjectOf(s *Settings) (limits.Subject, error) {
	out, more := limits.Subject{Name: subjectPrefix}, s.extensions()
	if b := limitBudget(s); b != nil {
		out.Budgets = append(out.Budgets, *b)
	}
	for _, text := range more.Budgets {
		b, err := limits.ParseBudget(text)
		if err != nil {
			return out, invalid("budgets", "%v", err)
		}
		if s.Limit != nil && b.Unit == limits.Money && b.Period == s.Period() {
			return out, invalid("budgets", "the budget %q is for the same period as limit", text)
		}
		out.Budgets = append(out.Budgets, b)
	}
	for _, text := range more.Rates {
		rate, err := limits.ParseRate(text)
		if err != nil {
			return out, invalid("rates", "%v", err)
		}
		out.Rates = append(out.Rates, rate)
	}
	if more.Concurrency != "" {
		var err error
		if out.Concurrency, err = limits.ParseConcurrency(strings.Fields(more.Concurrency)...); err != nil {
			return out, invalid("concurrency", "%v", err)
		}
	}
	if err := out.Check(); err != nil {
		return out, invalid("budgets", "%v", err)
	}
	return out, nil
}

// asked are the members that a request has named.
type asked map[string]bool

// allows returns the refusal of settings that exceed the block in what a request has asked for, nil
// if they do not. Other settings may exceed a block that became tighter: without effect, and the key
// can still be disabled.
func (b *Block) allows(s *Settings, of asked) error {
	own, err := subjectOf(s)
	if err != nil {
		return err
	}
	more := s.extensions()
	if of["scopes"] {
		if err := b.allowsScopes(more.Scopes); err != nil {
			return err
		}
	}
	if of["models"] {
		if err := b.allowsModels(more.Models); err != nil {
			return err
		}
	}
	if of["mcp"] {
		if err := b.allowsTools(more.Tools); err != nil {
			return err
		}
	}
	return b.allowsLimits(own, s, of)
}

func (b *Block) allowsScopes(names []string) error {
	scopes, err := keys.ParseScopes(names)
	switch {
	case err != nil:
		return invalid("scopes", "%v", err)
	case scopes&keys.KeysManage != 0:
		return invalid("scopes", "the scope %s cannot be given at run time", keys.KeysManage)
	case scopes&^b.Scopes != 0:
		return invalid("scopes", "keys made at run time cannot have %s here; the runtime_keys block lets them have %s", scopes&^b.Scopes, b.Scopes)
	}
	return nil
}

func (b *Block) allowsModels(patterns []string) error {
	for _, p := range patterns {
		if err := pattern.Valid(p); err != nil {
			return invalid("models", "%v", err)
		}
		// A star of p can only be matched by one of the block's, so what p matches the block does.
		if len(b.Models) > 0 && !b.Models.Match(p) {
			return invalid("models", "%q is not within what keys made at run time may use here: %s", p, strings.Join(b.Models, " "))
		}
	}
	return nil
}

func (b *Block) allowsTools(patterns []string) error {
	if err := keys.ValidTools(patterns, nil); err != nil {
		return invalid("mcp", "%v", err)
	}
	for _, p := range patterns {
		switch {
		case len(b.Tools) == 0:
			return invalid("mcp", "keys made at run time may call no tools here: runtime_keys has no mcp")
		case !b.Tools.Match(p): // as of models
			return invalid("mcp", "%q is not within what keys made at run time may call here: %s", p, strings.Join(b.Tools, " "))
		}
	}
	return nil
}

func (b *Block) allowsLimits(own limits.Subject, s *Settings, of asked) error {
	for _, budget := range own.Budgets {
		if b.MaxBudget > 0 && budget.Limit > b.MaxBudget && budget.Limit != limits.NoLimit && (of["limit"] || of["budgets"]) {
			return invalid("budgets", "%q is too large for gateways that share their limits: at most 9000000usd", budget)
		}
		most := budgetOf(b.Limits.Budgets, budget)
		if most == nil || budget.Limit <= most.Limit && (!budget.Soft || most.Soft) {
			continue
		}
		switch isLimit := s.Limit != nil && budget.Unit == limits.Money && budget.Period == s.Period(); {
		case isLimit && (of["limit"] || of["limit_reset"]):
			return invalid("limit", "more than %s is not possible here", most)
		case !isLimit && of["budgets"]:
			return invalid("budgets", "%q is more than %s, which is not possible here", budget, most)
		}
	}
	for _, rate := range own.Rates {
		if most := rateOf(b.Limits.Rates, rate); of["rates"] && most != nil && rate.Limit > most.Limit {
			return invalid("rates", "%q is more than %s, which is not possible here", rate, most)
		}
	}
	if c, most := own.Concurrency, b.Limits.Concurrency; of["concurrency"] && most.Limit > 0 && (c.Limit > most.Limit || c.Queue > most.Queue || c.Wait > most.Wait) {
		return invalid("concurrency", "more than %d with a queue of %d for %v is not possible here", most.Limit, most.Queue, most.Wait)
	}
	if most := b.Caps.Output; of["max_output_tokens"] && most > 0 && s.extensions().MaxOutput > most {
		return invalid("max_output_tokens", "more than %d is not possible here", most)
	}
	return nil
}

// within returns what both the key's own limits and those of the block allow.
func (b *Block) within(own limits.Subject) limits.Subject {
	out := limits.Subject{Name: own.Name, Concurrency: own.Concurrency}
	for _, budget := range own.Budgets {
		if most := budgetOf(b.Limits.Budgets, budget); most != nil {
			budget.Limit, budget.Soft = min(budget.Limit, most.Limit), budget.Soft && most.Soft
		}
		out.Budgets = append(out.Budgets, budget)
	}
	for _, rate := range own.Rates {
		if most := rateOf(b.Limits.Rates, rate); most != nil {
			rate.Limit = min(rate.Limit, most.Limit)
		}
		out.Rates = append(out.Rates, rate)
	}
	for _, more := range [][]limits.Budget{b.Limits.Budgets, counted[:]} {
		for _, budget := range more {
			if budgetOf(out.Budgets, budget) == nil {
				out.Budgets = append(out.Budgets, budget)
			}
		}
	}
	for _, rate := range b.Limits.Rates {
		if rateOf(out.Rates, rate) == nil {
			out.Rates = append(out.Rates, rate)
		}
	}
	if most := b.Limits.Concurrency; out.Concurrency.Limit == 0 {
		out.Concurrency = most
	} else if most.Limit > 0 {
		c := &out.Concurrency
		c.Limit, c.Queue, c.Wait = min(c.Limit, most.Limit), min(c.Queue, most.Queue), min(c.Wait, most.Wait)
	}
	return out
}

// budgetOf returns the budget of the same unit and period, nil if there is none.
func budgetOf(all []limits.Budget, b limits.Budget) *limits.Budget {
	i := slices.IndexFunc(all, func(other limits.Budget) bool { return other.Unit == b.Unit && other.Period == b.Period })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// rateOf returns the rate of the same unit and window, nil if there is none.
func rateOf(all []limits.Rate, r limits.Rate) *limits.Rate {
	i := slices.IndexFunc(all, func(other limits.Rate) bool { return other.Unit == r.Unit && other.Window == r.Window })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// caps returns the block's caps with the key's own bound of the output.
func (b *Block) caps(s *Settings) policy.Caps {
	caps := b.Caps
	if own := s.extensions().MaxOutput; own > 0 {
		caps.Output = min(own, cmp.Or(caps.Output, own))
	}
	return caps
}
