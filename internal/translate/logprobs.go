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
				r.token(span.Value(list), true)
			}
		}
		return
	}
}

// token appends one token with the keys that SDKs require.
func (r *reader) token(object []byte, alternatives bool) {
	token, logprob, bytes, top := []byte(`""`), []byte("0"), []byte("[]"), []byte(nil)
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
	if n := len(r.tokens); n > 0 && r.tokens[n-1] == '}' {
		r.tokens = append(r.tokens, ',')
	}
	r.tokens = append(append(r.tokens, `{"token":`...), token...)
	r.tokens = append(append(r.tokens, `,"logprob":`...), logprob...)
	r.tokens = append(append(r.tokens, `,"bytes":`...), bytes...)
	if alternatives {
		r.tokens = append(r.tokens, `,"top_logprobs":[`...)
		for _, span := range jsonscan.Elements(top, nil) {
			if span.Kind == '{' {
				r.token(span.Value(top), false)
			}
		}
		r.tokens = append(r.tokens, ']')
	}
	r.tokens = append(r.tokens, '}')
}
