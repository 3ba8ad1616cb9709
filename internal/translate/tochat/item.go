package tochat

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// kind is a kind of output item.
type kind uint8

const (
	reasoning kind = iota
	message
	functionCall
)

// prefixes are those of the items' ids, by kind.
var prefixes = [...]string{reasoning: "rs", message: "msg", functionCall: "fc"}

const (
	inProgress = "in_progress"
	completed  = "completed"
	incomplete = "incomplete"
	failed     = "failed"
)

// item is an output item of the answer.
type item struct {
	kind   kind
	index  int // in the output
	id     []byte
	status string
	parts  []part // one for a summary, and one that holds a call's arguments

	// Of a function call, quoted:
	callID, name []byte
}

// part is what an item's text stands in.
type part struct {
	refusal     bool
	text        []byte // JSON without quotes
	half        []byte // the escape of half a character, waiting for the other
	annotations []byte // elements
	annotated   int    // how many
	logprobs    []byte // elements
}

// last is the part that is open, nil if there is none.
func (it *item) last() *part {
	if len(it.parts) == 0 {
		return nil
	}
	return &it.parts[len(it.parts)-1]
}

// append appends the item as it is: with what has come of it.
func (it *item) append(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = append(dst, it.id...)
	switch it.kind {
	case reasoning:
		dst = append(dst, `,"type":"reasoning","summary":[`...)
	case message:
		dst = append(dst, `,"type":"message","role":"assistant","content":[`...)
	case functionCall:
		dst = append(dst, `,"type":"function_call","call_id":`...)
		dst = append(dst, it.callID...)
		dst = append(dst, `,"name":`...)
		dst = append(dst, it.name...)
		dst = append(dst, `,"arguments":"`...)
		dst = append(dst, it.parts[0].text...)
		dst = append(dst, '"')
	}
	if it.kind != functionCall {
		for i := range it.parts {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = it.parts[i].append(dst, it.kind)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `,"status":"`...)
	dst = append(dst, it.status...)
	return append(dst, `"}`...)
}

func (p *part) append(dst []byte, k kind) []byte {
	switch {
	case k == reasoning:
		dst = append(dst, `{"type":"summary_text","text":"`...)
	case p.refusal:
		dst = append(dst, `{"type":"refusal","refusal":"`...)
	default:
		dst = append(dst, `{"type":"output_text","text":"`...)
	}
	dst = append(dst, p.text...)
	dst = append(dst, '"')
	if k == message && !p.refusal {
		dst = append(dst, `,"annotations":[`...)
		dst = append(dst, p.annotations...)
		dst = append(dst, `],"logprobs":[`...)
		dst = append(dst, p.logprobs...)
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// grow takes a piece of text, JSON without quotes, and returns what of it can
// be shown: half a surrogate pair at its end waits for the other half, because
// a client that decodes the pieces one by one cannot put it together.
func (p *part) grow(piece []byte) []byte {
	if len(p.half) > 0 {
		piece = append(p.half, piece...)
		p.half = nil
	}
	if cut := len(piece) - translate.HalfAtEnd(piece); cut < len(piece) {
		p.half = bytes.Clone(piece[cut:])
		piece = piece[:cut]
	}
	p.text = append(p.text, piece...)
	return piece
}

// rest returns what is shown of a half that stayed alone.
func (p *part) rest() []byte {
	if len(p.half) == 0 {
		return nil
	}
	p.half = nil
	p.text = append(p.text, `\ufffd`...)
	return p.text[len(p.text)-len(`\ufffd`):]
}
