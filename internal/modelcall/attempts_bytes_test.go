package modelcall

import (
	"net/http"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// The buffer of a request is given to its first attempt; its size must be known to all.
func TestALaterAttemptWithoutUsageIsEstimatedByTheBytesOfItsRequest(t *testing.T) {
	by := func(transport http.RoundTripper) func(*provider.Config) {
		return func(c *provider.Config) { c.Transport = transport }
	}
	const answer = `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}`
	r := newRig(t, roundTrip(nil), inTurn(t, by(answering(503, "{}")), by(answering(200, answer))))
	_, refusal := r.serve(t, wire.Chat, chatWith("fast", ""))
	if row := r.rows(t)[0]; refusal != nil || row.UsageSource != "estimated" || row.PromptTokens < int64(len(chatWith("fast", "")))/4 {
		t.Errorf("%v: %+v", refusal, row)
	}
}
