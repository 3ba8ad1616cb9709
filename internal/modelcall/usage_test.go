package modelcall

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// A silent provider is charged for the time that it had.
func TestUsageThatNobodyReportedIsEstimated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := written(func(*http.Request) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond) // of the bubble's clock
			return nil, errors.New("broken pipe")
		})
		r := newRig(t, transport, limited(budget(t, "1usd/day")))
		if _, refusal := r.serve(t, wire.Chat, hello); refusal == nil {
			t.Fatal("no failure")
		}
		cost := (int64(len(hello)+2)/3 + 20) * 1000
		if row := r.rows(t)[0]; row.UsageSource != "estimated" || row.CompletionTokens != 20 || row.CostNano != cost {
			t.Errorf("%s, %d tokens, %d nano-USD", row.UsageSource, row.CompletionTokens, row.CostNano)
		}
		if b := r.balance(t); b.Spent != cost || b.Reserved != 0 {
			t.Errorf("%+v", b)
		}
	})
}

// The usage that a provider reports counts as far as it can be true.
func TestUsageThatCannotBeTrueIsEstimated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, answering(200, `{}`), limited(budget(t, "10usd/day")))
		body := `{"model":"acme/m","max_tokens":1000,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 60) + `"}]}`
		prompt, received := int64(len(body)+2)/3, int64(200)
		for _, c := range []struct {
			name        string
			reported    openai.Usage
			text        bool
			failed      bool
			source      string
			prompt, out int64
		}{
			{"all of it", openai.Usage{Prompt: 5, Completion: 7}, true, false, "provider", 5, 7},
			{"no completion", openai.Usage{Prompt: 5}, true, false, "estimated", 5, received},
			{"no completion, and no text", openai.Usage{Prompt: 5}, false, false, "provider", 5, 0},
			{"no prompt", openai.Usage{Completion: 7}, true, false, "estimated", prompt, 7},
			{"nothing", openai.Usage{}, true, false, "estimated", prompt, received},
			{"nothing, and no text", openai.Usage{}, false, false, "estimated", prompt, 0},
			{"nothing, and a failure at once", openai.Usage{}, false, true, "provider", 0, 0},
		} {
			call := r.begin(t, body)
			if err := call.admit(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := r.balance(t).Spent
			if _, err := call.send(t.Context()); err != nil {
				t.Fatal(err)
			}
			meterOf(call).wholeAnswer(3 * int(received))
			attemptOf(call).summarize(openai.Summary{HasUsage: true, Usage: c.reported, Text: c.text})
			call.req.Outcome.Succeed(200)
			if c.failed {
				meterOf(call).markUnbilled()
			}
			call.req.Finish()
			row := r.rows(t)[0]
			if spent := (r.balance(t).Spent - before) / 1000; row.UsageSource != c.source || row.PromptTokens != c.prompt || row.CompletionTokens != c.out || spent != c.prompt+c.out {
				t.Errorf("%s: %s, %d and %d tokens, %d charged; want %s, %d and %d", c.name,
					row.UsageSource, row.PromptTokens, row.CompletionTokens, spent, c.source, c.prompt, c.out)
			}
		}
	})
}
