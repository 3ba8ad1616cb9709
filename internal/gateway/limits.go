package gateway

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// Caps bound what one request may ask for; 0 is no bound.
type Caps struct {
	Messages int
	Tools    int
	Output   int64 // tokens of a choice
	// Clamp lowers an output limit above Output instead of refusing it.
	Clamp bool
	// Body bounds a request's body, in bytes, instead of MaxBody.
	Body int64
}

// KeyLimits is what bounds one key.
type KeyLimits struct {
	// Subjects are those of the key, its tenant and the gateway that have any
	// limit, in this order.
	Subjects []limits.Subject
	Caps     Caps
	// Unpriced lets calls through whose price nobody can tell beforehand.
	Unpriced bool

	hardMoney, hardTokens, soft, rated bool // what the subjects have
}

// ModelLimits bound the models of a pattern, all together, for all callers.
type ModelLimits struct {
	Pattern string
	Subject limits.Subject // its Name is ModelSubject(Pattern); no budgets
	Caps    Caps
}

// FailurePolicy says what becomes of a call while the ledger cannot be written.
type FailurePolicy uint8

// Policies.
const (
	// FailByBudget refuses calls of keys under a hard money budget.
	FailByBudget FailurePolicy = iota
	FailOpen                   // no call is refused
	FailClosed                 // calls under any budget are
)

// Limits is what a configuration allows.
type Limits struct {
	Keys   map[string]*KeyLimits // by name of key
	Models []ModelLimits
	// OnStoreFailure is the policy for a ledger that cannot be written.
	OnStoreFailure FailurePolicy
	// Drain is how long a provider's answer is read on after its client has
	// left, so that its usage is known; 0 cancels it at once.
	Drain time.Duration

	// readable is the largest body that any model takes: until a body has been
	// read nobody knows which model it names.
	readable int64
}

// The names of subjects.
const gatewaySubject = "gateway"

// KeySubject, TenantSubject and ModelSubject name what is limited.
func KeySubject(key string) string         { return "key:" + key }
func TenantSubject(tenant string) string   { return "tenant:" + tenant }
func ModelSubject(pattern string) string   { return "model:" + pattern }
func GatewaySubject() string               { return gatewaySubject }
func isLimited(s *limits.Subject) bool     { return len(s.Rates)+len(s.Budgets)+s.Concurrency.Limit > 0 }
func (l *Limits) of(key string) *KeyLimits { return l.Keys[key] }

// check refuses limits that contradict each other and prepares look-ups.
func (l *Limits) check() error {
	for name, k := range l.Keys {
		k.Subjects = slices.DeleteFunc(slices.Clone(k.Subjects), func(s limits.Subject) bool { return !isLimited(&s) })
		for _, s := range k.Subjects {
			if err := s.Check(); err != nil {
				return fmt.Errorf("limits of %q: %w", s.Name, err)
			}
			k.rated = k.rated || slices.ContainsFunc(s.Rates, func(r limits.Rate) bool { return r.Unit == limits.Tokens })
			for _, b := range s.Budgets {
				switch {
				case b.Soft:
					k.soft = true
				case b.Unit == limits.Money:
					k.hardMoney = true
				default:
					k.hardTokens = true
				}
			}
		}
		if err := k.Caps.check(); err != nil {
			return fmt.Errorf("key %q: %w", name, err)
		}
	}
	l.readable = MaxBody
	for i, m := range l.Models {
		if err := pattern.Valid(m.Pattern); err != nil {
			return fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		if slices.ContainsFunc(l.Models[:i], func(other ModelLimits) bool { return other.Pattern == m.Pattern }) {
			return fmt.Errorf("model %q is given twice", m.Pattern)
		}
		if err := m.Subject.Check(); err != nil {
			return fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		if len(m.Subject.Budgets) > 0 {
			return fmt.Errorf("model %q: budgets belong to keys, tenants and the gateway", m.Pattern)
		}
		if err := m.Caps.check(); err != nil {
			return fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		l.readable = max(l.readable, m.Caps.Body)
	}
	return nil
}

// MaxBody is the largest body that any key or model takes, in bytes.
func (l *Limits) MaxBody() int64 {
	most := int64(MaxBody)
	for _, k := range l.Keys {
		most = max(most, k.Caps.Body)
	}
	for _, m := range l.Models {
		most = max(most, m.Caps.Body)
	}
	return most
}

func (c Caps) check() error {
	if c.Body < 0 || c.Body > MaxMaxBody {
		return fmt.Errorf("max_body: want 1 to %d bytes", MaxMaxBody)
	}
	return nil
}

// matching are the blocks that hold for a model.
func (l *Limits) matching(model string) []*ModelLimits {
	var found []*ModelLimits
	for i := range l.Models {
		if pattern.Match(l.Models[i].Pattern, model) {
			found = append(found, &l.Models[i])
		}
	}
	return found
}

// subjects are all whose balance an operator may ask for, by name.
func (l *Limits) subjects() []limits.Subject {
	var all []limits.Subject
	for _, k := range l.Keys {
		for _, s := range k.Subjects {
			if !slices.ContainsFunc(all, func(other limits.Subject) bool { return other.Name == s.Name }) {
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(a, b limits.Subject) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}

// within makes the caps those of both.
func (c Caps) within(other Caps) Caps {
	return Caps{
		Messages: lesser(c.Messages, other.Messages), Tools: lesser(c.Tools, other.Tools),
		Output: lesser(c.Output, other.Output), Clamp: c.clampsWith(other), Body: lesser(c.Body, other.Body),
	}
}

// clampsWith is false where one of the bounds wants refusals.
func (c Caps) clampsWith(other Caps) bool {
	return (c.Clamp || c.Output == 0) && (other.Clamp || other.Output == 0)
}

// lesser is the lesser of two bounds; 0 is none.
func lesser[T int | int64](a, b T) T {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
