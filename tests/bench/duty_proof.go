//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// dutyProof is the evidence of the gateways with one set of duties, over all rounds. Each case with
// limits also checks that every answer reports the rest of the rates.
type dutyProof struct {
	Duties  string   `json:"duties"`
	Calls   int      `json:"calls"`
	Rows    int      `json:"activity_requests"`
	Probed  []string `json:"probed"` // what the probes showed
	Missing []string `json:"missing,omitempty"`
}

// A probe makes calls whose answers a gateway can only give with a duty on. Probes run after the
// cases of a round, with the same key.
var probes = []struct {
	duty duties
	what string // that the duty is on, if run returns nil
	run  func(context.Context, *prober) error
}{
	{limitDuties, "messages and tools are capped", probeCaps},
	{budgetDuties, "the budgets of key and tenant have spent", probeSpent},
	{guardDuties, "a credential in a request is refused", probeDeny},
	{guardDuties, "an address and a card number are taken out of both", probeRedact},
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
	note := func(what string, err error) { p.Missing = noteOnce(p.Missing, what, err) }
	sum, err := activityOf(ctx, g.addr, g.secrets.audit, "key="+benchKey)
	note("activity", err)
	p.Calls += made
	p.Rows += sum.requests
	for _, one := range probes {
		if !d.has(one.duty) {
			continue
		}
		err := one.run(ctx, g)
		note(one.what, err)
		if err == nil && !slices.Contains(p.Probed, one.what) {
			p.Probed = append(p.Probed, one.what)
		}
	}
}

func (p *dutyProof) lines() []string {
	out := []string{
		fmt.Sprintf("with %s on: of %d calls %d rows", p.Duties, p.Calls, p.Rows),
		"  probed: " + strings.Join(p.Probed, "; "),
	}
	for _, m := range p.Missing {
		out = append(out, "  not proved: "+m)
	}
	return out
}

// prober is a gateway with duties on, and the keys for it.
type prober struct {
	*server
	secrets secrets
}

// post sends a chat call with these members after the model.
func (p *prober) post(ctx context.Context, model, members string) (answer, error) {
	c := newConn(p.addr)
	defer c.close()
	body := fmt.Appendf(nil, `{"model":"%s",%s}`, providerPrefix+model, members)
	return c.do(ctx, encode(p.addr, chatPath, p.secrets.gateway, body))
}

func saying(text string) string {
	return `"messages":[{"role":"user","content":"` + text + `"}]`
}

// refused expects a refusal with that code.
func refused(a answer, err error, status int, code string) error {
	if err != nil {
		return err
	}
	if err := checkHead(a, status, "application/json"); err != nil {
		return err
	}
	if !strings.Contains(string(a.body), `"`+code+`"`) {
		return fmt.Errorf("no %s: %q", code, shorten(a.body))
	}
	return nil
}

func probeCaps(ctx context.Context, p *prober) error {
	many := func(element string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	a, err := p.post(ctx, modelWhole, `"messages":`+many(`{"role":"user","content":"x"}`, mostMessages+1))
	if err := refused(a, err, http.StatusBadRequest, "invalid_value"); err != nil {
		return err
	}
	a, err = p.post(ctx, modelWhole, saying("x")+`,"tools":`+many(`{"type":"function","function":{"name":"f"}}`, mostTools+1))
	return refused(a, err, http.StatusBadRequest, "invalid_value")
}

// probeSpent reads the list of all budgets.
func probeSpent(ctx context.Context, p *prober) error {
	page, err := p.adminGet(ctx, "/gatehouse/budgets")
	if err != nil {
		return err
	}
	var all []struct {
		Subject string      `json:"subject"`
		Unit    string      `json:"unit"`
		Spent   json.Number `json:"spent"`
	}
	if err := json.Unmarshal(page, &all); err != nil {
		return fmt.Errorf("decoding: %w", err)
	}
	money := 0
	for _, b := range all {
		if n, err := b.Spent.Float64(); err != nil || n <= 0 {
			return fmt.Errorf("the %s budget of %s has spent %q", b.Unit, b.Subject, b.Spent)
		}
		if b.Unit == "usd" {
			money++
		}
	}
	if money != 2 {
		return fmt.Errorf("%d budgets of money, not those of key and tenant", money)
	}
	return nil
}

func probeDeny(ctx context.Context, p *prober) error {
	a, err := p.post(ctx, modelWhole, saying("my token is "+canarySecret()))
	return refused(a, err, http.StatusUnprocessableEntity, "guardrail_blocked")
}

func probeRedact(ctx context.Context, p *prober) error {
	for _, stream := range []string{"", `,"stream":true`} {
		a, err := p.post(ctx, modelMasked, saying("from "+canaryAddress)+stream)
		if err != nil {
			return err
		}
		if a.status != http.StatusOK {
			return fmt.Errorf("status %d: %q", a.status, shorten(a.body))
		}
		said := string(a.body)
		if !strings.Contains(said, maskedAddress) || !strings.Contains(said, maskedCard) || strings.Contains(said, canaryCard[:4]) {
			return fmt.Errorf("the answer is %q", said)
		}
	}
	return nil
}
