package tochat

import "github.com/gatehouse-proxy/gatehouse/internal/openai"

// Result appends the response that a provider's whole chat completion is. A
// body that is no completion, says that it is an error, or holds what no
// response can show, is a [*apierror.Error], also in the summary, and dst is
// returned as it was.
func Result(dst, chat []byte, original *Original, call openai.Call, ids IDs) ([]byte, openai.Summary, error) {
	repaired, sum, err := openai.ChatResult(nil, chat, call)
	if err != nil {
		return dst, sum, err
	}
	r := newReader(newAnswer(&call, original, ids))
	if bad := r.read(repaired); bad != nil {
		sum.Err, sum.Finish = bad, "error"
		return dst, sum, bad
	}
	e := ending{reason: incompleteReason(sum.Finish), summary: sum, at: ids.Unix()}
	r.end(e.reason)
	return r.appendResponse(dst, e), sum, nil
}
