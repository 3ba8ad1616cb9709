package gemini

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Result appends the body of a provider's whole answer as the client must get it: the model as asked, all
// else as it came. A body that is no answer, or is an error, is a [*apierror.Error], also in the summary,
// and dst is returned as it was.
func Result(dst, body []byte, call openai.Call) ([]byte, openai.Summary, error) {
	r := newResponse(call)
	members, err := jsonscan.Lenient(body, nil)
	if err != nil {
		return r.fail(dst, call.Broken("answered what is not JSON").WithCause(err))
	}
	if failed := r.fault(body, members); failed != nil {
		return r.fail(dst, failed)
	}
	if !r.read(body, members) {
		return r.fail(dst, call.Broken("answered with what is no response of generateContent"))
	}
	model := r.vars[openai.VarModel]
	if model.End > 0 {
		dst = append(append(dst, body[:model.Start]...), r.model...)
	}
	return append(dst, body[model.End:]...), r.sum, nil
}

func (r *response) fail(dst []byte, e *apierror.Error) ([]byte, openai.Summary, error) {
	r.sum.Err = e
	return dst, r.sum, e
}

// fault returns the failure that the provider reports instead of an answer, nil for none. It notes the
// usage beside it.
func (r *response) fault(data []byte, members []jsonscan.Member) *apierror.Error {
	if i, ok := jsonscan.Find(data, members, "error"); ok && members[i].Kind == '{' {
		pe := openai.ParseProviderError(data)
		if pe.Status == http.StatusServiceUnavailable {
			pe.Type = "overloaded_error" // by which the gateway knows it
		}
		if u, known := EventUsage(data); known {
			r.sum.Usage, r.sum.HasUsage, r.sum.Later = u, true, 0
		}
		return r.call.Fault(pe)
	}
	return nil
}

// Events appends a whole answer as the one event that a provider would have streamed. A body that is no
// answer, or is an error, is a [*apierror.Error], and dst is returned as it was.
func Events(dst, body []byte, call openai.Call) ([]byte, openai.Summary, error) {
	_, sum, err := Result(nil, body, call)
	if err != nil {
		return dst, sum, err
	}
	return appendEvent(dst, body), sum, nil
}

// appendEvent appends an event. Line ends in its data can only stand between tokens.
func appendEvent(dst, data []byte) []byte {
	dst = append(dst, "data: "...)
	for _, c := range data {
		if c == '\n' || c == '\r' {
			c = ' '
		}
		dst = append(dst, c)
	}
	return append(dst, "\n\n"...)
}

// Heartbeat keeps a stream alive: an empty line is the one thing that no SDK takes for something.
var Heartbeat = []byte("\n")
