package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// What a provider tells is taken as far as it can be true.
func TestUsageThatCannotBeTrueIsEstimated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := budgeted(t, gateway.Config{}, "10usd/day")
		body := `{"model":"acme/m","max_tokens":1000,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 60) + `"}]}`
		prompt, said := int64(len(body)+2)/3, int64(200)
		for i, c := range []struct {
			name        string
			told        openai.Usage
			text        bool
			failed      bool
			source      string
			prompt, out int64
		}{
			{"all of it", openai.Usage{Prompt: 5, Completion: 7}, true, false, "provider", 5, 7},
			{"no completion", openai.Usage{Prompt: 5}, true, false, "estimated", 5, said},
			{"no completion, and no text", openai.Usage{Prompt: 5}, false, false, "provider", 5, 0},
			{"no prompt", openai.Usage{Completion: 7}, true, false, "estimated", prompt, 7},
			{"nothing", openai.Usage{}, true, false, "estimated", prompt, said},
			{"nothing, and no text", openai.Usage{}, false, false, "estimated", prompt, 0},
			{"nothing, and a failure at once", openai.Usage{}, false, true, "provider", 0, 0},
		} {
			call := r.beginNumbered(t, i+1)
			if err := reserve(t, call, body); err != nil {
				t.Fatal(err)
			}
			before := r.balance(t).Spent
			if _, err := call.Send(t.Context(), provider.Chat, [][]byte{[]byte(body)}, false); err != nil {
				t.Fatal(err)
			}
			call.Whole(3 * int(said))
			call.Summarise(openai.Summary{HasUsage: true, Usage: c.told, Text: c.text})
			call.Succeed(200)
			if c.failed {
				call.SaidNothing()
			}
			call.Finish()
			row := r.records(t)[0]
			if spent := (r.balance(t).Spent - before) / 1000; row.UsageSource != c.source || row.PromptTokens != c.prompt || row.CompletionTokens != c.out || spent != c.prompt+c.out {
				t.Errorf("%s: %s, %d and %d tokens, %d charged; want %s, %d and %d", c.name,
					row.UsageSource, row.PromptTokens, row.CompletionTokens, spent, c.source, c.prompt, c.out)
			}
		}
	})
}
