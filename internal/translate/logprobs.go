package translate

import "github.com/gatehouse-proxy/gatehouse/internal/jsonscan"

// readLogprobs collects the log probabilities of a chunk's text in r.tokens.
// Those of a refusal have no place in a response.
func (r *reader) readLogprobs(value []byte) {
	for _, m := range r.walk(atElement, value) {
		if string(keyOf(value, m)) != "content" {
			continue
		}
		list := m.Value(value)
		for _, span := range r.list(list) {
			if span.Kind == '{' {
				r.tokens = appendToken(r.tokens, span.Value(list), "[]", true)
			}
		}
		return
	}
}

// appendToken appends one token to a list with the keys that SDKs require; none
// stands for bytes that the provider does not tell.
func appendToken(dst, object []byte, none string, alternatives bool) []byte {
	token, logprob, bytes, top := []byte(`""`), []byte("0"), []byte(none), []byte(nil)
	for _, m := range jsonscan.Members(object, nil) {
		value := m.Value(object)
		switch key := keyOf(object, m); {
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
	if n := len(dst); n > 0 && dst[n-1] == '}' {
		dst = append(dst, ',')
	}
	dst = append(append(dst, `{"token":`...), token...)
	dst = append(append(dst, `,"logprob":`...), logprob...)
	dst = append(append(dst, `,"bytes":`...), bytes...)
	if alternatives {
		dst = append(dst, `,"top_logprobs":[`...)
		for _, span := range jsonscan.Elements(top, nil) {
			if span.Kind == '{' {
				dst = appendToken(dst, span.Value(top), none, false)
			}
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
