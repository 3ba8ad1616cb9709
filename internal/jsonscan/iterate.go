package jsonscan

import "iter"

// AllMembers yields what [Members] collects, one by one, and keeps no memory: for values whose
// number of members the caller chooses.
func AllMembers(object []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) { eachMember(object, yield) }
}

func eachMember(object []byte, yield func(Member) bool) {
	i := space(object, 0)
	if i == len(object) || object[i] != '{' {
		return
	}
	i = space(object, i+1)
	for i < len(object) && object[i] != '}' {
		var m Member
		var f fault
		var isPlain bool
		m.KeyStart = i + 1
		if i, m.KeyEnd, isPlain, f = key(object, i); f != ok {
			return
		}
		if i, f = m.value(object, i, isPlain, nil); f != ok || !yield(m) {
			return
		}
		if i = space(object, i); i < len(object) && object[i] == ',' {
			i = space(object, i+1)
		} else if i < len(object) && object[i] != '}' {
			return
		}
	}
}

// AllElements yields what [Elements] collects, one by one, and keeps no memory.
func AllElements(array []byte) iter.Seq[Span] {
	return func(yield func(Span) bool) { eachElement(array, nil, yield) }
}

func eachElement(array []byte, check *keyCheck, yield func(Span) bool) {
	i := space(array, 0)
	if i == len(array) || array[i] != '[' {
		return
	}
	i = space(array, i+1)
	var keys KeySet
	for i < len(array) && array[i] != ']' {
		end, f := skip(array, i, 1, &keys, check)
		if f != ok || !yield(Span{Start: i, End: end, Kind: KindOf(array[i])}) {
			return
		}
		if i = space(array, end); i < len(array) && array[i] == ',' {
			i = space(array, i+1)
		} else if i < len(array) && array[i] != ']' {
			return
		}
	}
}

// Elements appends the elements of an array that lies inside a text [Strict] or [Lenient] accepted.
// The offsets count from the start of array. Anything but a valid array gives the elements before
// the fault. It has no bound but the length of the array: an element of 2 bytes costs 24 in dst.
func Elements(array []byte, dst []Span) []Span {
	for e := range AllElements(array) {
		dst = append(dst, e)
	}
	return dst
}
