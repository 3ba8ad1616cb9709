package apierror

import "net/http"

// googleStatuses are the words of Google's APIs for statuses (google.rpc.Code).
var googleStatuses = map[int]string{
	http.StatusBadRequest:                   "INVALID_ARGUMENT",
	http.StatusUnauthorized:                 "UNAUTHENTICATED",
	http.StatusPaymentRequired:              "RESOURCE_EXHAUSTED",
	http.StatusForbidden:                    "PERMISSION_DENIED",
	http.StatusNotFound:                     "NOT_FOUND",
	http.StatusMethodNotAllowed:             "UNIMPLEMENTED",
	http.StatusConflict:                     "ABORTED",
	http.StatusPreconditionFailed:           "FAILED_PRECONDITION",
	http.StatusRequestEntityTooLarge:        "INVALID_ARGUMENT",
	http.StatusUnsupportedMediaType:         "INVALID_ARGUMENT",
	http.StatusRequestedRangeNotSatisfiable: "OUT_OF_RANGE",
	http.StatusUnprocessableEntity:          "INVALID_ARGUMENT",
	http.StatusUpgradeRequired:              "UNIMPLEMENTED",
	http.StatusTooManyRequests:              "RESOURCE_EXHAUSTED",
	http.StatusInternalServerError:          "INTERNAL",
	http.StatusBadGateway:                   "UNAVAILABLE",
	http.StatusServiceUnavailable:           "UNAVAILABLE",
}

// GoogleStatus is `error.status` of Google's API.
func (e *Error) GoogleStatus() string {
	if status := googleStatuses[e.HTTPStatus()]; status != "" {
		return status
	}
	return "UNKNOWN"
}
