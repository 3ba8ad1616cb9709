package jsonscan

// KeySet is an approximate set of keys, which ignores the case of ASCII letters. It may contain
// keys that were never added, but never lacks one that was.
type KeySet uint32

const (
	// strangeKey marks a key written with an escape or a non-ASCII character: a decoder may read it
	// as any other key.
	strangeKey KeySet = 1 << 31
	// walkedKeys marks a set that a walk filled: an empty one proves nothing.
	walkedKeys KeySet = 1 << 30

	keyBits = 30

	// keySpread was found by search: with it the few keys that name stored state share no bit with
	// the keys of ordinary messages.
	keySpread = 0x32f91287
)

// KeysOf returns the set of the given keys, which are plain ASCII.
func KeysOf(keys ...string) KeySet {
	var s KeySet
	for _, k := range keys {
		s |= keySet([]byte(k))
	}
	return s
}

// MayHave reports whether any of keys may be in s. It is true for the zero KeySet of a [Member]
// that no walk made.
func (s KeySet) MayHave(keys KeySet) bool {
	return s&walkedKeys == 0 || s&(keys|strangeKey) != 0
}

// keySet is the set of one plain key: one bit from its length, first and last byte. Bit 0x20 is set
// in both, which folds the case of letters.
func keySet(key []byte) KeySet {
	h := uint32(len(key)) << 16
	if len(key) > 0 {
		h |= uint32(key[0]|0x20)<<8 | uint32(key[len(key)-1]|0x20)
	}
	h = h * keySpread >> 27
	if h >= keyBits {
		h -= keyBits
	}
	return 1 << h
}
