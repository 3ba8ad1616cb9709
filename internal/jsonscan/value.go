package jsonscan

// space returns the index of the first byte at or after i that is no JSON
// white space.
func space(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

// key scans a member's key at i, its colon and the white space around it. It
// returns the index of the value and that of the key's closing quote.
func key(data []byte, i int) (next, end int, f fault) {
	if i >= len(data) {
		return i, 0, faultEnd
	}
	if data[i] != '"' {
		return i, 0, faultCharacter
	}
	if i, f = text(data, i+1); f != ok {
		return i, 0, f
	}
	end = i - 1
	if i = space(data, i); i == len(data) {
		return i, 0, faultEnd
	}
	if data[i] != ':' {
		return i, 0, faultCharacter
	}
	return space(data, i+1), end, ok
}

// skip checks the value at i, which lies depth levels down, and returns the
// index behind it or that of the fault. It is a loop with one bit a level
// instead of a recursion: the caller's nesting must not size our stack.
func skip(data []byte, i, depth int) (int, fault) {
	var inArray [MaxDepth/64 + 1]uint64
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
			if i, _, f = key(data, i); f != ok {
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
			array := inArray[depth/64]>>(depth%64)&1 != 0
			c := data[i]
			if c == ',' {
				i = space(data, i+1)
				if !array {
					if i, _, f = key(data, i); f != ok {
						return i, f
					}
				}
				break
			}
			if array && c != ']' || !array && c != '}' {
				return i, faultCharacter
			}
			i, depth = i+1, depth-1
		}
	}
}

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
