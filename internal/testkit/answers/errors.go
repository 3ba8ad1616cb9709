package answers

import "net/http"

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
