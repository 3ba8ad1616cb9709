package openrouter

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Metadata is the object openrouter_metadata: how a call was routed. Its SDKs refuse an answer whose
// object lacks one of the members that are always there here.
type Metadata struct {
	Requested string // the model in the request
	Strategy  string // of OpenRouter's: direct, alias, fallback
	Available []Endpoint
	Attempts  []RouterAttempt // in their order; the last one answered, if any did
}

// Endpoint is a model at a provider.
type Endpoint struct{ Provider, Model string }

// RouterAttempt is a request to an endpoint, and the status of the provider's answer; 0 for none.
type RouterAttempt struct {
	Endpoint
	Status int
}

// WantsMetadata reports whether a caller asks for openrouter_metadata. The second header is its
// earlier name.
func WantsMetadata(h http.Header) bool {
	for _, name := range [...]string{"X-Openrouter-Metadata", "X-Openrouter-Experimental-Metadata"} {
		if values := h[name]; len(values) > 0 && strings.EqualFold(values[0], "enabled") {
			return true
		}
	}
	return false
}

// Append appends the object. The gateway has no region and no keys of its callers.
func (m *Metadata) Append(dst []byte) []byte {
	var last Endpoint
	if n := len(m.Attempts); n > 0 {
		last = m.Attempts[n-1].Endpoint
	}
	dst = jsonscan.AppendString(append(dst, `{"requested":`...), m.Requested)
	dst = jsonscan.AppendString(append(dst, `,"strategy":`...), m.Strategy)
	dst = append(dst, `,"region":null,"summary":`...)
	summary := "available=" + strconv.Itoa(len(m.Available))
	if last != (Endpoint{}) {
		summary += ", selected=" + last.Provider
	}
	dst = jsonscan.AppendString(dst, summary)
	dst = strconv.AppendInt(append(dst, `,"attempt":`...), int64(len(m.Attempts)), 10)
	dst = strconv.AppendInt(append(dst, `,"is_byok":false,"endpoints":{"total":`...), int64(len(m.Available)), 10)
	dst = append(dst, `,"available":[`...)
	for i, e := range m.Available {
		dst = e.append(dst, i)
		dst = strconv.AppendBool(append(dst, `,"selected":`...), e == last)
		dst = append(dst, '}')
	}
	dst = append(dst, `]},"attempts":[`...)
	for i, a := range m.Attempts {
		dst = a.append(dst, i)
		dst = strconv.AppendInt(append(dst, `,"status":`...), int64(a.Status), 10)
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}

// append begins the object of element i of an array.
func (e Endpoint) append(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	dst = jsonscan.AppendString(append(dst, `{"provider":`...), e.Provider)
	return jsonscan.AppendString(append(dst, `,"model":`...), e.Model)
}
