package chatonconverse

import (
	"bytes"
	"io"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// finishes are the stop reasons as chat has them. What is not here is "stop".
var finishes = map[string]string{
	"tool_use":   "tool_calls",
	"max_tokens": "length", "model_context_window_exceeded": "length",
	"guardrail_intervened": "content_filter", "content_filtered": "content_filter",
	"malformed_model_output": broken, "malformed_tool_use": broken,
}

// broken is the word for the stop reason of an answer that is none.
const broken = "error"

// reader gives the content of an answer to a writer: the events of a stream,
//
//	messageStart, contentBlockStart{contentBlockIndex, start{toolUse}}, contentBlockDelta{contentBlockIndex, delta},
//	contentBlockStop{contentBlockIndex}, messageStop{stopReason}, metadata{usage}
//
// or the blocks of a whole answer.
type reader struct {
	call     *openai.Call
	original *Original
	to       translate.Content

	thinking thinking

	begun  bool
	calls  map[int64]*toolCall // open ones, by the index of their block
	count  int                 // of calls
	reason string              // stopReason; "" before it has come
	ending completion.Ending   // with the usage that was reported
	kept   int                 // bytes that a whole answer keeps
}

// thinking is the block of thoughts that was read last.
type thinking struct {
	to    completion.Thoughts
	some  bool  // there is one
	block int64 // its index among all blocks
	n     int   // among those of thoughts
}

// toolCall is a call whose arguments may follow.
type toolCall struct {
	n    int
	some bool // it has arguments
}

func newReader(call *openai.Call, o *Original, to translate.Content, whole bool) reader {
	return reader{call: call, original: o, to: to, thinking: thinking{to: completion.NewThoughts(to, jsonscan.AppendString(nil, o.origin), whole)}}
}

// begin makes the writer begin, once.
func (r *reader) begin(text bool) {
	if !r.begun {
		r.begun = true
		r.to.Begin(text)
	}
}

// text takes a piece of text, quoted.
func (r *reader) text(quoted []byte) {
	if piece, some := translate.Unquoted(quoted); some {
		r.begin(true)
		r.to.Text(piece, nil)
		r.kept += len(piece)
	}
}

// reasoning takes thoughts, or a piece of those of a block. Thoughts that are not signed do not
// return.
func (r *reader) reasoning(index int64, object []byte) {
	data := translate.Member(object, "redactedContent")
	if whole := translate.Member(object, "reasoningText"); whole != nil {
		object = whole
	}
	text, signature := translate.Member(object, "text"), translate.Member(object, "signature")
	if r.original.hideReasoning || text == nil && signature == nil && data == nil {
		return
	}
	piece, some := translate.Unquoted(text)
	if r.kept += len(text) + len(signature) + len(data); r.original.origin == "" {
		if some {
			r.begin(false)
			r.to.Reasoning(piece, nil)
		}
		return
	}
	r.begin(false)
	t := &r.thinking
	first := !t.some || t.block != index
	if t.some, t.block = true, index; first {
		t.n = t.to.Begin()
	}
	if some {
		t.to.Piece(t.n, first, piece)
		first = false
	}
	if _, some := translate.Unquoted(signature); some {
		r.call.ReportSealed(signature)
		t.to.Signature(t.n, first, signature)
	}
	if _, some := translate.Unquoted(data); some {
		r.call.ReportSealed(data)
		t.to.Redacted(t.n, data)
	}
}

// startCall begins the call of a block.
func (r *reader) startCall(index int64, object []byte) error {
	id, name := translate.Member(object, "toolUseId"), translate.Member(object, "name")
	if _, some := translate.Unquoted(name); !some {
		return translate.ProviderFailure(r.call, translate.NamelessCall)
	}
	if r.count > 0 && bool(r.original.functions) {
		return translate.ProviderFailure(r.call, translate.SecondFunction)
	}
	if _, some := translate.Unquoted(id); !some {
		id = openai.NewCallID(r.call, r.count)
	}
	r.begin(false)
	r.to.BeginCall(r.count, false, id, r.original.names.Caller(name))
	if r.calls == nil {
		r.calls = map[int64]*toolCall{}
	}
	r.calls[index] = &toolCall{n: r.count}
	r.count++
	r.kept += len(name) + len(id)
	return nil
}

// arguments takes a piece of the arguments of a block's call, JSON without quotes.
func (r *reader) arguments(index int64, piece []byte) error {
	c := r.calls[index]
	if c == nil {
		return translate.ProviderFailure(r.call, translate.FragmentOfNoCall)
	}
	c.some = true
	r.to.Arguments(c.n, false, piece)
	r.kept += len(piece)
	return nil
}

// endBlock ends a block. A call without arguments has an empty object.
func (r *reader) endBlock(index int64) (err error) {
	if c := r.calls[index]; c != nil && !c.some {
		err = r.arguments(index, []byte("{}"))
	}
	delete(r.calls, index)
	return err
}

// takeUsage reads usage and service tier of an answer, or of its last event. Bedrock counts what
// was cached beside the prompt.
func (r *reader) takeUsage(data []byte) {
	if tier := translate.Member(translate.Member(data, "serviceTier"), "type"); tier != nil && tier[0] == '"' {
		r.ending.Tier = bytes.Clone(tier)
	}
	object := translate.Member(data, "usage")
	input, ok := jsonscan.Int(translate.Member(object, "inputTokens"))
	read, written, output := translate.CountOf(object, "cacheReadInputTokens"), translate.CountOf(object, "cacheWriteInputTokens"), translate.CountOf(object, "outputTokens")
	if !ok || input < 0 || max(input, read, written, output) > openai.MaxTokens {
		return
	}
	u := openai.Usage{Prompt: input + read + written, Completion: output, Cached: read, CacheWrite: written}
	for span := range jsonscan.AllElements(translate.Member(object, "cacheDetails")) {
		if detail := span.Value(translate.Member(object, "cacheDetails")); string(translate.Member(detail, "ttl")) == `"1h"` {
			u.CacheWriteHour, u.CacheSplit = min(translate.CountOf(detail, "inputTokens"), written), true
		}
	}
	u.Total = u.Prompt + u.Completion
	r.ending.Usage, r.ending.HasUsage = u, true
}

// end ends an answer that is complete, and returns io.EOF, or says why it is none.
func (r *reader) end() error {
	word, known := finishes[r.reason]
	switch {
	case r.reason == "":
		return openai.ErrCut
	case word == broken:
		f := aws.Failure{Status: http.StatusInternalServerError, Type: "server_error", Message: "the model ended its answer with " + r.reason}
		return &completion.Reported{Body: f.Body()}
	case word == "tool_calls":
		word = r.original.functions.Finish()
	case !known:
		word = "stop"
	}
	r.thinking.to.End()
	r.begin(true)
	r.ending.Finish = word
	return io.EOF
}

// checkSize fails an answer of which more is kept than any should need.
func (r *reader) checkSize(whole bool) error {
	kept := 0
	if whole {
		kept = r.kept
	}
	if bad := translate.CheckSize(r.call, r.count, kept); bad != nil {
		return bad
	}
	return nil
}
