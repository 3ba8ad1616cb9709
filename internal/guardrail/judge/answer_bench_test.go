package judge_test

import (
	"context"
	"testing"
)

const usualAnswer = `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":` +
	`{"role":"assistant","content":"Hello, how can I help you today?","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}`

// BenchmarkAnswer judges a whole answer that holds nothing.
func BenchmarkAnswer(b *testing.B) {
	set, body := all(b), []byte(usualAnswer)
	b.ReportAllocs()
	for b.Loop() {
		if result, err := set.Answer(context.Background(), body); err != nil || result.Verdict != nil || result.Body != nil {
			b.Fatal(result, err)
		}
	}
}
