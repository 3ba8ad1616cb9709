//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// dutyProof is the evidence of the gateways with one set of duties, over all rounds. Each case with
// limits also checks that every answer reports the rest of the rates.
type dutyProof struct {
	Duties  string   `json:"duties"`
	Calls   int      `json:"calls"`
	Rows    int      `json:"activity_requests"`
	Cost    int64    `json:"activity_nano_usd"`
	Key     int64    `json:"key_spent_nano_usd"`
	Tenant  int64    `json:"tenant_spent_nano_usd"`
	Tokens  int64    `json:"tokens_spent"`
	Cap     int      `json:"output_cap"` // of the rows that were read
	Probed  []string `json:"probed"`     // what the probes showed in every round
	Missing []string `json:"missing,omitempty"`
	rounds  int
}

// collectDuties reads the traces of a round's gateways with duties on, and then probes them. made
// is the number of calls of the load client.
func (p *proof) collectDuties(ctx context.Context, f *fleet, made map[duties]int) {
	for d := range everyDuty + 1 {
		s := f.on[d]
		if s == nil {
			continue
		}
		i := slices.IndexFunc(p.Duties, func(one dutyProof) bool { return one.Duties == d.String() })
		if i < 0 {
			i = len(p.Duties)
			p.Duties = append(p.Duties, dutyProof{Duties: d.String()})
		}
		p.Duties[i].collect(ctx, &prober{s, f.secrets}, d, made[d]+1) // one call found it ready
	}
}

func (p *dutyProof) collect(ctx context.Context, g *prober, d duties, made int) {
	p.rounds++
	p.Calls += made
	p.note("activity", p.collectRows(ctx, g, d, made))
	if d.has(budgetDuties) {
		p.note("budgets", p.collectSpent(ctx, g))
	}
	var shown []string
	for _, one := range probes {
		if !d.has(one.duty) {
			continue
		}
		if err := one.run(ctx, g); err != nil {
			p.note(one.what, err)
			continue
		}
		shown = append(shown, one.what)
	}
	if p.rounds == 1 {
		p.Probed = shown
	}
	p.Probed = slices.DeleteFunc(p.Probed, func(what string) bool { return !slices.Contains(shown, what) })
}

// collectRows counts the rows and checks the newest of them.
func (p *dutyProof) collectRows(ctx context.Context, g *prober, d duties, made int) error {
	sum, err := activityOf(ctx, g.addr, g.secrets.audit, "key="+benchKey)
	if err != nil {
		return err
	}
	p.Rows += sum.requests
	p.Cost += sum.cost
	if sum.requests != made {
		return fmt.Errorf("%d rows of %d calls", sum.requests, made)
	}
	rows, err := g.rows(ctx, "key="+benchKey)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("no row")
	}
	p.Cap = rows[0].OutputCap
	for _, r := range rows {
		cost, err := nano(r.Cost)
		switch {
		case err != nil:
			return err
		case d.has(budgetDuties) && (!r.Priced || cost <= 0 || r.Source != "provider"):
			return fmt.Errorf("a row without the provider's usage at a price: %+v", r)
		case r.OutputCap != d.cap():
			return fmt.Errorf("a row whose output was bounded by %d instead of %d", r.OutputCap, d.cap())
		}
	}
	return nil
}

// cap is the output limit of a request that has none itself.
func (d duties) cap() int {
	switch {
	case d.has(limitDuties):
		return outputCap
	case d.has(budgetDuties):
		return defaultOutputCap
	}
	return 0
}

// collectSpent expects both budgets of money to have grown from nothing to the cost of the rows of
// key and tenant. A call is charged a moment after its answer has ended.
func (p *dutyProof) collectSpent(ctx context.Context, g *prober) error {
	for deadline := time.Now().Add(settleWait); ; {
		sum, err := activityOf(ctx, g.addr, g.secrets.audit, "key="+benchKey)
		if err != nil {
			return err
		}
		key, tenant, tokens, err := g.spent(ctx)
		if err != nil {
			return err
		}
		all, err := activityOf(ctx, g.addr, g.secrets.audit, "") // of the tenant
		if err != nil {
			return err
		}
		right := key > 0 && key == sum.cost && tenant == all.cost && tokens == int64(sum.prompt+sum.completion)
		if right || time.Now().After(deadline) {
			p.Key += key
			p.Tenant += tenant
			p.Tokens += tokens
			if !right {
				return fmt.Errorf("the key's rows cost %s and used %d tokens, its budgets say %s and %d; the tenant's rows cost %s, its budget says %s",
					usd(sum.cost), sum.prompt+sum.completion, usd(key), tokens, usd(all.cost), usd(tenant))
			}
			return nil
		}
		if err := sleep(ctx, settleTime); err != nil {
			return err
		}
	}
}

func usd(nano int64) string { return fmt.Sprintf("%.6f USD", float64(nano)/nanoPerUSD) }

// note records what could not be proved.
func (p *dutyProof) note(what string, err error) { p.Missing = noteOnce(p.Missing, what, err) }

func (p *dutyProof) lines() []string {
	text := fmt.Sprintf("with %s on: of %d calls %d rows", p.Duties, p.Calls, p.Rows)
	if p.Cost > 0 || p.Key > 0 {
		text += fmt.Sprintf(" that cost %s; the budgets spent %s (key), %s (tenant) and %d tokens", usd(p.Cost), usd(p.Key), usd(p.Tenant), p.Tokens)
	}
	if p.Cap > 0 {
		text += fmt.Sprintf("; output bounded by %d", p.Cap)
	}
	out := []string{text, "  probed: " + strings.Join(p.Probed, "; ")}
	for _, m := range p.Missing {
		out = append(out, "  not proved: "+m)
	}
	return out
}
