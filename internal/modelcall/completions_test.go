package modelcall

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// A text without a single new token is asked for the probabilities of its prompt. The text that comes back
// is no proof of tokens that the provider forgot to count.
func TestAPromptCanBeScoredByCompletions(t *testing.T) {
	answer := `{"id":"c","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":"the prompt","logprobs":null,"finish_reason":"length"}],` +
		`"usage":{"prompt_tokens":2,"completion_tokens":0,"total_tokens":2}}`
	for _, limits := range []*policy.KeyLimits{{}, budget(t, "1usd/day")} {
		var sent string
		r := newRig(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			sent = string(body)
			if err != nil {
				return nil, err
			}
			return answering(200, answer)(r)
		}), limited(limits))
		_, refusal := r.serve(t, wire.Completions, `{"model":"acme/m","prompt":"the prompt","max_tokens":0,"echo":true,"logprobs":0}`)
		row := r.rows(t)[0]
		if refusal != nil || !jsontest.Has(t, sent, `{"max_tokens":0}`) || row.CompletionTokens != 0 || row.PromptTokens != 2 || row.UsageSource != activity.UsageProvider {
			t.Errorf("%v, sent %s, %+v", refusal, sent, row)
		}
	}
}

func TestACapOfCompletionsReachesTheProvider(t *testing.T) {
	var sent string
	r := newRig(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		sent = string(body)
		if err != nil {
			return nil, err
		}
		return answering(500, `{}`)(r)
	}), limited(&policy.KeyLimits{Caps: policy.Caps{Output: 10, Clamp: true}}))
	for given, want := range map[string]string{`,"max_tokens":100`: `"max_tokens":10`, `,"max_tokens":5`: `"max_tokens":5`, ``: `"max_tokens":10`} {
		if _, _ = r.serve(t, wire.Completions, `{"model":"acme/m","prompt":"a"`+given+`}`); !strings.Contains(sent, want+"}") {
			t.Errorf("%s: sent %s", given, sent)
		}
	}
}
