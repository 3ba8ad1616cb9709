// Package chat writes the conversation of a request in another API as that of a chat completion
// request.
package chat

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// Options is what a provider of chat completions takes beyond what all of them do.
type Options struct {
	// DeveloperRole says that the provider knows the role developer. By default such messages
	// become system messages.
	DeveloperRole bool

	// Cache says that the provider knows cache_control, as OpenRouter does.
	Cache bool

	// Links says that files may have an https URL instead of their data.
	Links bool

	// ReasoningContent says that the provider wants its reasoning back, as reasoning_content of the
	// message that followed it. By default it is left out.
	ReasoningContent bool
}

// Demands are what a provider demands of a conversation. OpenAI bounds names of tools and ids of
// calls, and all refuse results that are not right behind their calls.
func (o Options) Demands() *conversation.Rules {
	return &conversation.Rules{
		Media: conversation.Image | conversation.File | conversation.Sound, Links: o.Links, Cache: o.Cache, Reasoning: o.ReasoningContent,
		IDs: translate.Naming{Most: 64, Any: true}, Names: translate.Naming{Most: 64},
	}
}

// PutRequest writes a request with the conversation that body has, unless body was refused:
// settings writes the fields beside the conversation, and calls what only a request with tools has.
func (o Options) PutRequest(w *translate.Writer, body translate.Reader, model string, c *conversation.Conversation, stream bool, settings, calls func()) {
	w.Object()
	w.StringMember("model", model)
	if translate.Failure(body) == nil {
		o.putMessages(w, c.Turns)
	}
	if settings(); translate.Failure(body) != nil {
		return
	}
	if putTools(w, c); len(c.Tools) > 0 {
		calls()
	}
	if stream {
		w.BoolMember("stream", true)
		w.Object("stream_options")
		w.BoolMember("include_usage", true)
		w.End()
	}
	w.End()
}

// placeholder stands in a tool message for what few providers take there. The user message behind
// all results has it.
const placeholder = `"[An image or a file: see the next user message.]"`

// writer writes messages.
type writer struct {
	*translate.Writer
	opt   Options
	media []conversation.Part // of results, for the next message of the user
}

// putMessages writes messages.
func (o Options) putMessages(out *translate.Writer, turns []conversation.Turn) {
	w := writer{Writer: out, opt: o}
	w.Array("messages")
	for i := range turns {
		switch t := &turns[i]; t.Role {
		case conversation.Assistant:
			w.endMedia()
			w.putAssistant(t.Parts)
		case conversation.Results:
			for _, p := range t.Parts {
				w.putResult(p.Result, p.Cache)
			}
		case conversation.User:
			parts := t.Parts
			if len(w.media) > 0 {
				parts = append(w.media, parts...)
				w.media = nil
			}
			w.putMessage(t.Word, parts)
		default:
			w.endMedia()
			w.putSystem(t.Word, t.Parts)
		}
	}
	w.endMedia()
	w.End()
}

// endMedia writes the message of the user with the media of results, if there are any.
func (w *writer) endMedia() {
	if len(w.media) > 0 {
		w.putMessage("user", w.media)
		w.media = nil
	}
}

func (w *writer) putMessage(role string, parts []conversation.Part) {
	w.Object()
	w.StringMember("role", role)
	w.putContent(parts)
	w.End()
}

// putSystem writes what the system says, in one text if nothing of it is cached.
func (w *writer) putSystem(word string, parts []conversation.Part) {
	if word == "developer" && !w.opt.DeveloperRole {
		word = "system"
	}
	if !cached(parts) {
		parts = []conversation.Part{{Kind: conversation.Text, Text: joined(parts)}}
	}
	w.putMessage(word, parts)
}

// cached reports whether a part has a cache_control.
func cached(parts []conversation.Part) bool {
	return slices.ContainsFunc(parts, func(p conversation.Part) bool { return p.Cache != nil })
}

