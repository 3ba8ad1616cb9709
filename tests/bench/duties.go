//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// duties are optional tasks of a gateway for each call. The zero value is the gateway of the role
// gateway, with all of them off.
type duties uint

const (
	// limitDuties: rates of requests and of tokens, concurrent calls with a queue, the three caps,
	// and draining after the client has disconnected.
	limitDuties duties = 1 << iota
	// budgetDuties: a priced catalog, hard budgets of money of key and tenant, whose reservations
	// are on disk before a call is sent, and a soft budget of tokens.
	budgetDuties
	// guardDuties: secrets refused, addresses and card numbers redacted, in requests and answers.
	guardDuties

	everyDuty = limitDuties | budgetDuties | guardDuties
)

// gatewayOn is the role of a gateway with duties on.
const gatewayOn role = "gateway-on"

func (d duties) has(one duties) bool { return d&one != 0 }

func (d duties) String() string {
	if d == everyDuty {
		return "everything"
	}
	var names []string
	for _, n := range []struct {
		duty duties
		name string
	}{{limitDuties, "limits"}, {budgetDuties, "budgets"}, {guardDuties, "guardrails"}} {
		if d.has(n.duty) {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, " and ")
}

// The configured limits. A case never reaches them, because it measures the cost of admitted calls;
// the probes reach those that can be reached.
const (
	benchKey    = "bench"
	benchTenant = "bench"

	// callsAtOnce is more than the connections of any case with duties.
	callsAtOnce = 64
	// queueWait is how long a call waits for a slot.
	queueWait = 100 * time.Millisecond
	// mostMessages and mostTools bound a request.
	mostMessages, mostTools = 64, 8
	// outputCap is the output limit of requests without one.
	outputCap = 4096

	guardrailName = "screen"
)

// keyOptions are the lines of the key's block.
func (d duties) keyOptions() string {
	var b strings.Builder
	if d.has(limitDuties) {
		fmt.Fprintf(&b, `			rate 100M/min
			rate 1000000M tokens/min
			concurrency %d queue %d %s
			max_messages %d
			max_tools %d
			max_output_tokens %d clamp
`, callsAtOnce, callsAtOnce, queueWait, mostMessages, mostTools, outputCap)
	}
	if d.has(budgetDuties) {
		b.WriteString("\t\t\tbudget 1000000usd/total\n\t\t\tbudget 1000000M tokens/total soft\n")
	}
	if d.has(guardDuties) {
		fmt.Fprintf(&b, "\t\t\tguardrails %s\n", guardrailName)
	}
	return b.String()
}

// appOptions are the lines of the gateway's own block.
func (d duties) appOptions(s site) string {
	var b strings.Builder
	if d.has(limitDuties) {
		b.WriteString("\t\ton_disconnect drain 10s\n")
	}
	if d.has(budgetDuties) {
		fmt.Fprintf(&b, `		tenant %s {
			budget 5000000usd/total
		}
		catalog %q
`, benchTenant, s.catalog)
	}
	if d.has(guardDuties) {
		fmt.Fprintf(&b, `		guardrail %s {
			on both
			deny secrets
			redact email
			redact card
		}
`, guardrailName)
	}
	return b.String()
}

// writeCatalog writes prices for every model of the upstream, in USD per million tokens: a call of
// 1 KB costs 0.0025 USD.
func writeCatalog(path string) error {
	type price struct {
		Prompt     string `json:"prompt"`
		Completion string `json:"completion"`
	}
	type model struct {
		ID            string `json:"id"`
		ContextLength int    `json:"context_length"`
		Price         price  `json:"price"`
	}
	var models []model
	for _, name := range upstreamModels {
		models = append(models, model{providerPrefix + name, 1_000_000, price{"1", "10"}})
	}
	text, err := json.Marshal(map[string]any{"models": models})
	if err != nil {
		return fmt.Errorf("encoding the catalog: %w", err)
	}
	return os.WriteFile(path, text, 0o600)
}

// withDuties returns the round's gateway with these duties on. It starts it when it is first
// needed, so that a round without such cases has none.
func (f *fleet) withDuties(ctx context.Context, d duties) (*server, error) {
	if s := f.on[d]; s != nil {
		return s, nil
	}
	s, err := f.startCaddy(ctx, gatewayOn, d)
	if err != nil {
		return nil, fmt.Errorf("a gateway with %s on: %w", d, err)
	}
	if f.on == nil {
		f.on = map[duties]*server{}
	}
	f.on[d] = s
	return s, nil
}
