package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// blockKind is a kind of content block.
type blockKind uint8

const (
	thinkingBlock blockKind = iota
	textBlock
	toolBlock
	redactedBlock // thinking that the caller cannot read
)

// block is a content block of the message. In a stream one block is open at a time. What belongs to
// later blocks waits.
type block struct {
	kind    blockKind
	joins   translate.Surrogates
	waiting []byte // JSON without quotes, that no event has shown; in a whole answer all of it
	begun   bool   // its first event was written
	ended   bool   // nothing follows in it

	id, name  []byte // of a tool call, quoted
	arguments []byte // all of them, JSON without quotes
	signed    translate.SignedReasoning
	nesting   nesting
}

// take adds a piece of a block.
func (b *block) take(piece []byte) {
	piece = b.joins.Next(piece)
	b.waiting = append(b.waiting, piece...)
	if b.kind == toolBlock {
		b.arguments = append(b.arguments, piece...)
		b.nesting.read(piece)
	}
}

// rest adds what replaces half a character that stayed alone.
func (b *block) rest() {
	rest := b.joins.Rest()
	b.waiting = append(b.waiting, rest...)
	if b.kind == toolBlock {
		b.arguments = append(b.arguments, rest...)
	}
}

// input returns the arguments of a call as the object that a message has, without line ends. It is
// false if they are none. Many providers send nothing, or null, for a function without parameters.
func (b *block) input() ([]byte, bool) {
	quoted := append(append([]byte{'"'}, b.arguments...), '"')
	text, ok := jsonscan.String(quoted)
	if !ok {
		return nil, false
	}
	text = compact([]byte(text))
	if text == "" || text == "null" {
		return []byte("{}"), len(b.arguments) == 0 || text == "null"
	}
	_, err := jsonscan.Lenient([]byte(text), nil)
	return []byte(text), err == nil
}

// nesting follows a JSON text in pieces of a JSON string, which end between its escapes, to see
// where its object ends.
type nesting struct {
	depth    int
	begun    bool // an object or array began
	inString bool
	escaped  bool // the next character of the text is
}

// complete reports whether the object that began has ended.
func (n *nesting) complete() bool { return n.begun && n.depth == 0 }

func (n *nesting) read(piece []byte) {
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		if c == '\\' && i+1 < len(piece) {
			i++
			switch c = piece[i]; {
			case c == 'u' && i+4 < len(piece):
				text, _ := jsonscan.String(append(append([]byte(`"\u`), piece[i+1:i+5]...), '"'))
				c, i = text[0], i+4
			case c != '"' && c != '\\':
				c = ' '
			}
		}
		switch {
		case n.escaped:
			n.escaped = false
		case n.inString:
			n.escaped, n.inString = c == '\\', c != '"'
		case c == '"':
			n.inString = true
		case c == '{' || c == '[':
			n.depth++
			n.begun = true
		case c == '}' || c == ']':
			n.depth--
		}
	}
}
