package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// StringEnd returns the index behind the string whose opening quote is at i. It is false if there
// is no string, or one that [Lenient] would refuse.
func StringEnd(data []byte, i int) (int, bool) {
	if i >= len(data) || data[i] != '"' {
		return i, false
	}
	end, f := text(data, i+1)
	return end, f == ok
}

// text checks a string, i being behind its opening quote, and returns the index behind its closing
// quote or that of the fault.
func text(data []byte, i int) (int, fault) {
	after := longAfter()
	long := i + after
	for {
		if i >= long {
			if vectors {
				i = scan(data, i)
			} else {
				i = bulk(data, i)
			}
			long = i + after
		}
		if i+8 <= len(data) {
			m := marks(binary.LittleEndian.Uint64(data[i:]))
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) / 8
		} else if i = plain(data, i); i >= len(data) {
			return len(data), faultEnd
		}
		var f fault
		switch c := data[i]; {
		case c == '"':
			return i + 1, ok
		case c == '\\':
			if i+1 < len(data) && isShort[data[i+1]] {
				i += 2
			} else if i, f = escape(data, i); f != ok {
				return i, f
			}
		case c >= utf8.RuneSelf:
			if i, f = wide(data, i); f != ok {
				return i, f
			}
		default:
			return i, faultControl
		}
		if !vectors { // bulk pays in plain text only
			long = i + after
		}
	}
}

// longAfter returns after how many bytes a string counts as long.
func longAfter() int {
	if vectors {
		return vectorsAfter
	}
	return bulkAfter
}

// In plain text, eight bytes are tested at a time. A byte is of interest if it is a quote, a
// backslash, below 0x20 or above 0x7f. A subtraction borrows from the next byte only at a byte of
// interest, so the lowest mark is always correct.
const (
	everyHigh      = 0x8080808080808080
	everyOne       = 0x0101010101010101
	everyTwo       = 0x0202020202020202
	everySpace     = 0x2020202020202020
	every21        = 0x2121212121212121
	everyBackslash = 0x5c5c5c5c5c5c5c5c
	everyQuote     = 0x2222222222222222

	// Bulk search begins after so many bytes without one of interest: earlier, its start costs more
	// than it saves.
	bulkAfter = 256
	// It looks ahead by at most as much as it has passed already, so that text with many escapes is
	// not searched again and again, and by no more than stays in the first-level cache for its
	// three searches.
	bulkMax = 8 << 10

	// With vectors, all text behind so many bytes of a string is scanned by them; a call for less
	// costs more than it saves.
	vectorsAfter = 64

	// So many words of pure ASCII end a stretch of wide text. With fewer, text in an accented
	// language would change between the two loops at every other word.
	wideWords = 4
)

// plain returns the index of the next quote, backslash, control byte or non-ASCII byte, len(data)
// if there is none.
func plain(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		if m := marks(binary.LittleEndian.Uint64(data[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(data) && data[i] >= ' ' && data[i] != '"' && data[i] != '\\' && data[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// marks sets the high bit of the bytes of interest, exact up to the lowest. Flipping bit 1 moves
// the quote (0x22) to 0x20, next to the control bytes, so that one subtraction finds both.
func marks(x uint64) uint64 {
	return (((x ^ everyTwo) - every21) | ((x ^ everyBackslash) - everyOne) | x) & everyHigh
}

// marksWide is marks without the bytes above 0x7f.
func marksWide(x uint64) uint64 {
	return (((x ^ everyTwo) - every21) | ((x ^ everyBackslash) - everyOne)) &^ x & everyHigh
}

// bulk is plain for long stretches: the search for one byte uses vector instructions, and little is
// left to check.
func bulk(data []byte, i int) int {
	for size := 2 * bulkAfter; ; size = min(2*size, bulkMax) {
		ahead := data[i:min(i+size, len(data))]
		n := len(ahead)
		if q := bytes.IndexByte(ahead, '"'); q >= 0 {
			n = q
		}
		if e := bytes.IndexByte(ahead[:n], '\\'); e >= 0 {
			n = e
		}
		n = printable(ahead[:n])
		if i += n; n < size {
			return i
		}
	}
}

// printable returns the length of the prefix of text without control bytes and bytes above 0x7f.
func printable(text []byte) int {
	rest := text
	for len(rest) >= 64 {
		b := (*[64]byte)(rest)
		x0 := binary.LittleEndian.Uint64(b[0:])
		x1 := binary.LittleEndian.Uint64(b[8:])
		x2 := binary.LittleEndian.Uint64(b[16:])
		x3 := binary.LittleEndian.Uint64(b[24:])
		x4 := binary.LittleEndian.Uint64(b[32:])
		x5 := binary.LittleEndian.Uint64(b[40:])
		x6 := binary.LittleEndian.Uint64(b[48:])
		x7 := binary.LittleEndian.Uint64(b[56:])
		below := (x0 - everySpace) | (x1 - everySpace) | (x2 - everySpace) | (x3 - everySpace) |
			(x4 - everySpace) | (x5 - everySpace) | (x6 - everySpace) | (x7 - everySpace)
		if (below|x0|x1|x2|x3|x4|x5|x6|x7)&everyHigh != 0 {
			break
		}
		rest = rest[64:]
	}
	for i, c := range rest {
		if c < ' ' || c >= utf8.RuneSelf {
			return len(text) - len(rest) + i
		}
	}
	return len(text)
}

// wide checks the UTF-8 of text from the non-ASCII byte at i. It ends at an ASCII byte that plain
// would stop at, or where the text has been ASCII for wideWords.
func wide(data []byte, i int) (int, fault) {
	start, end := i, len(data)
	if vectors {
		end = min(end, i+vectorsAfter)
	}
	for ascii := 0; ascii < wideWords && i < end; {
		if i+8 > len(data) {
			for i < len(data) && data[i] >= ' ' && data[i] != '"' && data[i] != '\\' {
				i++
			}
			break
		}
		x := binary.LittleEndian.Uint64(data[i:])
		if m := marksWide(x); m != 0 {
			i += bits.TrailingZeros64(m) / 8
			break
		}
		i += 8
		if ascii++; x&everyHigh != 0 {
			ascii = 0
		}
	}
	for n := 1; n < utf8.UTFMax && i < len(data) && !utf8.RuneStart(data[i]); n++ {
		i++ // to the end of a character at the bound
	}
	if stretch := data[start:i]; !utf8.Valid(stretch) {
		return start + validUTF8(stretch), faultUTF8
	}
	return i, ok
}

// validUTF8 returns the length of the longest prefix of text that is UTF-8.
func validUTF8(text []byte) int {
	i := 0
	for i < len(text) {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return i
}

// isShort are the bytes that may follow a backslash, but u.
var isShort = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escape checks the escape at i and returns the index behind it.
func escape(data []byte, i int) (int, fault) {
	if i+1 >= len(data) {
		return len(data), faultEnd
	}
	if isShort[data[i+1]] {
		return i + 2, ok
	}
	if data[i+1] == 'u' {
		if i+6 > len(data) {
			return len(data), faultEnd
		}
		if _, good := hex4(data[i+2 : i+6]); good {
			return i + 6, ok
		}
	}
	return i, faultEscape
}

// hex4 reads the four digits of a \u escape.
func hex4(digits []byte) (r rune, good bool) {
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
