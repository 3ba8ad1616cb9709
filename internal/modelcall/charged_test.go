package modelcall

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// usageAnswer is a chat answer with this usage.
func usageAnswer(usage string) string {
	return `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],"usage":` + usage + `}`
}

// How long a cache write is kept is what usage says, or else what the request asked for.
func TestCacheWritesArePricedByHowLongTheyAreKept(t *testing.T) {
	rate := func(perMillion int64) catalog.Quote { return catalog.Quoted(catalog.Rate(perMillion * 1_000_000_000)) }
	price := &catalog.Price{Rates: catalog.Rates{Prompt: rate(4), Completion: rate(20), CacheWrite: rate(5), CacheHour: rate(8)}}
	for _, c := range []struct {
		asked bool
		usage openai.Usage
		want  int64
	}{
		{false, openai.Usage{Prompt: 100, CacheWrite: 100}, 500_000},
		{true, openai.Usage{Prompt: 100, CacheWrite: 100}, 800_000},
		{false, openai.Usage{Prompt: 100, CacheWrite: 100, CacheWriteHour: 40, CacheSplit: true}, 620_000},
		{true, openai.Usage{Prompt: 100, CacheWrite: 100, CacheSplit: true}, 500_000},
	} {
		g := charge{cacheHour: c.asked, target: &target{model: &catalog.Model{Price: price}, provider: &provider.Provider{}}}
		if nano, known := g.Cost(c.usage); !known || nano != c.want {
			t.Errorf("asked for an hour: %v, %+v: %d, %v", c.asked, c.usage, nano, known)
		}
	}
}

// A chat may answer with pictures, whose tokens cost more. What does not say which they are has no cost.
func TestPicturesInAChatAreChargedAtTheirRate(t *testing.T) {
	rate, err := catalog.ParseRate("0.00003")
	if err != nil {
		t.Fatal(err)
	}
	for details, want := range map[string]struct {
		nano   int64
		priced bool
	}{
		`,"completion_tokens_details":{"image_tokens":1290,"reasoning_tokens":0}`: {3_000 + 10_000 + 1290*30_000, true},
		`,"completion_tokens_details":{"image_tokens":0}`:                         {3_000 + 1300*1_000, true},
		``: {0, false},
	} {
		answer := strings.Replace(usageAnswer(`{"prompt_tokens":3,"completion_tokens":1300`+details+`}`), `"content":"Hello."`, `"content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]`, 1)
		r := newRig(t, answering(200, answer))
		r.models.model.Price.Units[units.ImageOutput] = catalog.Quoted(rate)
		w, refusal := r.serve(t, wire.Chat, hello)
		if row := r.rows(t)[0]; refusal != nil || row.CostNano != want.nano || row.Priced != want.priced || !jsontest.Has(t, w.Body.String(), `{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]}`) {
			t.Errorf("%s: %d, %v, %s", details, row.CostNano, row.Priced, w.Body)
		}
	}
}

func TestTheCostThatAProviderReportsCountsIfConfigured(t *testing.T) {
	answer := usageAnswer(`{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"cost":0.5}`)
	for reported, want := range map[bool]int64{false: 7000, true: 500_000_000} {
		r := newRig(t, answering(200, answer), func(r *rig) {
			r.models.provider = newProvider(t, answering(200, answer), func(c *provider.Config) { c.CostReported = reported })
		})
		if _, refusal := r.serve(t, wire.Chat, hello); refusal != nil {
			t.Fatal(refusal)
		}
		if row := r.rows(t)[0]; row.CostNano != want || !row.Priced {
			t.Errorf("reported %v: %d nano-USD", reported, row.CostNano)
		}
	}
	if nano, known := (&charge{}).Cost(openai.Usage{Prompt: 1, Cost: "0.5"}); nano != 0 || known {
		t.Errorf("without a model: %d, %v", nano, known)
	}
}

