package translate

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Missing refuses a request without a required field.
func Missing(param string) *apierror.Error {
	return apierror.New(apierror.MissingParameter, "missing required parameter: %q", param).WithParam(param)
}

// Invalid refuses a field that is not of the kind it must be, such as "a string".
func Invalid(param, kind string) *apierror.Error {
	return apierror.New(apierror.InvalidValue, "%q must be %s", param, kind).WithParam(param)
}

// Unsupported refuses a field without a counterpart.
func Unsupported(param string) *apierror.Error {
	return apierror.New(apierror.UnsupportedParameter, "%q is not supported: the provider of this model has another API, which has no such field", param).WithParam(param)
}

// UnsupportedValue refuses one value of a field.
func UnsupportedValue(param, value string) *apierror.Error {
	return apierror.New(apierror.UnsupportedParameter, "%q cannot be %q: the provider of this model has another API, which has no such value", param, Shorten(value)).WithParam(param)
}

// UnsupportedType refuses an object by its type, "" if it has none.
func UnsupportedType(o Object, typ string) *apierror.Error {
	if typ == "" {
		return Missing(o.Param("type"))
	}
	return UnsupportedValue(o.Param("type"), typ)
}

// maxQuoted bounds how many bytes of a caller's value an error text repeats.
const maxQuoted = 64

// Shorten returns the beginning of a caller's value, for an error text.
func Shorten(s string) string {
	if len(s) > maxQuoted {
		s = strings.ToValidUTF8(s[:maxQuoted], "")
	}
	return s
}

// ProviderFailure is the failure of a provider whose answer cannot be used. The reason follows the
// provider's name: "answered with too many items".
func ProviderFailure(call *openai.Call, reason string) *apierror.Error {
	e := apierror.New(apierror.UpstreamError, "provider %q %s", call.Provider, reason)
	e.Provider = call.Provider
	return e
}
