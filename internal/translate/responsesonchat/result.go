package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Result appends the response that a provider's whole chat completion becomes. A body that is not a
// completion, reports an error, or has content that a response cannot have, is a [*apierror.Error],
// also in the summary, and dst is returned as it was.
func Result(dst, answer []byte, original *Original, call openai.Call, ids IDs) ([]byte, openai.Summary, error) {
	r := newReader(newBuilder(&call, original, ids))
	var bad *apierror.Error
	sum, err := openai.ReadChatResult(answer, call, func(chunk *openai.Chunk) { bad = r.read(chunk) })
	if err != nil {
		return dst, sum, err
	}
	if bad != nil {
		sum.Err, sum.Finish = bad, "error"
		return dst, sum, bad
	}
	e := ending{reason: incompleteReason(sum.Finish), summary: sum, at: ids.Unix()}
	r.end(e.reason)
	return r.response.append(dst, e), sum, nil
}
