package responsesonchat

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// inputReader reads the input of a custom tool out of the arguments of its function, piece by
// piece. If the arguments are no object with the input, the model wrote the input itself.
type inputReader struct {
	joins translate.Surrogates
	all   []byte // the arguments so far, until the input begins
	state inputState

	key     []byte // the last, as written
	depth   int    // in another value
	inText  bool   // a string in another value
	escaped bool   // the next character of a key or of such a string

	held []byte // an escape of the input that is not complete
	out  []byte
}

// inputState is where an inputReader is.
type inputState uint8

const (
	beforeArguments inputState = iota
	beforeKey
	inKey
	behindKey
	inOtherValue
	inInput
	behindInput
	inPlainInput // the arguments are the input
)

// next takes a piece of the arguments and returns the piece of the input in it, both JSON without
// quotes. The result is valid until the next call.
func (r *inputReader) next(piece []byte) []byte {
	r.out = r.out[:0]
	text := translate.Decoded(append(append([]byte{'"'}, r.joins.Next(piece)...), '"'))
	if r.state < inInput {
		r.all = append(r.all, text...)
	}
	for i := 0; i < len(text) && r.state != inPlainInput; i++ {
		r.take(text[i])
	}
	switch {
	case r.state != inPlainInput:
	case r.all != nil: // it is known only now
		r.plain(string(r.all))
	default:
		r.plain(text)
	}
	if r.state >= inInput {
		r.all = nil
	}
	r.out = escapeSeparators(r.out)
	return r.out
}

// whole reports whether the input came to its end.
func (r *inputReader) whole() bool { return r.state == behindInput }

// rest returns what was not returned of the input, at the end of the arguments.
func (r *inputReader) rest() []byte {
	r.out = r.out[:0]
	switch {
	case r.state == inInput && len(r.held) > 0:
		r.literal()
	case r.state < inInput && strings.TrimSpace(string(r.all)) != "{}":
		r.plain(string(r.all))
	}
	return r.out
}

func (r *inputReader) plain(text string) {
	quoted := jsonscan.AppendString(nil, text)
	r.out = append(r.out, quoted[1:len(quoted)-1]...)
}

func (r *inputReader) take(c byte) {
	switch r.state {
	case beforeArguments:
		switch c {
		case ' ', '\t', '\r', '\n':
		case '{':
			r.state = beforeKey
		case '"':
			r.state = inInput
		default:
			r.state = inPlainInput
		}
	case beforeKey:
		if c == '"' {
			r.state, r.key = inKey, r.key[:0]
		}
	case inKey:
		if r.endsText(c) {
			r.state = behindKey
		} else if len(r.key) <= len(inputParameter) {
			r.key = append(r.key, c)
		}
	case behindKey:
		switch c {
		case ' ', '\t', '\r', '\n', ':':
		case '"':
			if r.state = inOtherValue; string(r.key) == inputParameter {
				r.state = inInput
			}
			r.inText = true
		default:
			r.state = inOtherValue
			r.skip(c)
		}
	case inOtherValue:
		r.skip(c)
	case inInput:
		r.input(c)
	}
}

// endsText reports whether c ends a string.
func (r *inputReader) endsText(c byte) bool {
	switch {
	case r.escaped:
		r.escaped = false
	case c == '\\':
		r.escaped = true
	default:
		return c == '"'
	}
	return false
}

// skip passes over a value that is not the input.
func (r *inputReader) skip(c byte) {
	if r.inText {
		r.inText = !r.endsText(c)
		return
	}
	switch c {
	case '"':
		r.inText = true
	case '{', '[':
		r.depth++
	case '}', ']':
		r.depth--
	case ',':
		if r.depth <= 0 {
			r.state, r.depth = beforeKey, 0
		}
	}
}

// input takes a character of the input. Models write some that JSON does not have in a string: line
// ends, and a backslash before any character.
func (r *inputReader) input(c byte) {
	switch {
	case len(r.held) > 0:
		r.escape(c)
	case c == '\\':
		r.held = append(r.held, c)
	case c == '"':
		r.state = behindInput
	case c < ' ':
		r.plain(string(rune(c)))
	default:
		r.out = append(r.out, c)
	}
}

// escape takes a character of an escape.
func (r *inputReader) escape(c byte) {
	const unicode = len(`\uffff`)
	ok := strings.IndexByte(`"\/bfnrtu`, c) >= 0
	if len(r.held) > 1 {
		ok = strings.IndexByte("0123456789abcdefABCDEF", c) >= 0
	}
	if !ok {
		r.literal()
		r.input(c)
		return
	}
	if r.held = append(r.held, c); r.held[1] != 'u' || len(r.held) == unicode {
		r.out, r.held = append(r.out, r.held...), r.held[:0]
	}
}

// literal writes what was held as characters of their own.
func (r *inputReader) literal() {
	r.out = append(append(r.out, '\\'), r.held...)
	r.held = r.held[:0]
}
