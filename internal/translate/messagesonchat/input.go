package messagesonchat

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// input reads system and messages into turns. Turns of one role that follow each other are one, as
// they are for Anthropic.
type input struct {
	to        conversation.Builder
	opt       *Options
	user      userTurn
	assistant conversation.Answer             // what the model said in the turn that is read
	answered  bool                            // there is one
	called    map[*conversation.ToolCall]bool // the calls of the last turn of the model
}

// userTurn gathers what a user says behind the results of tools.
type userTurn struct {
	at      string // the path of its content, "" for no turn
	results bool   // it has results of tools
	parts   []conversation.Part
}

// read reads all of the conversation.
func (in *input) read(body translate.Reader) {
	in.system(body, "system", true)
	translate.Required(body, "messages")
	last, some := translate.Reader{}, false
	body.Each("messages", translate.MaxMessages, func(_ int, o translate.Reader) {
		last, some = o, true
		in.message(o)
	})
	switch {
	case !some:
		body.Fail(translate.Invalid("messages", "an array of at least one message"))
	case in.answered && !in.opt.Prefill:
		role := last.Param("role")
		body.Fail(apierror.New(apierror.UnsupportedParameter,
			"%q cannot be \"assistant\" in the last message: the provider of this model does not continue a message", role).WithParam(role))
	}
	in.endTurn(body)
}

func (in *input) message(o translate.Reader) {
	o.Only("role", "content")
	role := o.RequiredText("role")
	if content := translate.Required(o, "content"); content != nil && content[0] != '"' && content[0] != '[' {
		o.Fail(translate.Invalid(o.Param("content"), "a string or an array"))
	}
	switch string(role) {
	case `"user"`:
		in.endAssistant(o)
		in.userMessage(o)
	case `"assistant"`:
		in.endUser(o)
		in.assistantMessage(o)
	case `"system"`:
		in.endTurn(o)
		in.system(o, "content", false)
	default:
		o.Fail(translate.Invalid(o.Param("role"), "user, assistant or system"))
	}
}

// endTurn adds the turns that are gathered, behind which o follows.
func (in *input) endTurn(o translate.Reader) {
	in.endAssistant(o)
	in.endUser(o)
}

// attribution begins the text that Claude Code puts first into system. It is for Anthropic's
// accounting. It says nothing to a model, and older versions change it in each request, so that no
// provider could cache the prompt.
const attribution = "x-anthropic-billing-header:"

// isAttribution reports whether a quoted text is Claude Code's attribution and no more.
func isAttribution(quoted []byte) bool {
	text, ok := translate.Unquoted(quoted)
	return ok && strings.HasPrefix(string(text[:min(len(text), len(attribution))]), attribution) && !strings.Contains(string(text), `\n`)
}

// system reads the texts in a member as what the system says. first says that it is the prompt of
// the request.
func (in *input) system(o translate.Reader, key string, first bool) {
	if value := o.Get(key); value != nil && value[0] != '"' && value[0] != '[' {
		o.Fail(translate.Invalid(o.Param(key), "a string or an array"))
	}
	var parts []conversation.Part
	add := func(quoted, cache []byte) {
		if !first || !isAttribution(quoted) {
			parts = in.text(parts, quoted, cache)
		}
	}
	eachBlock(o, key, func(quoted []byte) { add(quoted, nil) }, func(block translate.Reader) {
		blockType(block, "text")
		add(block.RequiredText("text"), in.to.Rules().CacheOf(block))
	})
	if len(parts) > 0 {
		in.to.Add(conversation.Turn{Role: conversation.System, Word: "system", Parts: joinTexts(parts)})
	}
}

// text adds a text. Empty texts say nothing, and some providers refuse them.
func (in *input) text(parts []conversation.Part, quoted, cache []byte) []conversation.Part {
	if _, some := translate.Unquoted(quoted); !some {
		return parts
	}
	return in.to.Append(parts, conversation.Part{Kind: conversation.Text, Text: quoted, Cache: cache})
}

func (in *input) assistantMessage(o translate.Reader) {
	t := &in.assistant
	in.answered = true
	eachBlock(o, "content", func(quoted []byte) { t.Texts = in.text(t.Texts, quoted, nil) }, func(block translate.Reader) {
		switch blockType(block, "text", "tool_use", "thinking", "redacted_thinking") {
		case "text":
			t.Texts = in.text(t.Texts, block.RequiredText("text"), in.to.Rules().CacheOf(block))
		case "tool_use":
			in.call(block)
		case "thinking":
			piece, _ := translate.Unquoted(block.RequiredText("thinking"))
			t.Reasoning = append(t.Reasoning, piece...)
			addSigned(t, block, "signature")
		default:
			addSigned(t, block, "data")
		}
	})
}

// addSigned adds the reasoning_details that an earlier answer of the gateway wrapped. Only who made
// other thinking can read it.
func addSigned(t *conversation.Answer, block translate.Reader, key string) {
	if elements, ok := translate.UnwrapReasoning(block.DecodedText(key)); ok {
		t.Details = append(translate.AppendComma(t.Details), elements...)
	}
}

// call reads a call of the model.
func (in *input) call(block translate.Reader) {
	call := conversation.ToolCall{ID: block.RequiredText("id"), Name: block.RequiredText("name"), Input: translate.Written(block.RequiredObject("input"))}
	call.Arguments = jsonscan.AppendString(nil, compact(call.Input))
	in.assistant.Calls = append(in.assistant.Calls, in.to.Call(call, in.to.Rules().CacheOf(block)))
}

// endAssistant adds the turn of the model, if there is one.
func (in *input) endAssistant(o translate.Reader) {
	t := in.assistant
	if !in.answered {
		return
	}
	in.assistant, in.answered, in.called = conversation.Answer{}, false, make(map[*conversation.ToolCall]bool, len(t.Calls))
	for _, p := range t.Calls {
		in.called[p.Call] = true
	}
	t.Texts = whole(t.Texts)
	in.to.Answer(o, t)
}

// whole marks a single text as all of its content.
func whole(parts []conversation.Part) []conversation.Part {
	if len(parts) == 1 && parts[0].Media == nil && parts[0].Cache == nil {
		parts[0].Whole = true
	}
	return parts
}
