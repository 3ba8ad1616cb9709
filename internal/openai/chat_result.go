package openai

import (
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// ChatResult appends the body of a provider's whole chat completion as the client must get it: the
// model as asked, the keys in place that the API requires, all else as it came. A body that is no
// completion, or is an error, is a [*apierror.Error], also in the summary, and dst is returned as
// it was.
func ChatResult(dst, body []byte, call Call) ([]byte, Summary, error) {
	if out, sum, ok := usualResult(dst, body, call.Model); ok {
		return out, sum, nil
	}
	return ShapedResult(dst, body, call, Shape{})
}

// ShapedResult is [ChatResult] for an API with a [Shape] of its own.
func ShapedResult(dst, body []byte, call Call, shape Shape) ([]byte, Summary, error) {
	r := results.Get().(*result)
	defer r.release()
	if bad := r.read(body, call, shape); bad != nil {
		return dst, r.sum, bad
	}
	return r.body.AppendTo(dst), r.sum, nil
}

// ReadChatResult repairs a body as ChatResult does, and hands what is in it to read. The chunk is
// valid until read returns.
func ReadChatResult(body []byte, call Call, read func(*Chunk)) (Summary, error) {
	r := results.Get().(*result)
	defer r.release()
	if bad := r.read(body, call, Shape{}); bad != nil {
		return r.sum, bad
	}
	read(&r.work.chunk)
	return r.sum, nil
}

// result repairs a whole answer.
type result struct {
	chat
	body Event
}

var results = sync.Pool{New: func() any { return new(result) }}

func (r *result) read(body []byte, call Call, shape Shape) *apierror.Error {
	r.reset(call, shape, false)
	r.body = Event{Data: body}
	r.body.walk() // line ends may stay
	found, bad := r.repair(&r.body)
	if bad == nil && !found {
		bad = call.Broken("answered with what is no chat completion")
	}
	r.sum.Err = bad
	return bad
}

// release returns r to the pool, with nothing of its call.
func (r *result) release() {
	r.body.Release()
	r.body = Event{}
	r.chat.empty()
	results.Put(r)
}
