package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// demoRun is the trace of a task of an agent, the newest of the demo.
const demoRun = "4bf92f3577b34da6a3ce929d0e0e4736"

// demoModel is a model of the demo, with how often it is called, its prices in nano-USD a token, and how
// many tokens and milliseconds a call takes.
type demoModel struct {
	name             string
	weight           int
	in, out          float64
	prompt, answered int
	first, token     int // ms until the first token, ms for each
}

var demoModels = []demoModel{
	{"openai/gpt-5", 17, 1250, 10_000, 4200, 520, 620, 11},
	{"anthropic/claude-opus-4-5", 12, 5000, 25_000, 3900, 480, 890, 15},
	{"anthropic/claude-haiku-4-5", 22, 1000, 5000, 3700, 450, 310, 6},
	{"openai/gpt-5-mini", 20, 250, 2000, 2600, 380, 290, 5},
	{"mistral/mistral-large", 10, 2000, 6000, 3600, 440, 420, 9},
	{"openai/text-embedding-3-large", 14, 130, 0, 900, 0, 0, 0},
	{"lab/llama-4-scout", 5, 0, 0, 1500, 300, 380, 14},
}

// demoKeys are the keys of the demo with their shares.
var demoKeys = []struct {
	name   string
	weight int
}{{"webshop", 44}, {"ci", 21}, {"support-bot", 19}, {"research", 10}, {"anna", 6}}

// demoBudgets are what is spent of the budgets that tests/browser configures.
var demoBudgets = []struct{ subject, budget, usd string }{
	{"key:webshop", "40usd/day soft", "36.05"}, {"key:ci", "25usd/day", "11.21"}, {"key:research", "300usd/total", "206.4"}, {"key:anna", "50usd/month", "9.84"},
}

// demo fills a store with a week of calls of a small company. The figures are the same at each time of the
// day: the last hour is always one of the early afternoon.
func demo(ctx context.Context, st *store.Store, now time.Time) error {
	const days, busiest, hourNow = 8, 620, 14
	hours := [24]float64{.08, .06, .05, .05, .06, .09, .18, .38, .66, .86, .97, 1, .84, .88, .98, .95, .83, .62, .44, .33, .27, .22, .16, .11}
	week := [days]float64{1, .93, .31, .27, .88, .97, 1.04, .9}
	random, calls := rand.New(rand.NewPCG(1, 2)), sqliteactivity.New(st)
	for ago := days*24 - 1; ago >= 0; ago-- {
		begins := now.Add(-time.Duration(ago+1) * time.Hour)
		n := int(busiest * hours[((hourNow-ago)%24+24)%24] * week[(ago+24-hourNow)/24%days] * (.94 + .12*random.Float64()))
		for i := range n {
			calls.Append(demoCall(random, begins.Add(time.Hour*time.Duration(i)/time.Duration(n))))
		}
		if err := st.Flush(ctx); err != nil {
			return err
		}
	}
	for i := range demoSteps {
		calls.Append(demoStep(i, now.Add(-4*time.Minute)))
	}
	ledger, _, err := sqlite.OpenLedger(ctx, st)
	if err != nil {
		return err
	}
	for _, b := range demoBudgets {
		if err := spend(ctx, ledger, b.subject, b.budget, b.usd, now); err != nil {
			return err
		}
	}
	return st.Flush(ctx)
}

// spend charges a budget.
func spend(ctx context.Context, ledger *sqlite.Ledger, subject, budget, usd string, now time.Time) error {
	parsed, err := limits.ParseBudget(budget)
	if err != nil {
		return err
	}
	nano, err := limits.ParseMoney(usd)
	if err != nil {
		return err
	}
	amount := limits.Amount{Nano: nano}
	refusal, err := ledger.Reserve(ctx, limits.ReserveRequest{
		Call: "gen-" + subject, At: now, Most: amount, Likely: amount, Subjects: []limits.Subject{{Name: subject, Budgets: []limits.Budget{parsed}}},
	})
	if err != nil || refusal != nil {
		return fmt.Errorf("%s: %v %w", subject, refusal, err)
	}
	return ledger.Settle(ctx, "gen-"+subject, amount)
}

// demoCall is a call of one of the keys; a few are refused or fail.
func demoCall(random *rand.Rand, at time.Time) *activity.Record {
	m, key := demoModels[chosen(random, len(demoModels), func(i int) int { return demoModels[i].weight })], demoKeys[chosen(random, len(demoKeys), func(i int) int { return demoKeys[i].weight })].name
	r := demoAnswer(random, m, key, at)
	switch n := random.IntN(1000); {
	case n < 14 && key == "ci", n < 5:
		r.Key, r.RefusedBy = "ci", "key ci: rate 60/min"
		refuse(r, 429, "rate_limit_exceeded")
	case n < 18 && r.Provider == "lab", n < 9:
		refuse(r, 502, "upstream_error")
		r.Attempts = 1
	case n < 12:
		r.Model, r.Provider, r.RefusedBy = "openai/gpt-5-nano", "", `provider openai does not list it: write "models NAME" or "discover off" in its block`
		refuse(r, 404, "model_not_found")
	}
	return r
}

