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
	token, logprob, bytes, top := []byte(`""`), []byte("0"), []byte(none), []byte(nil)
	for _, m := range jsonscan.Members(object, nil) {
		value := m.Value(object)
		switch key := m.DecodedKey(object); {
		case m.Kind == '"' && string(key) == "token":
			token = value
		case m.Kind == '0' && string(key) == "logprob":
			logprob = value
		case m.Kind == '[' && string(key) == "bytes":
			bytes = value
		case m.Kind == '[' && string(key) == "top_logprobs":
			top = value
		}
	}
	dst = append(AppendComma(dst), '{')
	dst = AppendMember(dst, "token", token)
	dst = AppendMember(dst, "logprob", logprob)
	dst = AppendMember(dst, "bytes", bytes)
	if alternatives {
		dst = append(dst, `,"top_logprobs":[`...)
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
	c := Citation{URL: []byte(`""`), Title: []byte(`""`), Start: []byte("0"), End: []byte("0")}
	var members [8]jsonscan.Member
	for _, m := range jsonscan.Members(object, members[:0]) {
		value := m.Value(object)
		switch key := m.DecodedKey(object); {
		case m.Kind == '"' && string(key) == "type":
			c.Type = value
		case m.Kind == '"' && string(key) == "url":
			c.URL = value
		case m.Kind == '"' && string(key) == "title":
			c.Title = value
		case m.Kind == '0' && string(key) == "start_index":
			c.Start = value
		case m.Kind == '0' && string(key) == "end_index":
			c.End = value
		}
	}
	return c
}
