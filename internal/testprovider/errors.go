package testprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// apiError is a refusal as the caller reads it: OpenAI's error object with all four
// keys, "" standing for null in Param and Code.
type apiError struct {
	status                     int
	kind, code, param, message string
}

func (e *apiError) Error() string { return e.message }

// MarshalJSON writes the whole body of the answer.
func (e *apiError) MarshalJSON() ([]byte, error) {
	type object struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	return json.Marshal(map[string]object{"error": {e.message, e.kind, nullable(e.param), nullable(e.code)}})
}

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
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
