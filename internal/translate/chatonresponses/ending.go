package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// end takes the response that ends the answer, and the type of the event that brought it, nil for a
// whole one. Its output is the answer if no event announced an item before.
func (r *reader) end(response []byte, members []jsonscan.Member, event []byte) (e completion.Ending, bad *apierror.Error) {
	var status, reason, output []byte
	for _, m := range members {
		value := m.Value(response)
		switch string(m.DecodedKey(response)) {
		case "status":
			status = value
		case "incomplete_details":
			inside := jsonscan.Members(value, nil)
			if i, ok := jsonscan.Find(value, inside, "reason"); ok {
				reason = inside[i].Value(value)
			}
		case "output":
			output = value
		case "service_tier":
			if m.Kind == '"' && len(value) <= translate.MaxTier {
				e.Tier = value
			}
		}
	}
	if s := string(status); event == nil && (s == `"in_progress"` || s == `"queued"`) {
		return e, translate.ProviderFailure(r.call, "answered with an unfinished response")
	}
	if r.items.empty() {
		for i, span := range jsonscan.Elements(output, nil) {
			if bad := r.itemDone(int64(i), span.Value(output)); bad != nil {
				return e, bad
			}
		}
	}
	r.begin(true)
	for it := range r.items.all() {
		r.flush(it)
	}
	switch incomplete := string(status) == `"incomplete"` || string(event) == "response.incomplete"; {
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
