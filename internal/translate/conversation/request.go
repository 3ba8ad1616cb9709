package conversation

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Request is a request that a target of a translation gets.
type Request struct {
	// Body is the request in the API that the target is asked by; nil for a request of another API.
	Body *jsonscan.Body

	// Settings are the fields beside the conversation, by their names in chat. All refusals go to
	// it.
	Settings translate.Reader

	// Functions says that the caller has the older form of tools.
	Functions translate.Functions

	// Size is that of the caller's request in bytes.
	Size int

	// Read reads the conversation as a target takes it.
	Read func(*Rules) *Conversation
}

// Chat returns the request as that of a target that is asked by chat completions.
func (r *Request) Chat() *Request {
	if r.Read != nil {
		return r
	}
	return OfChat(r.Body)
}

// OfChat returns the request that is a chat completion request, which params.ParseChat accepted. It is
// read as it was parsed, without the edits that b has collected.
func OfChat(b *jsonscan.Body) *Request {
	body, functions := translate.AsTools(translate.Read(b, new(error)))
	return &Request{
		Body: b, Settings: body, Functions: functions, Size: len(b.Data()),
		Read: func(rules *Rules) *Conversation { return readChat(body, rules) },
	}
}

// Err returns the refusal of the request, nil for none. That of functions has the names of their
// older form.
func (r *Request) Err() error { return r.Functions.Refusal(translate.Failure(r.Settings)) }

// Room returns a buffer in which what the request becomes has room.
func (r *Request) Room() []byte { return make([]byte, 0, r.Size+r.Size/8+512) }

// readChat reads the messages and tools of a chat request.
func readChat(body translate.Reader, rules *Rules) *Conversation {
	b := Build(body, rules)
	translate.Required(body, "messages")
	body.Each("messages", translate.MaxMessages, func(_ int, o translate.Reader) { chat{b}.message(o) })
	choice := readChoice(body, rules)
	some := false
	body.Each("tools", translate.MaxTools, func(_ int, o translate.Reader) {
		if typ := translate.TypeOf(o); rules.Typed != nil && rules.Typed(typ) {
			o.RequiredText("name")
			b.Tool(Tool{Own: o})
			some = true
			return
		}
		tool := readTool(o, rules)
		if choice.allows(&tool) {
			some = true
			b.Tool(tool)
		}
	})
	body.Fail(choice.check(some))
	b.Choose(choice)
	return b.Finish()
}
