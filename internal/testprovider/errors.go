package testprovider

import (
	"fmt"
	"net/http"
)

// apiError is a refusal as the caller reads it.
type apiError struct {
	status  int
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// errorAnswer is the body of a refusal.
type errorAnswer struct {
	Error *apiError `json:"error"`
}

func (e *apiError) Error() string { return e.Message }

// refuse returns a refusal. A code or param of "" is null.
func refuse(status int, code, param, format string, args ...any) error {
	e := &apiError{status: status, Message: fmt.Sprintf(format, args...), Type: "invalid_request_error"}
	if status >= http.StatusInternalServerError {
		e.Type = "server_error"
	}
	if param != "" {
		e.Param = &param
	}
	if code != "" {
		e.Code = &code
	}
	return e
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
