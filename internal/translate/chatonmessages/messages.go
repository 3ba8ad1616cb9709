package chatonmessages

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// messageFields are the fields of messages, by role, that a Messages request can carry or that the
// model does not need: annotations and parsed are for readers, reasoning without a signature is
// refused by the provider, and the id of a call already says which tool a result is from.
var messageFields = translate.MessageFields{
	"system":    {"role", "content", "name", "cache_control"},
	"developer": {"role", "content", "name", "cache_control"},
	"user":      {"role", "content", "name", "cache_control"},
	"assistant": {"role", "content", "name", "refusal", "tool_calls", "annotations", "parsed", "cache_control",
		"reasoning", "reasoning_content", "reasoning_details"},
	"tool": {"role", "content", "tool_call_id", "name", "is_error", "cache_control"},
}

const (
	user      = "user"
	assistant = "assistant"
)

// turns are the messages of a Messages request, in which users and the model take turns. What a
// chat has in several messages is one turn here: the results of all calls, in front, and what the
// user says then.
type turns struct {
	out    []byte // the turns that are over
	system []byte // the blocks of the system's texts, wherever they stood

	role    string // of the turn that is written, "" before the first
	from    string // the path of its first message
	results []byte // its blocks with results of tools
	blocks  []byte // its other blocks
	solid   int    // its blocks that are more than white space

	thought bool // the last turn of the model began with thoughts
	looped  bool // the last turn has results of tools

	unanswered bool // the last turn is one that the model continues
}

// conversation translates the messages of a chat.
type conversation struct {
	origin  string // of the thoughts that return
	names   names
	turns   turns
	leftOut []string // the fields that are not sent
	anyJSON bool     // the answer must be a JSON object, of no schema
}

// append appends system and messages.
func (c *conversation) append(dst []byte, body translate.Reader, prefill bool) []byte {
	translate.Required(body, "messages")
	body.Each("messages", translate.MaxMessages, func(_ int, o translate.Reader) {
		switch messageFields.Role(o, &c.leftOut) {
		case assistant:
			c.assistant(o)
		case "tool":
			c.toolResult(o)
		case user:
			c.user(o)
		default:
			c.system(o)
		}
	})
	w := &c.turns
	w.unanswered = w.role == assistant
	if w.unanswered && !prefill {
		body.Fail(apierror.New(apierror.UnsupportedParameter,
			`the last of "messages" is the assistant's, which this model does not continue; end with a message of the user`).WithParam("messages"))
	}
	if w.role == "" { // the API requires a turn
		w.role, w.from, w.blocks, w.solid, w.system = user, "messages", w.system, len(w.system), nil
	}
	w.end(body)
	if c.anyJSON {
		w.system = appendText(w.system, []byte(onlyJSON), nil)
	}
	dst = translate.AppendList(dst, "system", w.system)
	return append(append(append(dst, `,"messages":[`...), w.out...), ']')
}

// onlyJSON asks for an answer that is any JSON object. The API has schemas only.
const onlyJSON = `"Answer with a single JSON object and nothing else: no text around it, no Markdown."`

// begin begins a turn, or goes on with one of the same role.
func (w *turns) begin(role string, message translate.Reader) {
	if w.role == role {
		return
	}
	w.end(message)
	w.role, w.from = role, message.Param("content")
}

// end ends the turn that is written, behind which in follows. A user's turn that says nothing is
// refused, as the provider would do.
func (w *turns) end(in translate.Reader) {
	if w.role == "" {
		return
	}
	if w.solid == 0 {
		if w.role == user {
			in.Fail(translate.Invalid(w.from, "a text that is not blank"))
		}
		w.blocks = w.blocks[:0]
	}
	w.out = append(translate.AppendComma(w.out), `{"role":"`...)
	w.out = append(append(w.out, w.role...), `","content":[`...)
	w.out = append(w.out, w.results...)
	if len(w.results) > 0 && len(w.blocks) > 0 {
		w.out = append(w.out, ',')
	}
	w.out = append(append(w.out, w.blocks...), "]}"...)
	if w.role == assistant {
		w.thought = bytes.HasPrefix(w.blocks, []byte(`{"type":"thinking"`)) || bytes.HasPrefix(w.blocks, []byte(`{"type":"redacted_thinking"`))
	}
	w.looped = len(w.results) > 0
	w.role, w.results, w.blocks, w.solid = "", w.results[:0], w.blocks[:0], 0
}

// text adds a text to the turn. The provider refuses an empty one anywhere, and a blank one that is
// alone.
func (w *turns) text(quoted, cache []byte) {
	if string(quoted) == `""` {
		return
	}
	if !isBlank(quoted) {
		w.solid++
	}
	w.blocks = appendText(w.blocks, quoted, cache)
}

// appendText appends a text block to a list.
func appendText(dst, quoted, cache []byte) []byte {
	dst = append(translate.AppendComma(dst), `{"type":"text"`...)
	dst = translate.AppendMember(dst, "text", quoted)
	return append(appendCache(dst, cache), '}')
}

// appendCache appends a member cache_control, nil for none.
func appendCache(dst, cache []byte) []byte {
	if cache == nil {
		return dst
	}
	return translate.AppendMember(dst, cacheControl, cache)
}

const cacheControl = "cache_control"

// cacheOf returns the cache_control of a message, a part or a tool, nil for none.
func cacheOf(o translate.Reader) []byte {
	value := o.Get(cacheControl)
	if value != nil && value[0] != '{' {
		o.Fail(translate.Invalid(o.Param(cacheControl), "an object"))
	}
	return value
}

// isBlank reports whether a quoted text has nothing but white space.
func isBlank(quoted []byte) bool {
	inner := quoted[1 : len(quoted)-1]
	if len(inner) > 0 && inner[0] > ' ' && inner[0] != '\\' && inner[0] < 0x80 {
		return false
	}
	text, _ := jsonscan.String(quoted)
	return len(bytes.TrimSpace([]byte(text))) == 0
}

// system adds the texts of a system or developer message to those of the system.
func (c *conversation) system(o translate.Reader) {
	eachText(o, func(quoted, cache []byte) {
		if !isBlank(quoted) {
			c.turns.system = appendText(c.turns.system, quoted, cache)
		}
	})
}

// eachText calls f for each text of a message that may only have texts. cache_control of the
// message is that of its last text.
func eachText(o translate.Reader, f func(quoted, cache []byte)) {
	eachPart(o, cacheOf(o), f, func(part translate.Reader, typ string, cache []byte) {
		if typ != "text" && typ != "refusal" {
			translate.RefuseType(part, typ)
		}
		f(part.RequiredText(typ), cache)
	})
}