func refuse(r *activity.Record, status int, code string) {
	r.Status, r.Code, r.UsageSource, r.FinishReason = status, code, activity.UsageNone, ""
	r.PromptTokens, r.CompletionTokens, r.CachedTokens, r.CostNano, r.Attempts, r.FirstToken, r.Latency = 0, 0, 0, 0, 0, 0, 3*time.Millisecond
}

// demoAnswer is a call that is answered.
func demoAnswer(random *rand.Rand, m demoModel, key string, at time.Time) *activity.Record {
	about := func(n int) int64 { return int64(float64(n) * (.4 + 1.2*random.Float64())) }
	id := fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64())
	r := &activity.Record{
		ID: "gen-" + id, RequestID: "req_" + id, UpstreamID: "chatcmpl-" + id[:24], CreatedAt: at.UTC(), Tenant: "default", Key: key,
		Family: "openai", Route: "POST /v1/chat/completions", Model: m.name, Provider: provider(m.name), Status: 200, Stream: m.answered > 0, Attempts: 1,
		PromptTokens: about(m.prompt), CompletionTokens: about(m.answered), UsageSource: activity.UsageProvider, Priced: m.in > 0,
		Overhead: time.Duration(90+random.IntN(120)) * time.Microsecond, FirstToken: time.Duration(about(m.first)) * time.Millisecond,
	}
	r.CachedTokens = r.PromptTokens * int64(random.IntN(3)) / 3
	r.CostNano = int64(float64(r.PromptTokens-r.CachedTokens*9/10)*m.in + float64(r.CompletionTokens)*m.out)
	r.Latency = r.FirstToken + time.Duration(r.CompletionTokens)*time.Duration(m.token)*time.Millisecond + 40*time.Millisecond
	if m.answered == 0 {
		r.Route = "POST /v1/embeddings"
	} else {
		r.FinishReason = "stop"
	}
	return r
}

func provider(model string) string {
	for i := range model {
		if model[i] == '/' {
			return model[:i]
		}
	}
	return model
}

// chosen is a number below n by weight.
func chosen(random *rand.Rand, n int, weight func(int) int) int {
	sum := 0
	for i := range n {
		sum += weight(i)
	}
	at := random.IntN(sum)
	for i := range n {
		if at -= weight(i); at < 0 {
			return i
		}
	}
	return n - 1
}

// demoSteps are what the agent of the run did: a model's name, a tool, or a desktop.
var demoSteps = []struct{ model, tool, desktop string }{
	{model: "anthropic/claude-opus-4-5"}, {tool: "crm/find_order"}, {tool: "crm/find_customer"}, {model: "anthropic/claude-opus-4-5"},
	{desktop: "desk1"}, {model: "anthropic/claude-opus-4-5"}, {tool: "crm/add_note"}, {model: "anthropic/claude-haiku-4-5"},
}

func demoStep(i int, begun time.Time) *activity.Record {
	step, random := demoSteps[i], rand.New(rand.NewPCG(7, uint64(i)))
	model := demoModels[2]
	if step.model == demoModels[1].name {
		model = demoModels[1]
	}
	r := demoAnswer(random, model, "support-bot", begun.Add(time.Duration(i)*17*time.Second))
	r.TraceID = demoRun
	switch {
	case step.tool != "":
		r.Family, r.Route, r.Model, r.Provider, r.Method = "mcp", "POST /mcp/{server}", step.tool, provider(step.tool), "tools/call"
		refuse(r, 200, "")
		r.RequestBytes, r.AnswerBytes, r.Latency, r.Attempts, r.Priced = 214+int64(i), 1480+97*int64(i), time.Duration(60+9*i)*time.Millisecond, 1, true
	case step.desktop != "":
		r.ID, r.Family, r.Route, r.Model, r.Provider = "vnc-"+r.RequestID[4:], "vnc", "VNC", "", ""
		refuse(r, 200, "")
		r.Workstation, r.Role, r.Ended, r.Actions, r.Screenshots, r.Typed = step.desktop, "agent", "viewer_left", 14, 9, 62
		r.BytesUp, r.BytesDown, r.Latency = 3120, 1_840_112, 31*time.Second
	}
	return r
}
