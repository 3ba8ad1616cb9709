package jsonscan

import "iter"

// StrictInside is [Strict] for an object that lies inside a text that was accepted: it judges the
// keys, and does not check the grammar of the values again. The members have no [Member.Nested].
func StrictInside(object []byte, dst []Member) ([]Member, error) {
	return whole(object, dst, MaxMembers, true, inside)
}

// inside is the check of keys for a text that was accepted.
var inside = new(keyCheck)

// Inside is [AllElements] for an array that lies inside a text that was accepted: it does not check
// the grammar again.
func Inside(array []byte) iter.Seq[Span] {
	return func(yield func(Span) bool) { eachElement(array, inside, yield) }
}

// valueEnd returns the end of the valid value at i.
func valueEnd(data []byte, i int) int {
	switch data[i] {
	case '{', '[':
		return ValueEnd(data, i)
	case '"':
		return stringEnd(data, i)
	}
	for i < len(data) && !endsScalar[data[i]] {
		i++
	}
	return i
}
