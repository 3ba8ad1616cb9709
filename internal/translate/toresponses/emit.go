package toresponses

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// start makes the sink begin, once.
func (r *responseReader) start(content bool) {
	if !r.begun {
		r.begun = true
		r.to.begin(content)
	}
}

// whole holds back half a character at the end of a piece, which a client that
// decodes the pieces one by one could not put together.
func (it *outputItem) whole(piece []byte) []byte {
	if len(it.half) > 0 {
		piece = append(it.half, piece...)
		it.half = nil
	}
	if cut := len(piece) - translate.HalfAtEnd(piece); cut < len(piece) {
		it.half = bytes.Clone(piece[cut:])
		piece = piece[:cut]
	}
	return piece
}

// rest is what is shown of a half that stayed alone.
func (it *outputItem) rest() []byte {
	if len(it.half) == 0 {
		return nil
	}
	it.half = nil
	return []byte(`\ufffd`)
}

func (r *responseReader) sayText(it *outputItem, p *outputPart, piece, logprobs []byte) {
	p.said = true
	r.start(true)
	if piece = it.whole(piece); len(piece) > 0 || len(logprobs) > 0 {
		r.to.text(piece, logprobs)
	}
}

func (r *responseReader) sayRefusal(it *outputItem, p *outputPart, piece []byte) {
	p.said = true
	r.start(true)
	if piece = it.whole(piece); len(piece) > 0 {
		r.to.refusal(piece)
	}
}

// sayThought says reasoning. An item's own thoughts and the summary of them say
// the same: what comes first is shown, and the other is not. Parts are apart by
// an empty line.
func (r *responseReader) sayThought(it *outputItem, p *outputPart, piece []byte) {
	if r.original.mute || it.parts[0].summary != p.summary {
		return
	}
	r.start(false)
	if !p.said && r.thought {
		r.to.think([]byte(`\n\n`))
	}
	p.said, r.thought = true, true
	if piece = it.whole(piece); len(piece) > 0 {
		r.to.think(piece)
	}
}

func (r *responseReader) sayArgument(it *outputItem, piece []byte) {
	r.part(it, 0, false).said = true
	if piece = it.whole(piece); len(piece) > 0 {
		r.to.argue(it.call, it.custom, piece)
	}
}

// readTokens collects log probabilities in r.tokens, if they were asked for.
func (r *responseReader) readTokens(list []byte) []byte {
	r.tokens = r.tokens[:0]
	if r.original.logprobs && len(list) > len("[]") && list[0] == '[' {
		for _, span := range jsonscan.Elements(list, nil) {
			if span.Kind == '{' {
				r.tokens = translate.AppendToken(r.tokens, span.Value(list), "null", true)
			}
		}
	}
	return r.tokens
}
