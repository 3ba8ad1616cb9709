package detect

// lowerCase maps the letters of eight bytes of ASCII to lower case. It also maps other characters
// to one another.
const lowerCase = 0x2020202020202020

// prefixSet holds the first four bytes of strings of ASCII, in any case. It may contain others too:
// at the hash of three bytes it has a bit for each value of the lower three bits of the fourth.
//
// Few places in a text begin one of the strings. The set passes the others faster than a trie,
// because the test of a place does not wait for the one before.
type prefixSet [1 << 15]uint8

// prefixHash hashes the bytes at all places of eight: the hash of the three at place i is in the
// lower 15 bits after 8*i.
func prefixHash(eight uint64) uint64 { return eight ^ eight>>3 ^ eight>>6 }

// add adds a string of two bytes or more, in lower case.
func (p *prefixSet) add(s string) {
	eight := uint64(lowerCase)
	for i := range min(len(s), 4) {
		eight |= uint64(s[i]) << (8 * i)
	}
	switch len(s) {
	case 2: // any third byte
		for c := range uint64(256) {
			p[prefixHash(eight|c<<16)&(1<<15-1)] = 0xff
		}
	case 3:
		p[prefixHash(eight)&(1<<15-1)] = 0xff
	default:
		p[prefixHash(eight)&(1<<15-1)] |= 1 << (eight >> 24 & 7)
	}
}

// find returns the first index in text, not before at, where one of the strings may begin. At the
// last three bytes of the text one always may.
func (p *prefixSet) find(text string, at int) int {
	for ; at+8 <= len(text); at += 5 {
		x := load(text, at) | lowerCase
		h := prefixHash(x)
		if p[h&(1<<15-1)]|p[h>>8&(1<<15-1)]|p[h>>16&(1<<15-1)]|p[h>>24&(1<<15-1)]|p[h>>32&(1<<15-1)] == 0 {
			continue
		}
		for i := range 5 {
			if p[h>>(8*i)&(1<<15-1)]>>(x>>(8*i+24)&7)&1 != 0 {
				return at + i
			}
		}
	}
	for ; at+4 <= len(text); at++ {
		x := uint64(text[at]) | uint64(text[at+1])<<8 | uint64(text[at+2])<<16 | uint64(text[at+3])<<24 | lowerCase
		if p[prefixHash(x)&(1<<15-1)]>>(x>>24&7)&1 != 0 {
			break
		}
	}
	return at
}
