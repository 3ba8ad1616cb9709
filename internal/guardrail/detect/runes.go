package detect

import "unicode/utf8"

// highBits has the highest bit of each of eight bytes, which ASCII characters do not have.
const highBits = 0x8080808080808080

// runeCount is utf8.RuneCountInString, faster where the text is ASCII.
func runeCount(text string) (n int) {
	for at := 0; ; {
		for at+32 <= len(text) && (load(text, at)|load(text, at+8)|load(text, at+16)|load(text, at+24))&highBits == 0 {
			at, n = at+32, n+32
		}
		for at+8 <= len(text) && load(text, at)&highBits == 0 {
			at, n = at+8, n+8
		}
		if at == len(text) {
			return n
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at, n = at+size, n+1
	}
}

// load returns the eight bytes at an index.
func load(text string, at int) uint64 {
	b := text[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
