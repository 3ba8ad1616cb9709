package report

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// Limits returns the budgets, rates and limits of calls at once that a key may see, with what is used
// of them, by subject.
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
	page.subject = cmp.Or(filter.subject, page.viewer.only)
	if err := page.fill(ctx); err != nil {
		return nil, err
	}
	return openrouter.AppendLimits(nil, page.items, page.next), nil
}

// limitsViewer is the caller that asks for limits.
type limitsViewer struct {
	key     *keys.Key
	tenants keys.Tenants
	all     bool   // sees what is used of shared limits
	only    string // "": more than this subject
}

func newLimitsViewer(key *keys.Key, tenant string) limitsViewer {
	v := limitsViewer{key: key, tenants: key.Tenants(tenant), all: key.AllTenants}
	if !key.Has(keys.LimitsRead) {
		v.only = policy.KeySubject(key.Name)
	}
	return v
}

// sees reports whether the limits of a subject may be seen, and whether what is used of them is
// hidden.
func (v *limitsViewer) sees(s policy.Limited) (ok, hidden bool) {
	switch {
	case v.only != "" && s.Name != v.only:
		return false, true
	case !s.Shared():
		return v.tenants.Has(s.Tenant), false
	case v.all:
		return true, false
	}
	_, own := v.tenants.One()
	pattern, model := s.Model()
	server, tools := s.Server()
	return own && (!model || v.key.AllowsSome(pattern)) && (!tools || v.key.AllowsServer(server)), true
}

// limitsPage is one page of a list of limits.
type limitsPage struct {
	deps   *modelcall.Deps
	viewer limitsViewer
	limitsFilter
	now time.Time

	rows []numberedItem // of a subject, used again

	items []openrouter.LimitItem
	next  string
}

// fill collects the page, and the cursor of the next one if there is one. It asks the ledger about
// as many subjects at a time as it takes.
func (p *limitsPage) fill(ctx context.Context) error {
	var asked []policy.Limited
	var subjects []limits.Subject
	for s := range p.deps.Limits.Limited(max(p.after.subject, p.subject), p.viewer.tenants) {
		if p.subject != "" && s.Name != p.subject {
			break
		}
		if ok, _ := p.viewer.sees(s); !ok {
			continue
		}
		asked, subjects = append(asked, s), append(subjects, *s.Subject)
		if len(subjects) < limits.MaxSubjects {
			continue
		}
		if err := p.add(ctx, asked, subjects); err != nil || p.next != "" {
			return err
		}
		asked, subjects = asked[:0], subjects[:0]
	}
	return p.add(ctx, asked, subjects)
}

// add appends the rows of some subjects.
func (p *limitsPage) add(ctx context.Context, all []policy.Limited, subjects []limits.Subject) error {
	balances, err := p.deps.Ledger.Status(ctx, p.now, subjects)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return ledgerFailure(ctx, "what is spent of the budgets cannot be read now", err)
	}
	uses, err := p.deps.Rates.Read(ctx, subjects)
	if err != nil {
		return err
	}
	calls, err := p.deps.Concurrency.Read(ctx, subjects)
	if err != nil {
		return err
	}
	for i, s := range all {
		_, hidden := p.viewer.sees(s)
		rows := limitItems{of: s, hidden: hidden, filter: &p.limitsFilter, rows: p.rows[:0]}
		rows.budgets(balances[:len(s.Budgets)])
		balances = balances[len(s.Budgets):]
		rows.rates(uses[:len(s.Rates)], p.now)
		uses = uses[len(s.Rates):]
		rows.concurrency(calls[i])
		p.rows = rows.rows
		for _, row := range rows.rows {
			if s.Name == p.after.subject && row.number < p.after.rows { // an earlier page had it
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
