package jsonscan

import (
	"bytes"
	"math"
)

// maxExponent is the largest exponent that is distinguished: more than any text has digits, and far
// from the overflow of an int64.
const maxExponent = 1 << 40

// Int reads a JSON number that is an integer in the range of int64, in any notation: 1000, 1e3 and
// 1000.0 are equal. It is false for anything else.
func Int(value []byte) (int64, bool) {
	if len(value) == 0 {
		return 0, false
	}
	if n, simple := shortInt(value); simple {
		return n, true
	}
	if end, f := number(value, 0); f != ok || end != len(value) {
		return 0, false
	}
	negative := value[0] == '-'
	if negative {
		value = value[1:]
	}
	value, scale := cutExponent(value)
	whole, fraction, _ := bytes.Cut(value, []byte("."))
	fraction = bytes.TrimRight(fraction, "0")
	scale -= int64(len(fraction))
	if len(fraction) == 0 {
		short := bytes.TrimRight(whole, "0")
		scale += int64(len(whole) - len(short))
		whole = short
	}

	var n uint64
	for _, part := range [2][]byte{whole, fraction} {
		for _, c := range part {
			if n > (math.MaxUint64-9)/10 {
				return 0, false
			}
			n = n*10 + uint64(c-'0')
		}
	}
	if n == 0 {
		return 0, true
	}
	if scale < 0 { // the last digit is not 0, so the number has a fraction
		return 0, false
	}
	for ; scale > 0; scale-- {
		if n > math.MaxUint64/10 {
			return 0, false
		}
		n *= 10
	}
	switch {
	case negative && n <= 1<<63:
		return -int64(n), true
	case !negative && n < 1<<63:
		return int64(n), true
	}
	return 0, false
}

// shortInt reads the usual form of an integer: a few digits.
func shortInt(value []byte) (n int64, simple bool) {
	if len(value) > 18 || value[0] == '0' && len(value) > 1 {
		return 0, false
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// cutExponent splits a valid number without sign into its digits and exponent.
func cutExponent(value []byte) (digits []byte, exponent int64) {
	i := bytes.IndexAny(value, "eE")
	if i < 0 {
		return value, 0
	}
	digits, value = value[:i], value[i+1:]
	negative := value[0] == '-'
	if negative || value[0] == '+' {
		value = value[1:]
	}
	for _, c := range value {
		exponent = min(exponent*10+int64(c-'0'), maxExponent)
	}
	if negative {
		exponent = -exponent
	}
	return digits, exponent
}
