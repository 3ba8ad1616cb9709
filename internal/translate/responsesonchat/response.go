package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// response is the response so far.
type response struct {
	original  *Original
	id, model []byte // quoted
	created   int64
	tier      []byte // service_tier as the provider named it last, nil for none
	items     []item

	metadata func() []byte // openrouter_metadata of a response that has ended; nil for none
}

// ending is how a response ended; the zero ending is that of one in progress.
type ending struct {
	failure *apierror.Error
	reason  string // why it is incomplete
	summary openai.Summary
	at      int64 // unix seconds, 0 for one in progress
}

// status is the status of the response, and the second half of the event's type.
func (e *ending) status() string {
	switch {
	case e.failure != nil:
		return failed
	case e.at == 0:
		return inProgress
	case e.reason != "":
		return incomplete
	}
	return completed
}

// incompleteReason returns the reason of a response by the finish reason of a chat completion, ""
// for one that is complete.
func incompleteReason(finish string) string {
	switch finish {
	case "length":
		return "max_output_tokens"
	case "content_filter":
		return finish
	}
	return ""
}

// append appends the response object.
func (r *response) append(dst []byte, e ending) []byte {
	status := e.status()
	dst = translate.AppendMember(append(dst, '{'), "id", r.id)
	dst = append(dst, `,"object":"response"`...)
	dst = translate.AppendIntMember(dst, "created_at", r.created)
	if status == completed {
		dst = translate.AppendIntMember(dst, "completed_at", max(e.at, r.created))
	} else {
		dst = append(dst, `,"completed_at":null`...)
	}
	dst = translate.AppendTextMember(dst, "status", []byte(status))
	dst = e.appendReason(dst, status)
	dst = translate.AppendMember(dst, "model", r.model)
	dst = append(dst, `,"output":[`...)
	for i := range r.items {
		dst = r.items[i].append(translate.AppendComma(dst))
	}
	dst = translate.AppendKey(append(dst, ']'), "usage")
	if e.summary.HasUsage {
		dst = appendUsage(dst, e.summary.Usage)
	} else {
		dst = append(dst, "null"...)
	}
	dst = translate.AppendKey(dst, "service_tier")
	switch {
	case r.tier != nil:
		dst = append(dst, r.tier...)
	case r.original.tier != nil:
		dst = append(dst, r.original.tier...)
	default:
		dst = append(dst, "null"...)
	}
	dst = append(translate.AppendComma(dst), r.original.repeated...)
	if r.metadata != nil && status != inProgress {
		dst = translate.AppendMember(dst, openai.MetadataKey, r.metadata())
	}
	return append(dst, '}')
}

// appendReason appends why the response failed or is incomplete.
func (e *ending) appendReason(dst []byte, status string) []byte {
	dst = translate.AppendKey(dst, "error")
	if e.failure != nil {
		dst = openai.AppendResponseFailure(dst, e.failure)
	} else {
		dst = append(dst, "null"...)
	}
	dst = translate.AppendKey(dst, "incomplete_details")
	if status == incomplete {
		return append(translate.AppendTextMember(append(dst, '{'), "reason", []byte(e.reason)), '}')
	}
	return append(dst, "null"...)
}

// appendUsage appends the usage of a response; SDKs require both details.
func appendUsage(dst []byte, u openai.Usage) []byte {
	dst = translate.AppendIntMember(append(dst, '{'), "input_tokens", u.Prompt)
	dst = append(dst, `,"input_tokens_details":{`...)
	dst = translate.AppendIntMember(dst, "cached_tokens", u.Cached)
	dst = translate.AppendIntMember(dst, "cache_write_tokens", u.CacheWrite)
	dst = translate.AppendIntMember(append(dst, '}'), "output_tokens", u.Completion)
	dst = append(dst, `,"output_tokens_details":{`...)
	dst = translate.AppendIntMember(dst, "reasoning_tokens", u.Reasoning)
	dst = translate.AppendIntMember(append(dst, '}'), "total_tokens", u.Total)
	return append(dst, '}')
}
