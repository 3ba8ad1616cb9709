package translate

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Inner returns the text between the quotes of a JSON string, escapes as written. It is false for
// any other value and for an empty string.
func Inner(value []byte) ([]byte, bool) {
	if len(value) <= len(`""`) || value[0] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

// AppendMember appends a member. The key must need no escaping.
func AppendMember(dst []byte, key string, value []byte) []byte {
	dst = append(dst, '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	return append(dst, value...)
}

// AppendPresent appends those members of o that have a value, each behind a comma.
func AppendPresent(dst []byte, o Object, keys ...string) []byte {
	for _, key := range keys {
		if value := o.Get(key); value != nil {
			dst = append(dst, ',')
			dst = AppendMember(dst, key, value)
		}
	}
	return dst
}

// AppendInt appends a number.
func AppendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// HalfAtEnd returns the length of the escaped high surrogate at the end of text, which is JSON
// without quotes; 0 if there is none.
func HalfAtEnd(text []byte) int {
	at := len(text) - len(`\ud800`)
	if at < 0 || text[at] != '\\' || text[at+1] != 'u' || text[at+2]|0x20 != 'd' {
		return 0
	}
	if c := text[at+3] | 0x20; c != '8' && c != '9' && c != 'a' && c != 'b' {
		return 0
	}
	before := 0
	for before < at && text[at-1-before] == '\\' {
		before++
	}
	if before%2 == 1 { // the backslash itself is escaped
		return 0
	}
	return len(text) - at
}

// AppendToken appends one token of log probabilities to a list, with the keys that SDKs require.
// none stands for the bytes of a token if the provider does not report them.
func AppendToken(dst, object []byte, none string, alternatives bool) []byte {
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
				dst = AppendToken(dst, span.Value(top), none, false)
			}
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