// joined returns texts as one. Media have a placeholder.
func joined(parts []conversation.Part) []byte {
	texts := make([][]byte, len(parts))
	for i := range parts {
		if texts[i] = parts[i].Text; parts[i].Media != nil {
			texts[i] = []byte(placeholder)
		}
	}
	return translate.Joined(texts...)
}

// putContent writes a content: a single text as a string, which every provider takes, and parts as
// parts.
func (w *writer) putContent(parts []conversation.Part) {
	switch {
	case len(parts) == 0:
		w.StringMember("content", "")
		return
	case len(parts) == 1 && parts[0].Media == nil && !cached(parts):
		w.Member("content", parts[0].Text)
		return
	}
	w.Array("content")
	for i := range parts {
		w.putPart(&parts[i])
	}
	w.End()
}

// putPart writes a part of a content.
func (w *writer) putPart(p *conversation.Part) {
	m := p.Media
	w.Object()
	switch p.Kind {
	case conversation.Image:
		w.StringMember("type", "image_url")
		w.Object("image_url")
		w.Member("url", m.URL)
		w.Member("detail", m.Detail)
		w.End()
	case conversation.File:
		w.StringMember("type", "file")
		w.Object("file")
		if m.Linked {
			w.Member("file_url", m.URL)
		} else {
			w.Member("file_data", m.URL)
		}
		w.Member("filename", m.Name)
		w.End()
	case conversation.Sound:
		m.PutSound(w.Writer)
	default:
		w.StringMember("type", "text")
		w.Member("text", p.Text)
	}
	w.Member("cache_control", p.Cache)
	w.End()
}

// putAssistant writes what the model said, with its calls. A model that wants its reasoning back
// wants it with every call: an empty one if it is not known.
func (w *writer) putAssistant(parts []conversation.Part) {
	var said, calls []conversation.Part
	var reasoning []byte
	for _, p := range parts {
		switch p.Kind {
		case conversation.Call:
			calls = append(calls, p)
		case conversation.Reasoning:
			reasoning = append(reasoning, p.Text...)
		default:
			said = append(said, p)
		}
	}
	w.Object()
	w.StringMember("role", "assistant")
	if len(said) == 0 && len(calls) > 0 {
		w.Member("content", []byte("null"))
	} else {
		w.putContent(said)
	}
	if len(reasoning) > 0 || w.opt.ReasoningContent && len(calls) > 0 {
		w.TextMember("reasoning_content", reasoning)
	}
	w.Array("tool_calls")
	for i := range calls {
		w.putCall(calls[i].Call)
	}
	w.EndOptional()
	w.End()
}

func (w *writer) putCall(c *conversation.ToolCall) {
	w.Object()
	w.Member("id", c.ID)
	w.StringMember("type", "function")
	w.Object("function")
	w.Member("name", c.Name)
	w.Member("arguments", c.Arguments)
	w.End()
	w.End()
}

// putResult writes the result of a tool as text: few providers take parts in a tool message.
func (w *writer) putResult(r *conversation.ToolResult, cache []byte) {
	id, _ := translate.Unquoted(r.Call.ID)
	for i, p := range r.Parts {
		if p.Media == nil {
			continue
		}
		if i == 0 || w.media == nil || r.Parts[i-1].Media == nil {
			text := append(append([]byte(`"From the result of the tool call `), id...), `:"`...)
			w.media = append(w.media, conversation.Part{Kind: conversation.Text, Text: text})
		}
		w.media = append(w.media, p)
	}
	text := conversation.Part{Kind: conversation.Text, Text: joined(r.Parts), Cache: cache}
	if len(text.Text) == len(`""`) { // nothing to cache
		text.Cache = nil
	}
	w.Object()
	w.StringMember("role", "tool")
	w.Member("tool_call_id", r.Call.ID)
	w.putContent([]conversation.Part{text})
	w.End()
}
