package detect

// lowerCase maps the letters of four bytes of ASCII to lower case. It also maps other characters to
// one another.
const lowerCase = 0x20202020

// prefixSet holds the first four bytes of strings of ASCII, in any case. It may contain others too:
// at the hash of three bytes it has a bit for each value of the lower three bits of the fourth.
//
// Few places in a text begin one of the strings. The set passes the others faster than a trie,
// because the test of a place does not wait for the one before.
type prefixSet [1 << 15]uint8

// prefixHash hashes the lower three of four bytes.
func prefixHash(four uint32) uint32 { return (four ^ four>>3 ^ four>>6) & (1<<15 - 1) }

// add adds a string of two bytes or more, in lower case.
func (p *prefixSet) add(s string) {
	four := uint32(lowerCase)
	for i := range min(len(s), 4) {
		four |= uint32(s[i]) << (8 * i)
	}
	switch len(s) {
	case 2: // any third byte
		for c := range uint32(256) {
			p[prefixHash(four|c<<16)] = 0xff
		}
	case 3:
		p[prefixHash(four)] = 0xff
	default:
		p[prefixHash(four)] |= 1 << (four >> 24 & 7)
	}
}

// find returns the first index in text, not before at, where one of the strings may begin. At the
// last three bytes of the text one always may.
func (p *prefixSet) find(text string, at int) int {
	for ; at+4 <= len(text); at++ {
		four := uint32(text[at]) | uint32(text[at+1])<<8 | uint32(text[at+2])<<16 | uint32(text[at+3])<<24 | lowerCase
		if p[prefixHash(four)]>>(four>>24&7)&1 != 0 {
			break
		}
	}
	return at
}
