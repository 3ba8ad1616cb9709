package toresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// sink takes what a response says, in the order in which it says it: as the
// chunks of a stream, or gathered for a whole completion. Texts are JSON
// without quotes, ids and names with them.
type sink interface {
	// begin comes before anything else, once; content tells that text is
	// what comes first.
	begin(content bool)
	text(piece, logprobs []byte)
	refusal(piece []byte)
	think(piece []byte)
	annotate(annotation []byte)
	// call begins tool call n, which counts from 0.
	call(n int, custom bool, id, name []byte)
	argue(n int, custom bool, piece []byte)
}

// gathered is the message of a whole completion.
type gathered struct {
	content, refused, thought []byte // JSON without quotes
	hasContent, hasRefusal    bool
	annotations, tokens       []byte // elements
	calls                     []gatheredCall
}

type gatheredCall struct {
	custom   bool
	id, name []byte
	argument []byte // JSON without quotes
}

func (g *gathered) begin(bool) {}

func (g *gathered) text(piece, logprobs []byte) {
	g.hasContent = true
	g.content = append(g.content, piece...)
	if len(logprobs) > 0 {
		if len(g.tokens) > 0 {
			g.tokens = append(g.tokens, ',')
		}
		g.tokens = append(g.tokens, logprobs...)
	}
}

func (g *gathered) refusal(piece []byte) {
	g.hasRefusal = true
	g.refused = append(g.refused, piece...)
}

func (g *gathered) think(piece []byte) { g.thought = append(g.thought, piece...) }

func (g *gathered) annotate(annotation []byte) {
	if len(g.annotations) > 0 {
		g.annotations = append(g.annotations, ',')
	}
	g.annotations = append(g.annotations, annotation...)
}

func (g *gathered) call(_ int, custom bool, id, name []byte) {
	g.calls = append(g.calls, gatheredCall{custom: custom, id: id, name: name})
}

func (g *gathered) argue(n int, _ bool, piece []byte) {
	g.calls[n].argument = append(g.calls[n].argument, piece...)
}

// append appends the choice that the message is.
func (g *gathered) append(dst []byte, finish string) []byte {
	dst = append(dst, `{"index":0,"message":{"role":"assistant","content":`...)
	dst = appendQuoted(dst, g.content, g.hasContent || !g.hasRefusal && len(g.calls) == 0)
	dst = append(dst, `,"refusal":`...)
	dst = appendQuoted(dst, g.refused, g.hasRefusal)
	if len(g.thought) > 0 {
		dst = append(dst, `,"reasoning_content":`...)
		dst = appendQuoted(dst, g.thought, true)
	}
	if len(g.annotations) > 0 {
		dst = append(dst, `,"annotations":[`...)
		dst = append(dst, g.annotations...)
		dst = append(dst, ']')
	}
	for i, call := range g.calls {
		if i == 0 {
			dst = append(dst, `,"tool_calls":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendCall(dst, call.custom, call.id, call.name, call.argument)
		dst = append(dst, '}')
	}
	if len(g.calls) > 0 {
		dst = append(dst, ']')
	}
	dst = append(dst, `},"logprobs":`...)
	dst = appendLogprobs(dst, g.tokens)
	dst = append(dst, `,"finish_reason":"`...)
	dst = append(dst, finish...)
	return append(dst, `"}`...)
}

// appendQuoted appends text, or null where there is none.
func appendQuoted(dst, text []byte, has bool) []byte {
	if !has {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

// appendCall appends the members of a tool call. A missing id is left out.
func appendCall(dst []byte, custom bool, id, name, argument []byte) []byte {
	if id != nil {
		dst = translate.AppendMember(dst, "id", id)
		dst = append(dst, ',')
	}
	if custom {
		dst = append(dst, `"type":"custom","custom":{"name":`...)
		dst = append(dst, name...)
		dst = append(dst, `,"input":"`...)
	} else {
		dst = append(dst, `"type":"function","function":{"name":`...)
		dst = append(dst, name...)
		dst = append(dst, `,"arguments":"`...)
	}
	dst = append(dst, argument...)
	return append(dst, `"}`...)
}

// appendLogprobs appends the logprobs of a choice.
func appendLogprobs(dst, tokens []byte) []byte {
	if len(tokens) == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"content":[`...)
	dst = append(dst, tokens...)
	return append(dst, `],"refusal":null}`...)
}
