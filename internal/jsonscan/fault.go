package jsonscan

// fault is why a scan stopped. It is a number on the hot path, and a text only in a [SyntaxError].
type fault uint8

const (
	ok fault = iota
	faultEnd
	faultCharacter
	faultNotObject
	faultTrailing
	faultBOM
	faultLiteral
	faultNumber
	faultControl
	faultEscape
	faultUTF8
	faultDepth
	faultMembers
	faultKeys
	faultKeyLong
	faultKeyEscaped
	faultKeyNonASCII
	faultKeyRepeated
)

var faultText = [...]string{
	ok:               "",
	faultEnd:         "unexpected end",
	faultCharacter:   "unexpected character",
	faultNotObject:   "not an object",
	faultTrailing:    "trailing data",
	faultBOM:         "byte order mark",
	faultLiteral:     "invalid literal",
	faultNumber:      "invalid number",
	faultControl:     "control character in string",
	faultEscape:      "invalid escape",
	faultUTF8:        "invalid UTF-8",
	faultDepth:       "nesting too deep",
	faultMembers:     "too many members",
	faultKeys:        "too many keys",
	faultKeyLong:     "key too long",
	faultKeyEscaped:  "escaped key",
	faultKeyNonASCII: "non-ASCII key",
	faultKeyRepeated: "duplicate key",
}

func (f fault) String() string { return faultText[f] }

// ofKey reports whether the fault lies in one key.
func (f fault) ofKey() bool { return f >= faultKeyLong }
