package translate

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// ProviderFailure is the failure of a provider whose answer cannot be used. The reason follows the
// provider's name.
func ProviderFailure(call *openai.Call, reason string) *apierror.Error {
	e := apierror.New(apierror.UpstreamError, "provider %q %s", call.Provider, reason)
	e.Provider = call.Provider
	return e
}

// Reasons of a ProviderFailure that all directions have.
const (
	TooManyItems     = "answered with too many items"
	TooMuchText      = "answered with too much text"
	PartNotText      = "answered with a content part that is not text"
	NamelessCall     = "answered with a tool call that has no name"
	FragmentOfNoCall = "answered with a piece of a tool call that had not begun"
)

// CheckSize fails an answer that has more items, or more text that is kept, than any should have.
func CheckSize(call *openai.Call, items, text int) *apierror.Error {
	switch {
	case items > MaxItems:
		return ProviderFailure(call, TooManyItems)
	case text > MaxText:
		return ProviderFailure(call, TooMuchText)
	}
	return nil
}

// AppendToken appends one token of log probabilities to a list, with the keys that SDKs require.
// none is the value of "bytes" if the provider does not report the bytes of a token.
func AppendToken(dst, object []byte, none string) []byte {
	return appendToken(dst, object, none, true)
}

// appendToken appends a token, with the alternatives to it or, for an alternative, without.
func appendToken(dst, object []byte, none string, alternatives bool) []byte {
	var storage [8]jsonscan.Member
	o := openai.OpenObject(object, storage[:0])
	dst = append(AppendComma(dst), '{')
	dst = AppendMember(dst, "token", o.Kind('"', "token", `""`))
	dst = AppendMember(dst, "logprob", o.Kind('0', "logprob", "0"))
	dst = AppendMember(dst, "bytes", o.Kind('[', "bytes", none))
	if alternatives {
		dst = append(dst, `,"top_logprobs":[`...)
		top := o.Get("top_logprobs")
		for span := range jsonscan.AllElements(top) {
			if span.Kind == '{' {
				dst = appendToken(dst, span.Value(top), none, false)
			}
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// Citation is the citation of a URL in an annotation. What is absent is an empty string or 0.
type Citation struct {
	Type       []byte // quoted; nil if absent
	URL, Title []byte // quoted
	Start, End []byte // numbers as written
}

// ReadCitation reads the members of a citation.
func ReadCitation(object []byte) Citation {
	var storage [8]jsonscan.Member
	o := openai.OpenObject(object, storage[:0])
	return Citation{
		Type: o.Kind('"', "type", ""), URL: o.Kind('"', "url", `""`), Title: o.Kind('"', "title", `""`),
		Start: o.Kind('0', "start_index", "0"), End: o.Kind('0', "end_index", "0"),
	}
}
