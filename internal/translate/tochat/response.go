package tochat

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// ending is how a response ended; the zero ending is that of one in progress.
type ending struct {
	failure *apierror.Error
	reason  string // why it is incomplete
	summary openai.Summary
	at      int64 // unix seconds, 0 for one in progress
}

// status is the word for it, and the second half of the event's type.
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

// appendResponse appends the response object.
func (a *answer) appendResponse(dst []byte, e ending) []byte {
	status := e.status()
	dst = append(dst, `{"id":`...)
	dst = append(dst, a.id...)
	dst = append(dst, `,"object":"response","created_at":`...)
	dst = strconv.AppendInt(dst, a.created, 10)
	dst = append(dst, `,"completed_at":`...)
	if status == completed {
		dst = strconv.AppendInt(dst, max(e.at, a.created), 10)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"status":"`...)
	dst = append(dst, status...)
	dst = append(dst, `","error":`...)
	if e.failure != nil {
		dst = openai.AppendResponseFailure(dst, e.failure)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"incomplete_details":`...)
	if status == incomplete {
		dst = append(dst, `{"reason":"`...)
		dst = append(dst, e.reason...)
		dst = append(dst, `"}`...)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"model":`...)
	dst = append(dst, a.model...)
	dst = append(dst, `,"output":[`...)
	for i := range a.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = a.items[i].append(dst)
	}
	dst = append(dst, `],"usage":`...)
	if e.summary.HasUsage {
		dst = appendUsage(dst, e.summary.Usage)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"service_tier":`...)
	switch {
	case a.tier != nil:
		dst = append(dst, a.tier...)
	case a.original.tier != nil:
		dst = append(dst, a.original.tier...)
	default:
		dst = append(dst, "null"...)
	}
	dst = append(dst, a.original.fields...)
	return append(dst, '}')
}

// appendUsage appends a Response's usage; SDKs require both details.
func appendUsage(dst []byte, u openai.Usage) []byte {
	number := func(key string, n int64) {
		dst = append(dst, key...)
		dst = strconv.AppendInt(dst, n, 10)
	}
	number(`{"input_tokens":`, u.Prompt)
	number(`,"input_tokens_details":{"cached_tokens":`, u.Cached)
	number(`,"cache_write_tokens":`, u.CacheWrite)
	number(`},"output_tokens":`, u.Completion)
	number(`,"output_tokens_details":{"reasoning_tokens":`, u.Reasoning)
	number(`},"total_tokens":`, u.Total)
	return append(dst, '}')
}
