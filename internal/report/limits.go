package report

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// Limits returns the budgets, rates and limits of calls at once that a key may see, with what is used
// of them, by subject. A nil key is the operator at Caddy's admin address, who sees all.
//
// A key with the scope limits:read sees those of its tenant and of the tenant's keys, and the shared
// ones of the gateway and of models that it may use; any other key sees its own. Of a shared limit
// only a key of all tenants sees what is used: the rest of it is what other tenants use. Errors: 400,
// 503.
func Limits(ctx context.Context, d *modelcall.Deps, key *keys.Key, q url.Values) ([]byte, error) {
	filter, err := parseLimitsFilter(q)
	if err != nil {
		return nil, err
	}
	page := limitsPage{deps: d, viewer: newLimitsViewer(key, filter.tenant), limitsFilter: filter, now: d.Now()}
	if err := page.fill(ctx); err != nil {
		return nil, err
	}
	return openrouter.AppendLimits(nil, page.items, page.next), nil
}

// limitsViewer is who asks for limits.
type limitsViewer struct {
	key     *keys.Key // nil: sees all models
	tenants keys.Tenants
	all     bool   // sees what is used of shared limits
	only    string // "": more than this subject
}

func newLimitsViewer(key *keys.Key, tenant string) limitsViewer {
	if key == nil {
		return limitsViewer{tenants: keys.EveryTenant(tenant), all: true}
	}
	v := limitsViewer{key: key, tenants: key.Tenants(tenant), all: key.AllTenants}
	if !key.Has(keys.LimitsRead) {
		v.only = modelcall.KeySubject(key.Name)
	}
	return v
}

// sees reports whether the limits of a subject may be seen, and whether what is used of them is
// hidden.
func (v *limitsViewer) sees(s modelcall.Limited) (ok, hidden bool) {
	switch {
	case v.only != "" && s.Name != v.only:
		return false, true
	case s.Tenant != "":
		return v.tenants.Has(s.Tenant), false
	case v.all:
		return true, false
	}
	_, own := v.tenants.One()
	pattern, model := s.Model()
	return own && (!model || v.key.AllowsSome(pattern)), true
}

// limitsPage is one page of a list of limits.
type limitsPage struct {
	deps   *modelcall.Deps
	viewer limitsViewer
	limitsFilter
	now time.Time

	visible []limits.Subject // of the question to the ledger, used again
	rows    []numberedItem   // of a subject, used again

	items []openrouter.LimitItem
	next  string
}

// fill collects the page, and the cursor of the next one if there is one.
func (p *limitsPage) fill(ctx context.Context) error {
	all := p.deps.Limits.Limited()
	from, found := find(all, p.after.subject)
	if p.subject != "" {
		at, known := find(all, p.subject)
		if !known || at < from {
			return nil
		}
		all, from, found = all[:at+1], at, at == from && found
	}
	skip := 0 // rows of the first subject that earlier pages had
	if found {
		skip = p.after.rows
	}
	for subjects := range slices.Chunk(all[from:], limits.MaxSubjects) {
		if err := p.add(ctx, subjects, skip); err != nil || p.next != "" {
			return err
		}
		skip = 0
	}
	return nil
}

func find(all []modelcall.Limited, name string) (int, bool) {
	return slices.BinarySearchFunc(all, name, func(s modelcall.Limited, name string) int { return strings.Compare(s.Name, name) })
}

// add appends the rows of some subjects, at most as many as one question to the ledger may have.
func (p *limitsPage) add(ctx context.Context, all []modelcall.Limited, skip int) error {
	p.visible = p.visible[:0]
	for _, s := range all {
		if ok, _ := p.viewer.sees(s); ok {
			p.visible = append(p.visible, *s.Subject)
		}
	}
	if ctx.Err() != nil {
		return refusal(ctx.Err())
	}
	if len(p.visible) == 0 {
		return nil
	}
	balances, err := p.deps.Ledger.Status(ctx, p.now, p.visible)
	if err != nil {
		return ledgerFailure(ctx, "what is spent of the budgets cannot be read now", err)
	}
	for i, s := range all {
		ok, hidden := p.viewer.sees(s)
		if !ok {
			continue
		}
		own := balances[:len(s.Budgets)]
		balances = balances[len(s.Budgets):]
		rows := limitItems{of: s, hidden: hidden, filter: &p.limitsFilter, rows: p.rows[:0]}
		rows.budgets(own)
		rows.rates(p.deps.Rates.Read(*s.Subject), p.now)
		rows.concurrency(p.deps.Concurrency.InUse(s.Name))
		p.rows = rows.rows
		for _, row := range rows.rows {
			if i == 0 && row.number < skip {
				continue
			}
			if len(p.items) == p.limit {
				p.next = limitsCursor{s.Name, row.number}.String()
				return nil
			}
			p.items = append(p.items, row.LimitItem)
		}
	}
	return nil
}
