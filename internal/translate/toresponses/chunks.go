package toresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// chunks makes the chunks of a chat stream and hands them to the family's own
// stream, as if a provider of chat completions had sent them.
//
//	{"id":…,"created":…,"object":"chat.completion.chunk","choices":[{"index":0,"delta":{
//	    "role" | "content" | "refusal" | "reasoning_content" | "annotations" | "tool_calls"
//	},"logprobs":…,"finish_reason":null}]}
type chunks struct {
	family openai.Stream
	events openai.Events
	out    []byte // what the client gets

	head  []byte // of every chunk, up to what is in the delta
	chunk []byte // the one in work
}

var _ sink = (*chunks)(nil)

// name learns what the response is called, once. What is missing stays out:
// the family's stream has something for it.
func (c *chunks) name(id, created []byte) {
	if c.head != nil {
		return
	}
	c.head = append(c.head, '{')
	if id != nil {
		c.head = translate.AppendMember(c.head, "id", id)
		c.head = append(c.head, ',')
	}
	if created != nil {
		c.head = translate.AppendMember(c.head, "created", created)
		c.head = append(c.head, ',')
	}
	c.head = append(c.head, `"object":"chat.completion.chunk","choices":[{"index":0,"delta":{`...)
}

// open begins a chunk.
func (c *chunks) open() {
	c.name(nil, nil)
	c.chunk = append(c.chunk[:0], c.head...)
}

// send ends a chunk.
func (c *chunks) send(logprobs []byte) {
	c.chunk = append(c.chunk, `},"logprobs":`...)
	c.chunk = appendLogprobs(c.chunk, logprobs)
	c.chunk = append(c.chunk, `,"finish_reason":null}]}`...)
	c.pass()
}

func (c *chunks) pass() { c.out = c.family.Data(c.out, c.events.Next(nil, c.chunk)) }

// quoted sends a chunk of one member.
func (c *chunks) quoted(key string, piece, logprobs []byte) {
	c.open()
	c.chunk = append(c.chunk, '"')
	c.chunk = append(c.chunk, key...)
	c.chunk = append(c.chunk, '"', ':')
	c.chunk = appendQuoted(c.chunk, piece, true)
	c.send(logprobs)
}

func (c *chunks) begin(content bool) {
	c.open()
	c.chunk = append(c.chunk, `"role":"assistant","content":`...)
	c.chunk = appendQuoted(c.chunk, nil, content)
	c.chunk = append(c.chunk, `,"refusal":null`...)
	c.send(nil)
}

func (c *chunks) text(piece, logprobs []byte) { c.quoted("content", piece, logprobs) }
func (c *chunks) refusal(piece []byte)        { c.quoted("refusal", piece, nil) }
func (c *chunks) think(piece []byte)          { c.quoted("reasoning_content", piece, nil) }

func (c *chunks) annotate(annotation []byte) {
	c.open()
	c.chunk = append(c.chunk, `"annotations":[`...)
	c.chunk = append(c.chunk, annotation...)
	c.chunk = append(c.chunk, ']')
	c.send(nil)
}

func (c *chunks) call(n int, custom bool, id, name []byte) {
	c.fragment(n)
	c.chunk = append(c.chunk, ',')
	c.chunk = appendCall(c.chunk, custom, id, name, nil)
	c.chunk = append(c.chunk, "}]"...)
	c.send(nil)
}

func (c *chunks) argue(n int, custom bool, piece []byte) {
	c.fragment(n)
	if custom {
		c.chunk = append(c.chunk, `,"custom":{"input":`...)
	} else {
		c.chunk = append(c.chunk, `,"function":{"arguments":`...)
	}
	c.chunk = appendQuoted(c.chunk, piece, true)
	c.chunk = append(c.chunk, "}}]"...)
	c.send(nil)
}

// fragment begins a chunk for a tool call.
func (c *chunks) fragment(n int) {
	c.open()
	c.chunk = append(c.chunk, `"tool_calls":[{"index":`...)
	c.chunk = translate.AppendInt(c.chunk, n)
}

// finish sends the chunk that ends the choice, with usage in it, which the
// family's stream shows where it belongs, and the end of the stream.
func (c *chunks) finish(e chatEnd) {
	c.open()
	c.chunk = append(c.chunk, `},"logprobs":null,"finish_reason":"`...)
	c.chunk = append(c.chunk, e.finish...)
	c.chunk = append(c.chunk, `"}]`...)
	c.chunk = e.appendRest(c.chunk)
	c.chunk = append(c.chunk, '}')
	c.pass()
	c.out = c.family.Data(c.out, c.events.Next(nil, []byte("[DONE]")))
}
