package chatonmessages

import (
	"bytes"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// reader reads the content of an answer from the events of a stream or from the blocks of a whole
// message, and gives each piece to a writer once.
type reader struct {
	call     *openai.Call
	original *Original
	to       completion.Writer
	thoughts completion.Thoughts

	blocks     []block
	parts      int // blocks, and citations in them
	held       int // bytes that are kept of them
	calls      int
	characters int64 // of the texts so far, if the answer may cite
	done       bool  // message_stop has come
	repeated   *block

	usage  anthropic.Usage
	reason []byte // stop_reason, quoted; nil for none
	why    []byte // the explanation of a refusal, JSON without quotes
}

// checkSize fails an answer of which more is kept than any should need.
func (r *reader) checkSize() *apierror.Error { return translate.CheckSize(r.call, r.parts, r.held) }

// start takes the start of a block, or a whole one.
func (r *reader) start(index int64, o openai.Object) *apierror.Error {
	kind, ok := kindOf(o.Get("type"))
	if !ok {
		return translate.ProviderFailure(r.call, "answered with a content block of a type that is not known")
	}
	if b := r.find(index, kind); b != nil && b.index == index {
		r.stop(b, false) // the provider forgot to
	}
	if kind == callBlock {
		return r.startCall(index, o)
	}
	b := r.add(index, kind)
	switch kind {
	case textBlock:
		r.text(b, o.Get("text"))
		citations := o.Get("citations")
		for span := range jsonscan.AllElements(citations) {
			r.cite(b, span.Value(citations))
		}
	case thinkingBlock:
		r.thought(b, o.Get("thinking"))
		r.sign(b, o.Get("signature"))
	case redactedBlock:
		if data := o.Text("data"); data != nil && !r.original.hideReasoning {
			r.to.Begin(false)
			r.call.ReportSealed(data)
			r.thoughts.Redacted(b.n, data)
		}
	}
	return r.checkSize()
}

// startCall begins a tool call. If another has the same id, the family makes up an id for this one:
// the caller could not distinguish their results.
func (r *reader) startCall(index int64, o openai.Object) *apierror.Error {
	id, name, input := o.Text("id"), o.Text("name"), o.Kind('{', "input", "")
	if name == nil {
		return translate.ProviderFailure(r.call, translate.NamelessCall)
	}
	if r.original.functions && r.calls > 0 {
		return translate.ProviderFailure(r.call, translate.SecondFunction)
	}
	if r.hasCall(id) {
		id = nil
	}
	b := r.add(index, callBlock)
	b.id = string(id)
	if input != nil && len(bytes.TrimSpace(input[1:len(input)-1])) > 0 {
		b.input = bytes.Clone(input)
	}
	r.held += len(id) + len(name) + len(b.input)
	r.to.Begin(false)
	r.to.BeginCall(b.n, false, bytes.Clone(id), bytes.Clone(r.original.names.Caller(name)))
	return r.checkSize()
}

// delta takes a piece of a block.
func (r *reader) delta(index int64, o *piece) *apierror.Error {
	b := (*block)(nil)
	switch string(o.typ) {
	case `"text_delta"`:
		if b = r.blockOf(index, textBlock); b != nil {
			r.text(b, o.text)
			r.repeated = b
		}
	case `"thinking_delta"`:
		if b = r.blockOf(index, thinkingBlock); b != nil {
			r.thought(b, o.text)
			r.repeated = b
		}
	case `"signature_delta"`:
		if b = r.blockOf(index, thinkingBlock); b != nil {
			r.sign(b, o.Get("signature"))
		}
	case `"citations_delta"`:
		if b = r.blockOf(index, textBlock); b != nil {
			r.cite(b, o.Get("citation"))
		}
	case `"input_json_delta"`:
		switch b = r.find(index, callBlock); {
		case b == nil:
			return translate.ProviderFailure(r.call, translate.FragmentOfNoCall)
		case b.kind == callBlock:
			r.arguments(b, o.text)
			r.repeated = b
		}
	}
	return r.checkSize()
}

// blockOf returns the block of a piece, which some servers do not announce; nil if its kind is
// another one.
func (r *reader) blockOf(index int64, kind blockKind) *block {
	b := r.find(index, kind)
	if b == nil {
		b = r.add(index, kind)
	}
	if b.kind != kind {
		return nil
	}
	return b
}

// repeat takes a piece of the block of the event before.
func (r *reader) repeat(quoted []byte) {
	switch b := r.repeated; b.kind {
	case textBlock:
		r.text(b, quoted)
	case thinkingBlock:
		r.thought(b, quoted)
	case callBlock:
		r.arguments(b, quoted)
	}
}

func (r *reader) text(b *block, quoted []byte) {
	piece, ok := translate.Unquoted(quoted)
	if !ok {
		return
	}
	r.to.Begin(true)
	if r.original.cites {
		decoded, _ := jsonscan.String(quoted)
		r.characters += int64(utf8.RuneCountInString(decoded))
	}
	if piece = b.joins.Next(piece); len(piece) > 0 {
		b.spoke = true
		r.to.Text(piece, nil)
	}
}

func (r *reader) thought(b *block, quoted []byte) {
	piece, ok := translate.Unquoted(quoted)
	if !ok || r.original.hideReasoning {
		return
	}
	r.to.Begin(false)
	if piece = b.joins.Next(piece); len(piece) > 0 {
		r.putThought(b, piece)
	}
}

func (r *reader) putThought(b *block, piece []byte) {
	first := !b.spoke
	b.spoke = true
	r.thoughts.Piece(b.n, first, piece)
}

// sign takes the signature of thoughts, which comes once and ends them.
func (r *reader) sign(b *block, quoted []byte) {
	if _, ok := translate.Unquoted(quoted); !ok || b.signed || r.original.hideReasoning {
		return
	}
	r.to.Begin(false)
	if rest := b.joins.Rest(); rest != nil {
		r.putThought(b, rest)
	}
	b.signed = true
	r.call.ReportSealed(quoted)
	r.thoughts.Signature(b.n, !b.spoke, quoted)
	b.spoke = true
}

func (r *reader) arguments(b *block, quoted []byte) {
	piece, ok := translate.Unquoted(quoted)
	if !ok {
		return
	}
	if piece = b.joins.Next(piece); len(piece) > 0 {
		b.spoke = true
		r.to.Arguments(b.n, false, piece)
	}
}

// stop ends a block. The arguments of a call that was cut off may be missing.
func (r *reader) stop(b *block, cut bool) {
	b.over = true
	if r.repeated == b {
		r.repeated = nil
	}
	rest := b.joins.Rest()
	switch b.kind {
	case textBlock:
		if rest != nil {
			r.to.Text(rest, nil)
		}
		for _, c := range b.cites {
			r.to.Citation(completion.URLCitation(c[0], c[1], b.from, r.characters))
		}
		b.cites = nil
	case thinkingBlock:
		if rest != nil {
			r.putThought(b, rest)
		}
	case callBlock:
		switch {
		case rest != nil:
			r.to.Arguments(b.n, false, rest)
		case b.spoke || cut:
		case b.input != nil:
			quoted := jsonscan.AppendString(nil, string(b.input))
			r.to.Arguments(b.n, false, quoted[1:len(quoted)-1])
		default:
			r.to.Arguments(b.n, false, []byte("{}"))
		}
		b.input = nil
	}
}
