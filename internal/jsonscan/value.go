package jsonscan

// space returns the index of the first byte at or after i that is not JSON white space.
func space(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

// key scans a member's key at i, its colon and the white space around it. It returns the index of
// the value and that of the key's closing quote, and whether the key is plain: ASCII without
// escapes.
func key(data []byte, i int) (next, end int, isPlain bool, f fault) {
	if i >= len(data) {
		return i, 0, false, faultEnd
	}
	if data[i] != '"' {
		return i, 0, false, faultCharacter
	}
	end = plain(data, i+1)
	if end < len(data) && data[end] == '"' {
		i, isPlain = end+1, true
	} else {
		if i, f = text(data, end); f != ok {
			return i, 0, false, f
		}
		end = i - 1
	}
	if i = space(data, i); i == len(data) {
		return i, 0, false, faultEnd
	}
	if data[i] != ':' {
		return i, 0, false, faultCharacter
	}
	return space(data, i+1), end, isPlain, ok
}

// nestedKey is key for a member inside a value, depth levels down. It adds the key to keys.
func nestedKey(data []byte, i, depth int, keys *KeySet, check *keyCheck) (int, fault) {
	next, end, isPlain, f := key(data, i)
	if f != ok {
		return next, f
	}
	bit := strangeKey
	if isPlain {
		bit = keySet(data[i+1 : end])
	}
	*keys |= bit
	if check != nil {
		if f = check.add(data, keySpan{start: i + 1, end: end}, bit, depth); f != ok {
			return i, f
		}
	}
	return next, ok
}

// skip checks the value at i, which is depth levels down, and returns the index behind it or that
// of the fault. It adds the keys in it to keys, and has check compare them, which may be nil. It is a
// loop with one bit a level instead of a recursion, so that the caller's nesting does not size our
// stack. [Walker] is the loop for texts that this one has checked: there, every value would pay for
// a second check, and so it is not made if check is [inside].
func skip(data []byte, i, depth int, keys *KeySet, check *keyCheck) (int, fault) {
	if check == inside {
		return valueEnd(data, i), ok
	}
	var inArray levelBits
	base := depth
	for {
		if i >= len(data) {
			return i, faultEnd
		}
		var f fault
		switch c := data[i]; c {
		case '"':
			i, f = text(data, i+1)
		case '{':
			if depth++; depth > MaxDepth {
				return i, faultDepth
			}
			i = space(data, i+1)
			if i < len(data) && data[i] == '}' {
				i, depth = i+1, depth-1
				break
			}
			inArray[depth/64] &^= 1 << (depth % 64)
			if check != nil {
				check.open(data, depth, depth-1 > base && !isSet(&inArray, depth-1))
			}
			if i, f = nestedKey(data, i, depth, keys, check); f != ok {
				return i, f
			}
			continue
		case '[':
			if depth++; depth > MaxDepth {
				return i, faultDepth
			}
			i = space(data, i+1)
			if i < len(data) && data[i] == ']' {
				i, depth = i+1, depth-1
				break
			}
			inArray[depth/64] |= 1 << (depth % 64)
			if check != nil {
				check.open(data, depth, depth-1 > base && !isSet(&inArray, depth-1))
			}
			continue
		case 't':
			i, f = literal(data, i, "true")
		case 'f':
			i, f = literal(data, i, "false")
		case 'n':
			i, f = literal(data, i, "null")
		default:
			i, f = number(data, i)
		}
		if f != ok {
			return i, f
		}
		// A value has ended: close what ends with it, or go on to the next.
		for {
			if depth == base {
				return i, ok
			}
			if i = space(data, i); i >= len(data) {
				return i, faultEnd
			}
			array := isSet(&inArray, depth)
			c := data[i]
			if c == ',' {
				i = space(data, i+1)
				if !array {
					if i, f = nestedKey(data, i, depth, keys, check); f != ok {
						return i, f
					}
				}
				break
			}
			if array && c != ']' || !array && c != '}' {
				return i, faultCharacter
			}
			if check != nil {
				if f = check.close(data, depth); f != ok {
					return i, f
				}
			}
			i, depth = i+1, depth-1
		}
	}
}

// levelBits has a bit for each level.
type levelBits [MaxDepth/64 + 1]uint64

func isSet(bits *levelBits, depth int) bool { return bits[depth/64]>>(depth%64)&1 != 0 }

func literal(data []byte, i int, word string) (int, fault) {
	if len(data)-i >= len(word) && string(data[i:i+len(word)]) == word {
		return i + len(word), ok
	}
	return i, faultLiteral
}

// number checks a number at i (RFC 8259 section 6).
func number(data []byte, i int) (int, fault) {
	start := i
	if data[i] == '-' {
		i++
	}
	whole := i
	if i = digits(data, i); i == whole {
		if start == whole {
			return i, faultCharacter
		}
		return i, faultNumber
	}
	if data[whole] == '0' && i > whole+1 {
		return whole, faultNumber
	}
	if i < len(data) && data[i] == '.' {
		fraction := i + 1
		if i = digits(data, fraction); i == fraction {
			return i, faultNumber
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		exponent := i
		if i = digits(data, exponent); i == exponent {
			return i, faultNumber
		}
	}
	return i, ok
}

func digits(data []byte, i int) int {
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	return i
}
