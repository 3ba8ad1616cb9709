package translate

import (
	"errors"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
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

// NotTaken refuses a field, or its value, that the model of this provider does not take.
func NotTaken(param, format string, args ...any) *apierror.Error {
	return apierror.New(apierror.UnsupportedParameter, format, args...).WithParam(param)
}

// NoTools refuses a tool_choice that requires a tool in a request without tools.
func NoTools() *apierror.Error {
	return apierror.New(apierror.InvalidValue, `"tool_choice" requires a tool, but the request has none`).WithParam("tool_choice")
}

// NoSuchTool refuses a tool_choice that allows a tool which the request does not have.
func NoSuchTool(name, param string) *apierror.Error {
	return apierror.New(apierror.InvalidValue, `"tool_choice" allows the tool %q, which is not in "tools"`, Shorten(name)).WithParam(param)
}

// NoSuchCall refuses the result of a call that the conversation does not have.
func NoSuchCall(id, param string) *apierror.Error {
	return apierror.New(apierror.InvalidValue, "%q is %q, but no call before has this id", param, Shorten(id)).WithParam(param)
}

// Renamed returns a refusal with another name of its field.
func Renamed(err error, name func(param string) string) error {
	var refusal *apierror.Error
	if !errors.As(err, &refusal) || refusal.Param == "" {
		return err
	}
	renamed := *refusal
	if renamed.Param = name(refusal.Param); renamed.Param == refusal.Param {
		return err
	}
	renamed.Message = strings.ReplaceAll(refusal.Message, `"`+refusal.Param+`"`, `"`+renamed.Param+`"`)
	return &renamed
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
