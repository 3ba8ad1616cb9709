package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chunks"
)

// inMessage says what a caller gets, for errors.
const inMessage = "a message"

// Result appends the message that a provider's whole chat completion becomes, with this id. A body
// that is not a completion, reports an error, or has content that a message cannot have, is a
// [*apierror.Error], also in the summary, and dst is returned as it was.
func Result(dst, completion []byte, original *Original, call openai.Call, id string) ([]byte, openai.Summary, error) {
	b := newBuilder(&call, original, id)
	r := chunks.NewReader(&call, b, chunks.Options{Answer: inMessage})
	var bad *apierror.Error
	sum, err := openai.ReadChatResult(completion, call, func(chunk *openai.Chunk) { bad = r.Read(chunk) })
	sum.StopSequence = call.StopSequence
	if err != nil {
		return dst, sum, err
	}
	if bad == nil {
		bad = b.checkSize()
	}
	if bad == nil {
		bad = b.end(sum.Finish)
	}
	if bad != nil {
		sum.Err, sum.Finish = bad, "error"
		return dst, sum, bad
	}
	return b.append(dst, &sum), sum, nil
}
