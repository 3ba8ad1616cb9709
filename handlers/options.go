package handlers

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// Query reads the query of the request's URL. A malformed one is refused, because net/url drops
// what it cannot read: a filter that is lost that way would show what was not asked for.
func (x *Request) Query() (url.Values, error) {
	q, err := url.ParseQuery(x.HTTP.URL.RawQuery)
	if err != nil {
		return nil, apierror.New(apierror.InvalidValue, "the query of the URL is malformed: %v", err)
	}
	return q, nil
}

// StrictQuery is Query for a route that has these parameters only. Another one is refused by name:
// it may be a filter that is spelt wrongly. Lists of models are not strict, for clients send
// parameters of their own there (Codex its version, OpenRouter's SDKs many filters).
func (x *Request) StrictQuery(known ...string) (url.Values, error) {
	q, err := x.Query()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if slices.Contains(known, name) {
			continue
		}
		name = name[:min(len(name), maxParamName)]
		hint := "this route takes none"
		if len(known) > 0 {
			hint = "this route takes " + strings.Join(known, ", ")
		}
		return nil, apierror.New(apierror.UnsupportedParameter, "unknown parameter %q; %s", name, hint).WithParam(name)
	}
	return q, nil
}

// maxParamName bounds what a refusal repeats of a parameter's name, in bytes.
const maxParamName = 64

// maxOptions bounds the body of a request that is not a model call, in bytes.
const maxOptions = 64 << 10

// ReadOptions reads a body that may be missing: an object, each member of which read takes. Read
// returns false for a name that it does not know, which is refused.
func (x *Request) ReadOptions(read func(name string, value []byte) (known bool, err error)) error {
	return x.ReadObject(maxOptions, read)
}

// ReadObject is ReadOptions for a body of at most so many bytes.
func (x *Request) ReadObject(most int64, read func(name string, value []byte) (known bool, err error)) error {
	return x.Req.ReadObject(most, func(name string, value []byte) error {
		known, err := read(name, value)
		if err == nil && !known {
			err = apierror.New(apierror.UnsupportedParameter, "unknown field %q", name).WithParam(name)
		}
		return err
	})
}

// Option reads one value, which want describes. Null leaves dst as it is; a value of another type
// is refused.
func Option[T any](name string, value []byte, dst *T, want string) (bool, error) {
	if string(value) == "null" {
		return true, nil
	}
	if err := json.Unmarshal(value, dst); err != nil {
		return true, apierror.New(apierror.InvalidValue, "%s: want %s", name, want).WithParam(name)
	}
	return true, nil
}

// sessionRules reads the session rules of a request. Null leaves dst as it is.
func sessionRules(value []byte, dst *desktop.SessionRules) (known bool, err error) {
	if string(value) != "null" {
		*dst, err = desktop.ParseSessionRules(value)
	}
	return true, err
}
