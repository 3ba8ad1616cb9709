package modelcall

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// drawnCalls has random calls of each operation, by the name of its variable.
var drawnCalls = map[string]struct {
	op   *wire.Operation
	draw func(*drawn)
}{
	"Chat": {wire.Chat, (*drawn).chat}, "Responses": {wire.Responses, (*drawn).responses}, "Messages": {wire.Messages, (*drawn).messages},
	"CountTokens": {wire.CountTokens, (*drawn).messages}, "InputTokens": {wire.InputTokens, (*drawn).inputTokens},
	"Compact":    {wire.Compact, func(d *drawn) { d.inputTokens(); d.completion = d.model.MaxOutput }},
	"Embeddings": {wire.Embeddings, (*drawn).embeddings}, "Rerank": {wire.Rerank, (*drawn).rerank},
	"Moderations": {wire.Moderations, (*drawn).embeddings}, "Completions": {wire.Completions, (*drawn).completions},
	"Images": {wire.Images, (*drawn).images}, "RouterImages": {wire.RouterImages, (*drawn).images}, "ImageEdits": {wire.ImageEdits, (*drawn).images},
	"Speech": {wire.Speech, (*drawn).speech}, "Transcriptions": {wire.Transcriptions, (*drawn).transcription},
	"Translations": {wire.Translations, (*drawn).transcription}, "GenerateContent": {wire.GenerateContent, (*drawn).generate},
	"CountContent": {wire.CountContent, (*drawn).countContent}, "EmbedContent": {wire.EmbedContent, (*drawn).embedContent},
	"BatchEmbedContents": {wire.BatchEmbedContents, (*drawn).embedContents},
}

// kinds are the providers of such a call: with each of the APIs that a call can be translated to.
var kinds = []func(*provider.Config){
	nil, asResponses,
	func(c *provider.Config) { c.Translate = new(provider.Translate) },
	func(c *provider.Config) { c.Dialect = provider.Anthropic },
	func(c *provider.Config) { c.Dialect = provider.OpenRouter },
	func(c *provider.Config) { c.Dialect = provider.Gemini },
}

func TestEveryOperationHasDrawnCalls(t *testing.T) {
	files, err := filepath.Glob("wire/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^var (\w+) += &Operation\{`).FindAllSubmatch(source, -1) {
			if name := string(match[1]); name == "Realtime" || name == "Transcript" { // they are no requests
				continue
			}
			if found++; drawnCalls[string(match[1])].op == nil {
				t.Errorf("the operation %s has no random calls", match[1])
			}
		}
	}
	if found != len(drawnCalls) {
		t.Errorf("%d operations, %d have random calls", found, len(drawnCalls))
	}
}

// reservedCalls is how many calls of each operation are drawn.
const reservedCalls = 250

// Under a hard budget no call is charged more than was reserved for it: for any request, any price, and any
// answer of a provider that keeps to the limits of the request. A call that has no bound is refused before
// anything is sent, and no answer is free.
func TestACallIsChargedAtMostWhatWasReserved(t *testing.T) {
	for name, row := range drawnCalls {
		t.Run(name, func(t *testing.T) {
			h := &honest{t: t, rig: newRig(t, roundTrip(silent), limited(twoBudgets(t)))}
			random, providers := rand.New(rand.NewPCG(28, 1)), h.providersFor(row.op)
			served, refused := 0, 0
			for range reservedCalls {
				d := newDrawn(t, random)
				row.draw(d)
				*h = honest{t: t, rig: h.rig, drawn: d}
				h.rig.models.provider = providers[d.IntN(len(providers))]
				if h.serve(row.op); h.sent == "" {
					refused++
				} else {
					served++
				}
			}
			if t.Logf("%d calls were sent, %d refused", served, refused); served < reservedCalls/8 {
				t.Error("too few calls were sent")
			}
		})
	}
}

// twoBudgets is a key with a hard budget of money and one of tokens.
func twoBudgets(t *testing.T) *policy.KeyLimits {
	k := budget(t, "100000000usd/day")
	k.Subjects[0].Budgets = append(k.Subjects[0].Budgets, budget(t, "1000000M tokens/day").Subjects[0].Budgets...)
	return k
}

// honest is a provider that keeps to the limits of the request that it gets.
type honest struct {
	t     *testing.T
	rig   *rig
	drawn *drawn

	sent     string   // what it got; "" for nothing
	answered string   // what it answered
	reserved [2]int64 // by then
	left     int64    // tokens of the answer that were not given yet
}

// providersFor returns the providers that an operation can be sent to.
func (h *honest) providersFor(op *wire.Operation) (all []*provider.Provider) {
	for _, change := range kinds {
		p := newProvider(h.t, roundTrip(func(r *http.Request) (*http.Response, error) { return h.answer(r) }), change)
		if op.RouteTo(p) != nil {
			all = append(all, p)
		}
	}
	return all
}

// serve serves the call and holds its charge to its reservation.
func (h *honest) serve(op *wire.Operation) {
	d := h.drawn
	h.rig.models.model = d.model
	before := h.spent()
	req := post(strings.NewReader(d.body), int64(len(d.body)))
	req.Header = d.header
	q := h.rig.request(h.t, httptest.NewRecorder(), req)
	serve := ServePath
	if op.Limits == nil { // a count
		serve = CountPath
	}
	if err := serve(&h.rig.Deps, q, op, openaiAPI{}, d.path); err != nil {
		q.Outcome.Fail(apierror.From(err))
	}
	q.Finish()
	row, after := newest(h.t, h.rig), h.spent()
	wrong := func(format string, args ...any) {
		h.t.Fatalf("%s\n%s\nsent %.2000s\nanswer %.2000s\nprice %s, max %v\n%+v",
			fmt.Sprintf(format, args...), d.body, h.sent, h.answered, d.price, d.model.MaxUnits, row)
	}
	if op.Limits == nil && before != after {
		wrong("a count of tokens was charged")
	}
	if h.sent == "" {
		if before != after || !slices.Contains([]string{"cannot_be_priced", "unsupported_parameter", "invalid_value"}, row.Code) {
			wrong("refused with %s, charged %v", row.Code, after)
		}
		return
	}
	for i := range before {
		if used := after[i] - before[i]; used > h.reserved[i] {
			wrong("charged %d of budget %d, reserved %d", used, i, h.reserved[i])
		}
	}
	if row.Code == "" && op.Limits != nil && strings.Contains(d.price, "prompt") && row.CostNano == 0 {
		wrong("an answer was free")
	}
}

// spent is what both budgets say.
func (h *honest) spent() (spent [2]int64) {
	for i, b := range h.balances() {
		spent[i] = b.Spent
	}
	return spent
}

func (h *honest) balances() []limits.Balance {
	b, err := h.rig.Ledger.Status(h.t.Context(), h.rig.Now(), h.rig.Limits.Keys["dev"].Subjects)
	if err != nil || len(b) != 2 {
		h.t.Fatal(b, err)
	}
	return b
}

// newest is the last record.
func newest(t *testing.T, r *rig) activity.Record {
	page, err := r.Activity.Query(t.Context(), activity.Filter{Tenant: keys.DefaultTenant, Limit: 1})
	if err != nil || len(page.Records) != 1 {
		t.Fatal(len(page.Records), err)
	}
	return page.Records[0]
}
