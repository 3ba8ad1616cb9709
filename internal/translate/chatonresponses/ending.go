package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// ending is the end of an answer that the provider completed or cut off.
type ending struct {
	finish   string
	stop     string // the stop sequence that ended the answer, "" for none
	tier     []byte // service_tier, nil for none
	usage    openai.Usage
	hasUsage bool // the provider reported usage
}

func (e *ending) setUsage(sum openai.Summary) { e.usage, e.hasUsage = sum.Usage, sum.HasUsage }

// append appends the members of a chat completion that come with its end.
func (e *ending) append(dst []byte) []byte {
	if e.tier != nil {
		dst = translate.AppendMember(dst, "service_tier", e.tier)
	}
	if e.hasUsage {
		dst = translate.AppendUsage(translate.AppendKey(dst, "usage"), e.usage)
	}
	return dst
}

// end takes the response that ends the answer, and the type of the event that brought it, nil for a
// whole one. Its output is the answer if no event announced an item before.
func (r *reader) end(response []byte, members []jsonscan.Member, event []byte) (e ending, bad *apierror.Error) {
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
				e.tier = value
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
		e.finish = "content_filter"
	case incomplete:
		e.finish = "length"
	case r.calls > 0:
		e.finish = r.original.functions.Finish()
	default:
		e.finish = "stop"
	}
	return e, nil
}
