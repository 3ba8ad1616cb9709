package testprovider

import (
	"fmt"
	"net/http"
)

// apiError is a refusal as the caller reads it.
type apiError struct {
	status                     int
	kind, code, param, message string
}

func (e *apiError) Error() string { return e.message }

func (e *apiError) body() Object { return ErrorBody(e.kind, e.code, e.param, e.message) }

// ErrorBody is OpenAI's body of an error. A code or param of "" is null.
func ErrorBody(kind, code, param, message string) Object {
	o := Object{{"message", message}, {"type", kind}, {"param", nil}, {"code", nil}}
	if param != "" {
		o = o.With("param", param)
	}
	if code != "" {
		o = o.With("code", code)
	}
	return Object{{"error", o}}
}

func refuse(status int, code, param, format string, args ...any) error {
	return &apiError{status: status, kind: "invalid_request_error", code: code, param: param, message: fmt.Sprintf(format, args...)}
}

func errJSON(cause error) error {
	return refuse(http.StatusBadRequest, "invalid_json", "", "the body is not a JSON object: %v", cause)
}

func errMissing(param string) error {
	return refuse(http.StatusBadRequest, "missing_required_parameter", param, "missing required parameter: %q", param)
}

func errValue(param, format string, args ...any) error {
	return refuse(http.StatusBadRequest, "invalid_value", param, format, args...)
}

func errUnsupported(param string) error {
	return refuse(http.StatusBadRequest, "unsupported_parameter", param, "unsupported parameter: %q", param)
}

// errState refuses a reference to something stored: nothing is.
func errState(param string) error {
	return refuse(http.StatusBadRequest, "previous_response_not_found", param, "what %q names was not found: the test provider keeps no state", param)
}

func errModel(id string) error {
	return refuse(http.StatusNotFound, "model_not_found", "model", "the model %q does not exist", id)
}

func errURL(method, path string) error {
	return refuse(http.StatusNotFound, "", "", "invalid URL (%s %s)", method, path)
}

func errMethod(method, path string) error {
	return refuse(http.StatusMethodNotAllowed, "method_not_allowed", "", "method %q is not allowed on %q", method, path)
}

func errTooLarge(limit int) error {
	return refuse(http.StatusRequestEntityTooLarge, "request_too_large", "", "the body is longer than %d bytes", limit)
}

func errFails(id string) error {
	return &apiError{status: http.StatusInternalServerError, kind: "server_error", message: fmt.Sprintf("the model %q always fails", id)}
}

// refuseField refuses a field as the Messages API does, which has no param.
func refuseField(path, why string) error {
	return refuse(http.StatusBadRequest, "", "", "%s: %s", path, why)
}

// messagesErrors are Anthropic's types of errors by status.
var messagesErrors = map[int]string{
	http.StatusUnauthorized: "authentication_error", http.StatusPaymentRequired: "billing_error",
	http.StatusForbidden: "permission_error", http.StatusNotFound: "not_found_error", http.StatusConflict: "conflict_error",
	http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
	http.StatusServiceUnavailable: "overloaded_error", http.StatusGatewayTimeout: "timeout_error", 529: "overloaded_error",
}

// MessagesError is Anthropic's body of an error.
func MessagesError(status int, message, requestID string) Object {
	kind, ok := messagesErrors[status]
	switch {
	case ok:
	case status >= 500:
		kind = "api_error"
	default:
		kind = "invalid_request_error"
	}
	return Object{{"type", "error"}, {"error", Object{{"type", kind}, {"message", message}}}, {"request_id", requestID}}
}
