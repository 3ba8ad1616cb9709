package frommessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// failure writes the event that ends an answer which is not whole.
func (w *eventWriter) failure(e *apierror.Error, requestID string) {
	w.begin("error")
	w.out = append(w.out, `,"error":{`...)
	w.out = translate.AppendTextMember(w.out, "type", []byte(errorType(e.HTTPStatus())))
	w.out = append(jsonscan.AppendString(translate.AppendKey(w.out, "message"), e.Message), '}')
	w.out = jsonscan.AppendString(translate.AppendKey(w.out, "request_id"), requestID)
	w.end()
}

// errorType returns the API's type of an error.
func errorType(status int) string {
	switch {
	case status == 429:
		return "rate_limit_error"
	case status == 503:
		return "overloaded_error"
	case status >= 500:
		return "api_error"
	}
	return "invalid_request_error"
}
