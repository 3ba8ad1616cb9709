package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// end takes the response that ends the answer, and the type of the event that brought it, nil for a
// whole one. Its output is the answer if no event announced an item before.
func (r *reader) end(response openai.Object, event []byte) (e completion.Ending, bad *apierror.Error) {
	status := string(response.Get("status"))
	if event == nil && (status == `"in_progress"` || status == `"queued"`) {
		return e, translate.ProviderFailure(r.call, "answered with an unfinished response")
	}
	if tier := response.Kind('"', "service_tier", ""); len(tier) <= translate.MaxTier {
		e.Tier = tier
	}
	output := response.Get("output")
	if len(r.items.items) == 0 {
		for i, span := range jsonscan.Elements(output, nil) {
			if bad := r.itemDone(int64(i), span.Value(output)); bad != nil {
				return e, bad
			}
		}
	}
	r.to.Begin(true)
	for i := range r.items.items {
		r.flush(&r.items.items[i])
	}
	reason := r.open(response.Get("incomplete_details")).Get("reason")
	switch incomplete := status == `"incomplete"` || string(event) == "response.incomplete"; {
	case incomplete && string(reason) == `"content_filter"`:
		e.Finish = "content_filter"
	case incomplete:
		e.Finish = "length"
	case r.calls > 0:
		e.Finish = r.original.functions.Finish()
	default:
		e.Finish = "stop"
	}
	return e, nil
}
