package jsonscan

import (
	"bytes"
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
	return string(appendDecoded(make([]byte, 0, len(inner)), inner)), true
}

// appendDecoded appends the text of a valid string, given without its quotes.
func appendDecoded(dst, inner []byte) []byte {
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 {
			return append(dst, inner...)
		}
		dst = append(dst, inner[:i]...)
		c := inner[i+1]
		inner = inner[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, _ := hex4(inner[:4])
			inner = inner[4:]
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(inner) >= 6 && inner[0] == '\\' && inner[1] == 'u' {
					low, _ = hex4(inner[2:6])
				}
				// Only a true pair takes the second escape with it.
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					inner = inner[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, c)
	}
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string with its quotes. It escapes only what RFC 8259 section 7
// requires; bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[done:i]...)
				dst = append(dst, "\ufffd"...)
				done = i + 1
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
