package check

import (
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/offline"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// ownedLimit is a limit of one subject that can be compared with limits of others.
type ownedLimit struct {
	owner     string // "key dev", "tenant research", "gateway"
	text      string // as configured
	kind      string // of those with the same kind the least binds
	limit     int64
	hardMoney bool
}

// limitsOf returns the limits of a key, of its tenant and of the gateway.
func (c *inspected) limitsOf(k offline.Key) []ownedLimit {
	all := owned("key "+k.Name, k.Limits)
	for _, t := range c.Tenants {
		if t.Name == k.Tenant {
			all = append(all, owned("tenant "+t.Name, t.Limits)...)
		}
	}
	return append(all, owned("gateway", c.Limits)...)
}

func owned(owner string, s limits.Subject) (all []ownedLimit) {
	for _, r := range s.Rates {
		all = append(all, ownedLimit{owner, "rate " + r.String(), fmt.Sprintf("rate %s %s", r.Unit, r.Window), r.Limit, false})
	}
	for _, b := range s.Budgets {
		all = append(all, ownedLimit{owner, "budget " + b.String(), fmt.Sprintf("budget %s %s", b.Unit, b.Period), b.Limit, !b.Soft && b.Unit == limits.Money})
	}
	if s.Concurrency.Limit > 0 {
		all = append(all, ownedLimit{owner, fmt.Sprintf("concurrency %d", s.Concurrency.Limit), "concurrency", int64(s.Concurrency.Limit), false})
	}
	return all
}

// checkNeverBinding looks for limits that another one makes useless.
func checkNeverBinding(c *inspected) (found []Finding) {
	seen := map[string]bool{}
	report := func(useless, tighter ownedLimit) {
		problem := fmt.Sprintf("%s never binds: %s has %s", useless.text, tighter.owner, tighter.text)
		if tighter.owner == useless.owner {
			problem = fmt.Sprintf("%s never binds, because of %s", useless.text, tighter.text)
		}
		if key := useless.owner + useless.text + tighter.owner; !seen[key] {
			seen[key] = true
			found = append(found, Finding{Warning, useless.owner, problem, "Lower it, or take it out."})
		}
	}
	for _, k := range c.Keys {
		all := c.limitsOf(k)
		for i, l := range all {
			for _, wider := range all[i+1:] { // key, tenant, gateway
				if l.kind == wider.kind && l.owner != wider.owner && l.limit > wider.limit {
					report(l, wider)
				}
			}
		}
	}
	each := func(owner string, s limits.Subject) {
		for _, short := range s.Rates {
			for _, long := range s.Rates {
				if short.Unit == long.Unit && short.Window < long.Window && short.Limit >= long.Limit {
					report(ownedLimit{owner: owner, text: "rate " + short.String()}, ownedLimit{owner: owner, text: "rate " + long.String()})
				}
			}
		}
		for _, short := range s.Budgets {
			for _, long := range s.Budgets {
				if short.Unit == long.Unit && within(short.Period, long.Period) && short.Limit >= long.Limit {
					report(ownedLimit{owner: owner, text: "budget " + short.String()}, ownedLimit{owner: owner, text: "budget " + long.String()})
				}
			}
		}
	}
	for _, k := range c.Keys {
		each("key "+k.Name, k.Limits)
	}
	for _, t := range c.Tenants {
		each("tenant "+t.Name, t.Limits)
	}
	each("gateway", c.Limits)
	return found
}

// within reports whether a period always lies within one of the other. A week may lie in two months.
func within(short, long limits.Period) bool {
	return short < long && (short != limits.Weekly || long != limits.Monthly)
}