// A usage that cannot be true has no cost that can be.
func TestAReportedCostOfZeroBesideImpossibleUsageIsEstimated(t *testing.T) {
	for cost, want := range map[string]int64{"0": 5000 + 4000, "0.5": 500_000_000} {
		g := charge{target: &target{op: wire.Chat, model: &catalog.Model{Price: pricePerToken(t)}, provider: newProvider(t, roundTrip(silent), func(c *provider.Config) { c.CostReported = true })}}
		g.deps = &Deps{Deps: admission.Deps{Deps: request.Deps{Now: time.Now}}}
		m := meter{text: true, reported: true, whole: 12, usage: openai.Usage{Prompt: 5, Cost: cost}}
		usage := g.completed(&m)
		if nano, _ := g.Cost(usage); nano != want || usage.Completion != 4 || usage.Total != 9 {
			t.Errorf("cost %s: %d nano-USD for %+v", cost, nano, usage)
		}
	}
}

// Without any limit nothing was estimated before the call: the prompt is one token for four bytes.
func TestAnUnlimitedCallWithoutUsageIsEstimatedByItsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, answering(200, `{}`))
		c := r.begin(t, hello)
		if err := c.admit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.send(t.Context()); err != nil {
			t.Fatal(err)
		}
		meterOf(c).wholeAnswer(30)
		c.req.Outcome.Succeed(200)
		c.req.Finish()
		if row := r.rows(t)[0]; row.PromptTokens != int64(len(hello)+3)/4 || row.CompletionTokens != 10 || row.UsageSource != "estimated" {
			t.Errorf("%d and %d tokens, %s", row.PromptTokens, row.CompletionTokens, row.UsageSource)
		}
	})
}

// How many tokens of an answer without usage were audio is not known: all are charged as such.
func TestAudioWithoutUsageIsChargedAsAudio(t *testing.T) {
	rate, err := catalog.ParseRate("0.00001")
	if err != nil {
		t.Fatal(err)
	}
	body := `{"model":"acme/m","max_tokens":100,"messages":[],"modalities":["text","audio"],"audio":{}}`
	for audio, perToken := range map[bool]int64{true: 10_000, false: 1_000} {
		r := newRig(t, answering(200, `{}`), limited(budget(t, "10usd/day")))
		r.models.model.Price.Units[units.AudioOutput], r.models.model.Price.Units[units.AudioInput] = catalog.Quoted(rate), catalog.Quoted(rate)
		sent := body
		if !audio {
			sent = hello
		}
		r.spend(t, sent, func(c *call) { meterOf(c).wholeAnswer(30) })
		row := r.rows(t)[0]
		if row.CompletionTokens != 10 || row.CostNano < 10*perToken || !audio && row.CostNano != (row.PromptTokens+10)*1000 {
			t.Errorf("audio %v: %d nano-USD for %d and %d tokens", audio, row.CostNano, row.PromptTokens, row.CompletionTokens)
		}
	}
}

func TestAProviderThatIgnoresTheLimitIsWarnedOf(t *testing.T) {
	for given, warned := range map[string]int{"100": 0, "101": 1} {
		core, lines := observer.New(zapcore.WarnLevel)
		r := newRig(t, answering(200, usageAnswer(`{"prompt_tokens":3,"completion_tokens":`+given+`}`)), limited(budget(t, "1usd/day")),
			func(r *rig) { r.Sampled = func() *zap.Logger { return zap.New(core) } })
		if _, refusal := r.serve(t, wire.Chat, hello); refusal != nil {
			t.Fatal(refusal)
		}
		if lines.FilterMessageSnippet("more tokens than the call had reserved").Len() != warned {
			t.Errorf("%s tokens of 100: %v", given, lines.All())
		}
	}
	core, lines := observer.New(zapcore.WarnLevel)
	r := newRig(t, answering(200, chatAnswerBody), func(r *rig) { r.Sampled = func() *zap.Logger { return zap.New(core) } })
	if _, refusal := r.serve(t, wire.Chat, hello); refusal != nil || lines.Len() > 0 {
		t.Errorf("a call without a reservation: %v, %v", refusal, lines.All())
	}
}

func TestAFailureOfTheProviderIsNotCharged(t *testing.T) {
	r := newRig(t, written(answering(500, `{"error":{"message":"broken"}}`)), limited(budget(t, "1usd/day")))
	if _, refusal := r.serve(t, wire.Chat, hello); refusal == nil {
		t.Fatal("no failure")
	}
	if b, row := r.balance(t), r.rows(t)[0]; b.Spent != 0 || b.Reserved != 0 || row.UsageSource != "none" {
		t.Errorf("%+v, usage %s", b, row.UsageSource)
	}
}

