package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// String decodes a JSON string, given with its quotes. It is false for anything else. A surrogate
// escape without its other half becomes U+FFFD, as in encoding/json.
func String(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if end, f := text(value, 1); f != ok || end != len(value) {
		return "", false
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	var short [256]byte
	return string(AppendText(short[:0], inner)), true
}

// AppendText appends the text of a valid JSON string, which is given without its quotes.
func AppendText(dst, inner []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(inner))[:n+len(inner)] // a text is not longer than its string
	for i := 0; i < len(inner); {
		// Eight bytes are copied at once. Those behind a backslash are overwritten.
		if i+8 <= len(inner) {
			x := binary.LittleEndian.Uint64(inner[i:])
			binary.LittleEndian.PutUint64(dst[n:], x)
			x ^= everyBackslash
			plain := bits.TrailingZeros64((x-everyOne)&^x&everyHigh) / 8
			if i, n = i+plain, n+plain; plain == 8 {
				continue
			}
		}
		c := inner[i]
		i++
		if c == '\\' {
			c = unescaped[inner[i]]
			if i++; c == 0 {
				var r rune
				r, i = decodeUnicode(inner, i)
				n += utf8.EncodeRune(dst[n:], r)
				continue
			}
		}
		dst[n] = c
		n++
	}
	return dst[:n]
}

// unescaped are the characters of the short escapes (RFC 8259 section 7).
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// decodeUnicode decodes the escape whose four digits are at i, and a second one that makes a
// surrogate pair with it. It returns the index behind them.
func decodeUnicode(inner []byte, i int) (r rune, end int) {
	r, _ = hex4(inner[i : i+4])
	if i += 4; !utf16.IsSurrogate(r) {
		return r, i
	}
	low := rune(-1)
	if i+6 <= len(inner) && inner[i] == '\\' && inner[i+1] == 'u' {
		low, _ = hex4(inner[i+2 : i+6])
	}
	// Only a true pair takes the second escape with it.
	if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
		i += 6
	}
	return r, i
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string with its quotes. It escapes what RFC 8259 section 7
// requires, and U+2028 and U+2029; bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				dst = append(dst, s[done:i]...)
				dst = append(dst, "\ufffd"...)
				done = i + 1
			case r == '\u2028' || r == '\u2029': // some readers of lines take them for the end of one
				dst = append(dst, s[done:i]...)
				dst = append(dst, '\\', 'u', '2', '0', '2', hexDigits[r&15])
				done = i + n
			}
			i += n
			continue
		}
		i++
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[done:i-1]...)
		done = i
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[done:]...)
	return append(dst, '"')
}
