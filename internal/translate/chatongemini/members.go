package chatongemini

import "github.com/gatehouse-proxy/gatehouse/internal/jsonscan"

// member returns the value of a member of an object, nil if it is absent or null.
func member(object []byte, key string) (value []byte) {
	for m := range jsonscan.AllMembers(object) {
		if m.Kind != 'n' && string(m.DecodedKey(object)) == key {
			value = m.Value(object)
		}
	}
	return value
}

// textOf returns a member that is a text, decoded, "" for none.
func textOf(object []byte, key string) string {
	text, _ := jsonscan.String(member(object, key))
	return text
}

// countOf returns a member that is a whole number of at least 0, 0 for none.
func countOf(object []byte, key string) int64 {
	n, _ := jsonscan.Int(member(object, key))
	return max(n, 0)
}

// each calls f for each element of an array that is an object.
func each(array []byte, f func(element []byte)) {
	for span := range jsonscan.AllElements(array) {
		if span.Kind == '{' {
			f(span.Value(array))
		}
	}
}