// A stored conversation is prompt whose size is not known: at most what the model takes.
func TestStoredStateIsReservedByTheContextOfTheModel(t *testing.T) {
	body := `{"model":"acme/m","input":"hello","max_output_tokens":100,"previous_response_id":"resp_0"}`
	for context, code := range map[int64]apierror.Code{8192: "", 0: apierror.CannotBePriced} {
		r := newRig(t, answering(200, responsesAnswerBody), limited(budget(t, "1usd/day")))
		r.models.model.ContextLength = context
		if err := r.Owners.Record("response", "acme", "resp_0", "default"); err != nil {
			t.Fatal(err)
		}
		q := r.request(t, httptest.NewRecorder(), post(strings.NewReader(body), int64(len(body))))
		c := newCall(&r.Deps, q, wire.Responses, openaiAPI{})
		err := c.admit(t.Context())
		if code != "" {
			wantRefusal(t, err, code, "stored state")
		} else if b := r.balance(t); err != nil || b.Reserved != (8192+100)*1000 {
			t.Errorf("%v: reserved %d nano-USD", err, b.Reserved)
		}
		c.req.Finish()
	}
}

func TestStoredStateOfOthersIsNotFound(t *testing.T) {
	for id, c := range map[string]struct {
		tenant string // that owns it; "" for nobody
		code   apierror.Code
	}{"resp_own": {"default", ""}, "resp_other": {"other", apierror.PreviousNotFound}, "resp_none": {"", apierror.PreviousNotFound}} {
		r := newRig(t, answering(200, responsesAnswerBody))
		if c.tenant != "" {
			if err := r.Owners.Record("response", "acme", id, c.tenant); err != nil {
				t.Fatal(err)
			}
		}
		_, refusal := r.serve(t, wire.Responses, `{"model":"acme/m","input":"hello","previous_response_id":"`+id+`"}`)
		if c.code == "" && refusal != nil {
			t.Errorf("%s: %v", id, refusal)
		}
		if c.code != "" {
			wantRefusal(t, refusal, c.code, `no response with id "`+id+`" was found`)
		}
	}
}

// The id of a response that the provider keeps belongs to the tenant before the client gets it.
func TestAStoredResponseBelongsToItsTenant(t *testing.T) {
	r := newRig(t, answering(200, responsesAnswerBody))
	if _, refusal := r.serve(t, wire.Responses, responsesBody); refusal != nil {
		t.Fatal(refusal)
	}
	if owner, known, err := r.Owners.Owner(t.Context(), "response", "acme", "resp_up"); owner != "default" || !known || err != nil {
		t.Errorf("owner %q, %v, %v", owner, known, err)
	}
}

func TestHostedToolsNeedTheKeysPermission(t *testing.T) {
	body := hello[:len(hello)-1] + `,"web_search_options":{}}`
	for allowed, code := range map[bool]apierror.Code{true: "", false: apierror.InsufficientScope} {
		r := newRig(t, answering(200, chatAnswerBody), func(r *rig) { r.key.HostedTools = allowed })
		_, refusal := r.serve(t, wire.Chat, body)
		if code == "" && refusal != nil {
			t.Error(refusal)
		}
		if code != "" {
			wantRefusal(t, refusal, code, "hosted_tools")
		}
	}
	r := newRig(t, answering(200, chatAnswerBody))
	_, refusal := r.serve(t, wire.Chat, hello[:len(hello)-1]+`,"background":true}`)
	wantRefusal(t, refusal, apierror.UnsupportedParameter, "background")
}

func TestTheRecordNamesTheWorkstation(t *testing.T) {
	r := newRig(t, answering(200, "{}"))
	c := r.begin(t, hello)
	c.req.SetWorkstation("desk1")
	c.req.Outcome.Succeed(200)
	c.req.Finish()
	if row := r.rows(t)[0]; row.Workstation != "desk1" {
		t.Errorf("%q", row.Workstation)
	}
}
