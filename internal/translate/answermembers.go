package translate

import "github.com/gatehouse-proxy/gatehouse/internal/jsonscan"

// Member returns the value of a member of an answer's object, nil if it is absent or null. Of
// several it is the last.
func Member(object []byte, key string) (value []byte) {
	for m := range jsonscan.AllMembers(object) {
		if m.Kind != 'n' && string(m.DecodedKey(object)) == key {
			value = m.Value(object)
		}
	}
	return value
}

// TextOf returns a member that is a text, decoded, "" for none.
func TextOf(object []byte, key string) string {
	text, _ := jsonscan.String(Member(object, key))
	return text
}

// CountOf returns a member that is a whole number of at least 0, 0 for none.
func CountOf(object []byte, key string) int64 {
	n, _ := jsonscan.Int(Member(object, key))
	return max(n, 0)
}

// EachObject calls f for each element of an array that is an object.
func EachObject(array []byte, f func(element []byte)) {
	for span := range jsonscan.AllElements(array) {
		if span.Kind == '{' {
			f(span.Value(array))
		}
	}
}
