package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Limited is a subject that has a limit, and its owner.
type Limited struct {
	*limits.Subject        // must not be changed
	Tenant          string // "" if the limit is shared
}

// Model returns the pattern of the models that are limited; ok is false for other subjects.
func (l Limited) Model() (pattern string, ok bool) { return strings.CutPrefix(l.Name, modelPrefix) }

// Shared reports whether all tenants share the limit: that of the gateway, of a model or of an MCP
// server.
func (l Limited) Shared() bool { return l.Name == GatewaySubject() || !l.budgeted() }

// budgeted reports whether the subject can have a budget.
func (l Limited) budgeted() bool {
	_, model := l.Model()
	_, server := l.Server()
	return !model && !server
}

// Any reports whether there is any limit.
func (l Limited) Any() bool { return !isUnlimited(*l.Subject) }

// Limited yields the subjects that have a limit, sorted by name, from this name on. Of keys made at run
// time, of which there can be many, it yields only those of some tenants.
func (l *Limits) Limited(from string, of keys.Tenants) iter.Seq[Limited] {
	all := l.limited()
	at, _ := slices.BinarySearchFunc(all, from, func(s Limited, name string) int { return strings.Compare(s.Name, name) })
	configured := all[at:]
	if l.People != nil {
		people := slices.DeleteFunc(l.People(of), func(s Limited) bool { return s.Name < from })
		configured = slices.SortedFunc(slices.Values(slices.Concat(configured, people)), byName)
	}
	if l.Made == nil {
		return slices.Values(configured)
	}
	return merged(configured, l.Made(from, of))
}

func byName(a, b Limited) int { return strings.Compare(a.Name, b.Name) }

// merged yields the elements of both in their order.
func merged(configured []Limited, made iter.Seq[Limited]) iter.Seq[Limited] {
	return func(yield func(Limited) bool) {
		for s := range made {
			for len(configured) > 0 && configured[0].Name < s.Name {
				if !yield(configured[0]) {
					return
				}
				configured = configured[1:]
			}
			if !yield(s) {
				return
			}
		}
		for _, s := range configured {
			if !yield(s) {
				return
			}
		}
	}
}

func (l *Limits) findLimited() []Limited {
	found := make([]Limited, 0, len(l.Keys)+len(l.Tenants)+len(l.Models)+1)
	seen := make(map[string]bool) // tenants and the gateway: each of their keys has them
	for name, k := range l.all() {
		for i := range k.Subjects {
			one := Limited{&k.Subjects[i], k.Tenant}
			if one.Name == GatewaySubject() {
				one.Tenant = ""
			}
			if one.Name != KeySubject(name) {
				if seen[one.Name] {
					continue
				}
				seen[one.Name] = true
			}
			found = append(found, one)
		}
	}
	for i := range l.Models {
		if s := &l.Models[i].Subject; !isUnlimited(*s) {
			found = append(found, Limited{s, ""})
		}
	}
	for name := range l.Servers {
		if s := l.Server(name); s != nil {
			found = append(found, Limited{s, ""})
		}
	}
	slices.SortFunc(found, byName)
	return found
}

// Subjects returns the subjects that can have a budget: keys, tenants and the gateway, sorted by
// name.
func (l *Limits) Subjects() []limits.Subject {
	var subjects []limits.Subject
	for _, s := range l.limited() {
		if s.budgeted() {
			subjects = append(subjects, *s.Subject)
		}
	}
	return subjects
}

// Hard reports whether any budget is hard.
func (l *Limits) Hard() bool {
	return slices.ContainsFunc(l.Subjects(), func(s limits.Subject) bool { return slices.ContainsFunc(s.Budgets, limits.Budget.Hard) })
}

// Hash returns a hash of all limits of the configuration. Gateways of a cluster compare it.
func (l *Limits) Hash() string {
	h := sha256.New()
	for _, s := range l.limited() {
		fmt.Fprintf(h, "%+v\n", *s.Subject)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Applying returns the subjects that limit the calls of a key to a model, as they are configured: the
// key, its tenant, the gateway, and the patterns of the model.
func (l *Limits) Applying(key *KeyLimits, model string) []limits.Subject {
	subjects := slices.Clone(key.Subjects)
	for _, m := range l.Matching(model) {
		if !isUnlimited(m.Subject) {
			subjects = append(subjects, m.Subject)
		}
	}
	return subjects
}
