package openai

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// AppendKey appends the key of a member, behind a comma unless it is the first of its object. It must
// need no escaping.
func AppendKey(dst []byte, key string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' && dst[n-1] != '[' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), key...), `":`...)
}

// AppendValue appends a member, none if its value is nil.
func AppendValue(dst []byte, key string, value []byte) []byte {
	if value == nil {
		return dst
	}
	return append(AppendKey(dst, key), value...)
}

// AppendText appends a member that is a text.
func AppendText(dst []byte, key, text string) []byte {
	return jsonscan.AppendString(AppendKey(dst, key), text)
}

// AppendInt appends a member that is a number.
func AppendInt(dst []byte, key string, n int64) []byte {
	return strconv.AppendInt(AppendKey(dst, key), n, 10)
}
