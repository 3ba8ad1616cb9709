// Package policy is what a configuration allows its callers: the limits of keys, tenants, models and
// the gateway, caps of single requests, and which guardrails apply. It names the option that
// refused, and emits the event of a used-up budget. It counts nothing: the counters are of package
// limits.
package policy

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

// Caps bound what one request may ask for. 0 is no bound.
type Caps struct {
	Messages int
	Tools    int
	Output   int64 // tokens of a choice
	// Clamp lowers an output limit above Output instead of refusing it.
	Clamp bool
	// Body bounds a request's body, in bytes, instead of upload.MaxBody.
	Body int64
}

// ModelLimits bound the models of a pattern, all together, for all callers.
type ModelLimits struct {
	Pattern string
	Subject limits.Subject // its Name is ModelSubject(Pattern); no budgets
	Caps    Caps
}

// Rated reports whether the models have a token rate.
func (m *ModelLimits) Rated() bool {
	return slices.ContainsFunc(m.Subject.Rates, func(r limits.Rate) bool { return r.Unit == limits.Tokens })
}

// FailurePolicy says what happens to a call while the ledger cannot be written.
type FailurePolicy uint8

// Policies.
const (
	// FailByBudget refuses calls of keys under a hard money budget.
	FailByBudget FailurePolicy = iota
	FailOpen                   // no call is refused
	FailClosed                 // calls under any budget are
)

// Limits are those of a configuration.
type Limits struct {
	Keys map[string]*KeyLimits // by name of key
	// Tenants are for the keys that Keys does not have: those whose only limits are of their tenant
	// and of the gateway. With many keys these are most of them.
	Tenants map[string]*KeyLimits // by name of tenant
	// OtherTenants is for keys made at run time, of a tenant that Tenants does not have. Nil: none.
	OtherTenants *KeyLimits
	Models       []ModelLimits
	// Servers are those of MCP servers, by name. They have no budgets.
	Servers map[string]*limits.Subject
	// Made yields the limits of keys of some tenants that were made at run time, sorted by the names of
	// their subjects, from this name on. Nil: none.
	Made func(from string, of keys.Tenants) iter.Seq[Limited]
	// People has the limits of each person and program of a role, in the same way. Nil: none.
	People func(of keys.Tenants) []Limited
	// OnStoreFailure is the policy for a ledger that cannot be written.
	OnStoreFailure FailurePolicy
	// Drain is how long a provider's answer is still read after its client has left, so that its
	// usage is known. 0 cancels it at once.
	Drain time.Duration

	patterns pattern.Index // of Models
	readable int64         // the largest body that any model takes
	// limited returns all subjects that have a limit, sorted by name, and finds them only once.
	limited func() []Limited
}

const modelPrefix = "model:"

// KeySubject, TenantSubject, ModelSubject and GatewaySubject name what is limited.
func KeySubject(key string) string       { return "key:" + key }
func TenantSubject(tenant string) string { return "tenant:" + tenant }
func ModelSubject(pattern string) string { return modelPrefix + pattern }
func GatewaySubject() string             { return "gateway" }

func isUnlimited(s limits.Subject) bool { return len(s.Rates)+len(s.Budgets)+s.Concurrency.Limit == 0 }

// Prepare refuses limits that contradict each other and prepares look-ups. It must be called before
// calls use them.
func (l *Limits) Prepare() error {
	for name, k := range l.all() {
		if err := k.prepare(); err != nil {
			return fmt.Errorf("key %q: %w", name, err)
		}
	}
	l.limited = sync.OnceValue(l.findLimited)
	l.readable = upload.MaxBody
	l.patterns = pattern.Index{}
	given := make(map[string]bool, len(l.Models))
	for _, m := range l.Models {
		if err := pattern.Valid(m.Pattern); err != nil {
			return fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		if given[m.Pattern] {
			return fmt.Errorf("model %q is given twice", m.Pattern)
		}
		given[m.Pattern] = true
		l.patterns.Add(m.Pattern)
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
	return l.checkServers()
}

// all yields the limits of keys, by the name of the key, and those of tenants.
func (l *Limits) all() iter.Seq2[string, *KeyLimits] {
	return func(yield func(string, *KeyLimits) bool) {
		for _, some := range []map[string]*KeyLimits{l.Keys, l.Tenants} {
			for name, k := range some {
				if !yield(name, k) {
					return
				}
			}
		}
		if l.OtherTenants != nil {
			yield("", l.OtherTenants)
		}
	}
}

// Of returns the limits of a key. Made are those of a key that was made at run time; nil: the
// configuration has them.
func (l *Limits) Of(key *keys.Key, made *KeyLimits) *KeyLimits {
	if made != nil {
		return made
	}
	if own, ok := l.Keys[key.Name]; ok {
		return own
	}
	if shared, ok := l.Tenants[key.Tenant]; ok {
		return shared
	}
	return &unlimited
}

// unlimited are the limits of a key that has none.
var unlimited KeyLimits

// MaxBody returns the largest body that any key or model takes, in bytes.
func (l *Limits) MaxBody() int64 {
	most := int64(upload.MaxBody)
	for _, k := range l.all() {
		most = max(most, k.Caps.Body)
	}
	for _, m := range l.Models {
		most = max(most, m.Caps.Body)
	}
	return most
}

func (c Caps) check() error {
	if c.Body < 0 || c.Body > upload.MaxMaxBody {
		return fmt.Errorf("max_body: want 1 to %d bytes", upload.MaxMaxBody)
	}
	return nil
}

// Readable returns how many bytes are read of a request with a key: which model a body names is known
// only after it was read.
func (l *Limits) Readable(key *KeyLimits) int64 {
	if key.Caps.Body > 0 {
		return key.Caps.Body
	}
	return l.readable
}

// Matching returns the limits of a model.
func (l *Limits) Matching(model string) []*ModelLimits {
	var found []*ModelLimits
	for i := range l.patterns.Matching(model) {
		found = append(found, &l.Models[i])
	}
	return found
}

// MaxBody is how many bytes a request's body may have.
func (c Caps) MaxBody() int64 {
	if c.Body == 0 {
		return upload.MaxBody
	}
	return c.Body
}

// Within returns the caps that satisfy both.
func (c Caps) Within(other Caps) Caps {
	return Caps{
		Messages: Lesser(c.Messages, other.Messages), Tools: Lesser(c.Tools, other.Tools),
		Output: Lesser(c.Output, other.Output), Clamp: c.clampsWith(other), Body: Lesser(c.Body, other.Body),
	}
}

// clampsWith reports whether neither bound of the output wants refusals.
func (c Caps) clampsWith(other Caps) bool {
	return (c.Clamp || c.Output == 0) && (other.Clamp || other.Output == 0)
}

// Lesser returns the lesser of two bounds. 0 is no bound.
func Lesser[T int | int64](a, b T) T {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
