package modelcall

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const (
	embed           = `{"model":"acme/e","input":["one two","three"],"encoding_format":"float"}`
	embeddingsBody  = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]},{"object":"embedding","index":1,"embedding":[0.25]}],"model":"e","usage":{"prompt_tokens":3,"total_tokens":3}}`
	embeddingsBlank = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"e"}`
)

// embedding makes the rig's models embed.
func embedding(r *rig) {
	r.models.model.Mode, r.models.model.ContextLength = catalog.ModeEmbedding, 10
}

func TestEmbeddingsAreACallWithoutOutput(t *testing.T) {
	upstream := &recording{chat: embeddingsBody}
	r := newRig(t, upstream, limited(budget(t, "1usd/day")), embedding)
	w, refusal := r.serve(t, wire.Embeddings, embed)
	if refusal != nil || w.Body.String() != strings.Replace(embeddingsBody, `"model":"e"`, `"model":"acme/e"`, 1) {
		t.Errorf("%v: %s", refusal, w.Body)
	}
	if want := strings.Replace(embed, "acme/e", "e", 1); upstream.paths[0] != "/v1/embeddings" || upstream.bodies[0] != want {
		t.Errorf("sent %s to %s, want %s", upstream.bodies, upstream.paths, want)
	}
	row := r.rows(t)[0]
	if row.Status != 200 || row.PromptTokens != 3 || row.CompletionTokens != 0 || row.CostNano != 3000 || row.UsageSource != "provider" || row.OutputCap != 0 {
		t.Errorf("record %+v", row)
	}
	if b := r.balance(t); b.Spent != 3000 || b.Reserved != 0 {
		t.Errorf("%+v", b)
	}
}

// Each input may be as long as the context: the bound is the bytes of all.
func TestOnlyTheInputOfEmbeddingsIsReserved(t *testing.T) {
	for text, want := range map[string]int64{"1usd/day": int64(len(embed)) * 1000, "1usd/day soft": (int64(len(embed)) + 3) / 4 * 1000} {
		r := newRig(t, answering(200, `{}`), limited(budget(t, text)), embedding)
		r.Limits.Keys["dev"].Caps.Output = 50
		c := newCall(&r.Deps, r.request(t, nil, post(strings.NewReader(embed), int64(len(embed)))), wire.Embeddings, openaiAPI{})
		if err := c.admit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := r.balance(t).Reserved; n != want {
			t.Errorf("%s: %d nano-USD, want %d", text, n, want)
		}
		c.req.Finish()
	}
}

// Without usage the prompt is estimated, and the numbers of the answer are no tokens.
func TestEmbeddingsWithoutUsageAreEstimatedByTheirInput(t *testing.T) {
	r := newRig(t, answering(200, embeddingsBlank), embedding)
	if _, refusal := r.serve(t, wire.Embeddings, embed); refusal != nil {
		t.Fatal(refusal)
	}
	if row := r.rows(t)[0]; row.UsageSource != "estimated" || row.PromptTokens != (int64(len(embed))+3)/4 || row.CompletionTokens != 0 {
		t.Errorf("%s: %d and %d tokens", row.UsageSource, row.PromptTokens, row.CompletionTokens)
	}
}

func TestEmbeddingsAreRefused(t *testing.T) {
	anthropic := func(r *rig) {
		r.models.provider = newProvider(t, answering(200, `{}`), func(c *provider.Config) { c.Dialect = provider.Anthropic })
	}
	for _, c := range []struct {
		name, body string
		change     func(*rig)
		code       apierror.Code
		text       string
	}{
		{"a stream", `{"model":"acme/e","input":"x","stream":true}`, embedding, apierror.UnsupportedParameter, "cannot be streamed"},
		{"a model that writes", embed, func(r *rig) { r.models.model.Mode = catalog.ModeChat }, apierror.ModelNotCallable, "does not serve embeddings"},
		{"a provider without", embed, anthropic, apierror.ModelNotCallable, `"acme" has no embeddings`},
		{"too many", embed, func(r *rig) {
			r.Limits.Keys = map[string]*policy.KeyLimits{"dev": {Caps: policy.Caps{Messages: 1}, Subjects: budget(t, "1usd/day").Subjects}}
		}, apierror.InvalidValue, `"input" has 2 elements`},
		{"a word", strings.Replace(embed, "three", "mellon", 1), guarded(words(t, judge.Deny, guardrail.Input)), apierror.GuardrailBlocked, "refused"},
		{"an OpenRouter preset", `{"model":"acme/e","input":"x","preset":"p"}`, embedding, apierror.UnsupportedParameter, "preset"},
	} {
		r := newRig(t, answering(200, embeddingsBody), c.change)
		w, refusal := r.serve(t, wire.Embeddings, c.body)
		if wantRefusal(t, refusal, c.code, c.text); t.Failed() || w.Body.Len() > 0 {
			t.Errorf("%s: %s", c.name, w.Body)
		}
	}
	r := newRig(t, answering(200, `{"object":"list"}`), embedding)
	_, refusal := r.serve(t, wire.Embeddings, embed)
	wantRefusal(t, refusal, apierror.UpstreamError, "no list of embeddings")
}

// What an input guardrail takes out of a text does not reach the provider.
func TestTextIsTakenOutBeforeItIsEmbedded(t *testing.T) {
	upstream := &recording{chat: embeddingsBody}
	r := newRig(t, upstream, guarded(words(t, judge.Redact, guardrail.Input)))
	if _, refusal := r.serve(t, wire.Embeddings, strings.Replace(embed, "three", "mellon", 1)); refusal != nil {
		t.Fatal(refusal)
	}
	if sent := upstream.bodies[0]; strings.Contains(sent, "mellon") || !strings.Contains(sent, "REDACTED") {
		t.Errorf("sent %s", sent)
	}
}

// A provider of the OpenRouter dialect gets the caller's preferences; another one does not know them.
func TestPreferencesGoToOpenRouterOnly(t *testing.T) {
	body := `{"model":"acme/e","input":"x","provider":{"order":["a"]},"input_type":"search_query"}`
	for dialect, want := range map[string]string{
		provider.OpenRouter: `{"model":"e","input":"x","provider":{"order":["a"]},"input_type":"search_query"}`,
		provider.OpenAI:     `{"model":"e","input":"x","input_type":"search_query"}`,
	} {
		upstream := &recording{chat: embeddingsBody}
		r := newRig(t, upstream)
		r.models.provider = newProvider(t, upstream, func(c *provider.Config) { c.Dialect = dialect })
		if _, refusal := r.serve(t, wire.Embeddings, body); refusal != nil {
			t.Fatal(refusal)
		}
		if upstream.bodies[0] != want {
			t.Errorf("%s: sent %s", dialect, upstream.bodies[0])
		}
	}
}
