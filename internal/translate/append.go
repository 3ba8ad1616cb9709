package translate

import (
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// AppendComma appends a comma unless nothing precedes it in its object or array.
func AppendComma(dst []byte) []byte {
	if n := len(dst); n == 0 || dst[n-1] == '{' || dst[n-1] == '[' {
		return dst
	}
	return append(dst, ',')
}

// AppendMember appends a member of an object, behind a comma unless it is the first. The key must
// need no escaping.
func AppendMember(dst []byte, key string, value []byte) []byte {
	return append(AppendKey(dst, key), value...)
}

// AppendPicked appends the members of an object that have one of the keys.
func AppendPicked(dst, object []byte, keys ...string) []byte {
	for m := range jsonscan.AllMembers(object) {
		if key := string(m.DecodedKey(object)); m.Kind != 'n' && slices.Contains(keys, key) {
			dst = AppendMember(dst, key, m.Value(object))
		}
	}
	return dst
}

// AppendKey is AppendMember for a value that the caller appends.
func AppendKey(dst []byte, key string) []byte {
	return openai.AppendKey(dst, key)
}

// AppendTextMember appends a member whose value is a JSON string without its quotes.
func AppendTextMember(dst []byte, key string, text []byte) []byte {
	dst = append(AppendKey(dst, key), '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

// AppendIntMember appends a member whose value is a number.
func AppendIntMember(dst []byte, key string, n int64) []byte {
	return strconv.AppendInt(AppendKey(dst, key), n, 10)
}

// AppendList appends a member that is a list of these elements, if there are any.
func AppendList(dst []byte, key string, elements []byte) []byte {
	if len(elements) == 0 {
		return dst
	}
	return append(append(append(AppendKey(dst, key), '['), elements...), ']')
}

// AppendWithNull appends o as written, with null for those keys that it does not have.
func AppendWithNull(dst []byte, o Reader, keys ...string) []byte {
	p := jsonscan.NewPatch(o.data, o.members)
	for _, key := range keys {
		if _, ok := jsonscan.Find(o.data, o.members, key); !ok {
			p.Add(key, []byte("null"))
		}
	}
	return p.Append(dst)
}

// AppendEventType begins an event of this type, up to its other members.
func AppendEventType(dst []byte, typ string) []byte {
	dst = append(append(dst, "event: "...), typ...)
	dst = append(append(dst, "\ndata: {\"type\":\""...), typ...)
	return append(dst, '"')
}

// Written returns o as it was written.
func Written(o Reader) []byte { return o.data }
