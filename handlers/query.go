package handlers

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// query reads the query of the request's URL. A malformed one is refused, because net/url drops
// what it cannot read: a filter that is lost that way would show what was not asked for.
func (x *exchange) query() (url.Values, error) {
	q, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return nil, apierror.New(apierror.InvalidValue, "the query of the URL is malformed: %v", err)
	}
	return q, nil
}

// strictQuery is query for a route that has these parameters only. Another one is refused by name:
// it may be a filter that is spelt wrongly. Lists of models are not strict, for clients send
// parameters of their own there (Codex its version, OpenRouter's SDKs many filters).
func (x *exchange) strictQuery(known ...string) (url.Values, error) {
	q, err := x.query()
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
