package modelcall

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// reserved is what a budget holds for a call, in nano-USD: 1,000 a token.
func reserved(t *testing.T, text, body string) int64 {
	t.Helper()
	r := newRig(t, answering(200, `{}`), limited(budget(t, text)))
	c := r.begin(t, body)
	defer c.req.Finish()
	if err := c.admit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.balance(t).Reserved
}

func TestThinkingIsReservedBesideTheOutput(t *testing.T) {
	body := hello[:len(hello)-1] + `,"n":2,"enable_thinking":true,"thinking_budget":5000}`
	for text, least := range map[string]int64{"1usd/day": 10_200_000, "1usd/day soft": 2_048_000} {
		if n := reserved(t, text, body); n < least || n > least+200_000 {
			t.Errorf("%s: %d nano-USD", text, n)
		}
	}
}

// A beta feature makes the window of some models longer than the catalog says.
func TestAPromptBeyondTheWindowIsReservedIfABetaAllowsIt(t *testing.T) {
	long := strings.Replace(say, "hello", strings.Repeat("x", 2000), 1)
	for _, c := range []struct {
		openai      bool
		beta        string
		least, most int64
	}{
		{false, "", 1100, 1100},
		{false, "context-1m-2025-08-07", 2100, 2300},
		{true, "context-1m-2025-08-07", 1100, 1100}, // which does not get it
	} {
		r := (&claude{nativeOpenAI: c.openai}).rig(t, limited(budget(t, "1M tokens/day")), func(r *rig) { r.models.model.ContextLength = 1000 })
		q, _ := r.ask(t, long, "Anthropic-Beta", c.beta)
		call := newCall(&r.Deps, q, wire.Messages, openaiAPI{})
		if err := call.admit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := r.balance(t).Reserved; n < c.least || n > c.most {
			t.Errorf("%+v: %d tokens", c, n)
		}
		q.Finish()
	}
}

// A provider describes some tools to the model; that text is prompt, and billed.
func TestAToolThatTheProviderDescribesIsReserved(t *testing.T) {
	with := func(tool string) string { return hello[:len(hello)-1] + `,"tools":[` + tool + `]}` }
	function, patch := reserved(t, "1usd/day", with(`{"type":"function"}`)), reserved(t, "1usd/day", with(`{"type":"apply_patch"}`))
	if more := patch - function; more < 4_000_000 || more > 6_000_000 {
		t.Errorf("%d nano-USD more than for a function", more)
	}
}

func TestACallWithoutAnUpperBoundIsRefusedUnderAHardBudget(t *testing.T) {
	search := hello[:len(hello)-1] + `,"web_search_options":{}}`
	for _, c := range []struct {
		name, budget, body string
		change             func(*rig)
		refused            string
	}{
		{"a hosted tool", "1usd/day", search, func(*rig) {}, "cannot be known beforehand"},
		{"a hosted tool, permitted", "1usd/day", search, func(r *rig) { r.Limits.Keys["dev"].Unpriced = true }, ""},
		{"a hosted tool, soft", "1usd/day soft", search, func(*rig) {}, ""},
		{"no price", "1usd/day", hello, func(r *rig) { r.models.model.Price = nil }, "no price is known"},
		{"no price, tokens", "1M tokens/day", hello, func(r *rig) { r.models.model.Price = nil }, ""},
	} {
		r := newRig(t, answering(200, `{}`), limited(budget(t, c.budget)), c.change, func(r *rig) { r.key.HostedTools = true })
		call := r.begin(t, c.body)
		err := call.admit(t.Context())
		if c.refused == "" && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.refused != "" {
			wantRefusal(t, err, apierror.CannotBePriced, c.refused)
		}
		call.req.Finish()
	}
}

// A soft budget too counts what calls under way will use of units that are no tokens.
func TestARankingReservesItsSearchUnits(t *testing.T) {
	body := `{"model":"acme/m","query":"q","documents":[` + strings.Repeat(`"d",`, 249) + `"d"]}`
	for _, text := range []string{"1usd/day", "1usd/day soft"} {
		r := newRig(t, answering(200, `{}`), limited(budget(t, text)))
		price := &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(0), Completion: catalog.Quoted(0)}}
		price.Units[units.Queries] = catalog.Quoted(2e12) // 0.002 USD each
		r.models.model.Price = price
		q := r.request(t, httptest.NewRecorder(), post(strings.NewReader(body), int64(len(body))))
		if err := newCall(&r.Deps, q, wire.Rerank, openaiAPI{}).admit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := r.balance(t).Reserved; n != 3*2_000_000 {
			t.Errorf("%s: %d nano-USD", text, n)
		}
		q.Finish()
	}
}

// What a request leaves open of its pictures is reserved and charged as the dearest that it can mean.
func TestAPictureCostsWhatItsRequestAsksFor(t *testing.T) {
	for words, each := range map[string]int64{
		`"quality":"low","size":"1024x1024"`:  10_000_000,
		`"quality":"high","size":"1024x1024"`: 40_000_000,
		`"quality":"high","size":"auto"`:      60_000_000,
		`"size":"1024x1024"`:                  40_000_000,
	} {
		var held int64
		var r *rig
		r = newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			held = r.balance(t).Reserved
			return answering(200, `{"created":1,"data":[{"url":"x"},{"url":"y"}]}`)(req)
		}), limited(budget(t, "1usd/day")), func(r *rig) {
			price := &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(0), Completion: catalog.Quoted(0)}}
			price.Units[units.Images] = catalog.Quoted(6e13)
			price.Pictures = []catalog.PictureRate{{Quality: "low", Size: "1024x1024", Rate: 1e13}, {Quality: "high", Size: "1024x1024", Rate: 4e13}, {Quality: "high", Size: "1024x1536", Rate: 6e13}}
			r.models.model.Price = price
		})
		_, refusal := r.serve(t, wire.Images, `{"model":"acme/m","prompt":"a","n":2,`+words+`}`)
		if spent := r.balance(t).Spent; refusal != nil || held != 2*each || spent != held {
			t.Errorf("%s: %v, reserved %d, charged %d", words, refusal, held, spent)
		}
	}
}

func TestTokensAreRoundedUp(t *testing.T) {
	for bytes, want := range map[int64]int64{-5: 0, 0: 0, 1: 1, 4: 1, 5: 2} {
		if got := params.Tokens(bytes, 4); got != want {
			t.Errorf("%d bytes: %d tokens", bytes, got)
		}
	}
}
