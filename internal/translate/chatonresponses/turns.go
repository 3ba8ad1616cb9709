package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// demands are what the Responses API demands of a conversation. cache_control is a hint for caches
// and not sent, and a provider takes reasoning back only in its own items.
var demands = conversation.Rules{
	Media: conversation.Image | conversation.File | conversation.Sound, Files: true, Links: true, Custom: true,
	IDs: translate.Naming{Most: 64, Any: true}, Names: translate.Naming{Most: 64}, Allowed: true,
	Results: conversation.ExactlyOne,
}

// putMessages writes instructions and input. A first text of the system is the instructions.
func putMessages(w *translate.Writer, turns []conversation.Turn) {
	if first := turns[0]; len(turns) > 1 && first.Role == conversation.System && isText(first.Parts) {
		w.Member("instructions", first.Parts[0].Text)
		turns = turns[1:]
	}
	w.Array("input")
	for i := range turns {
		switch turn := &turns[i]; turn.Role {
		case conversation.Assistant:
			putAssistant(w, turn.Parts)
		case conversation.Results:
			putResult(w, turn.Parts[0].Result)
		default:
			w.Object()
			w.StringMember("type", "message")
			w.StringMember("role", turn.Word)
			putContent(w, "content", turn.Parts)
			w.End()
		}
	}
	w.End()
}

// isText reports whether a content was written as a text.
func isText(parts []conversation.Part) bool { return len(parts) == 1 && parts[0].Whole }

// putAssistant writes what the model said: its text, and then its calls, each an item of its own.
func putAssistant(w *translate.Writer, parts []conversation.Part) {
	said := len(parts)
	for said > 0 && parts[said-1].Kind == conversation.Call {
		said--
	}
	text, calls := parts[:said], parts[said:]
	if len(parts) > 1 && parts[0].Whole && string(parts[0].Text) == `""` {
		text = text[1:]
	}
	if len(text) > 0 || len(calls) == 0 {
		w.Object()
		w.StringMember("type", "message")
		w.StringMember("role", "assistant")
		putAnswer(w, text)
		w.End()
	}
	for i := range calls {
		putCall(w, calls[i].Call)
	}
}

// putAnswer writes the content of a message of the model: a text unchanged, parts as those of an
// answer. Responses requires the annotations of a text.
func putAnswer(w *translate.Writer, parts []conversation.Part) {
	if len(parts) == 0 {
		w.StringMember("content", "")
		return
	}
	if isText(parts) {
		w.Member("content", parts[0].Text)
		return
	}
	w.Array("content")
	for i := range parts {
		w.Object()
		if p := &parts[i]; p.Kind == conversation.Refusal {
			w.StringMember("type", "refusal")
			w.Member("refusal", p.Text)
		} else {
			w.StringMember("type", "output_text")
			w.Member("text", p.Text)
			w.Array("annotations")
			w.End()
		}
		w.End()
	}
	w.End()
}

func putCall(w *translate.Writer, c *conversation.ToolCall) {
	typ, argument := "function_call", "arguments"
	if c.Custom {
		typ, argument = "custom_tool_call", "input"
	}
	w.Object()
	w.StringMember("type", typ)
	w.Member("call_id", c.ID)
	w.Member("name", c.Name)
	w.Member(argument, c.Arguments)
	w.End()
}

func putResult(w *translate.Writer, r *conversation.ToolResult) {
	typ := "function_call_output"
	if r.Call.Custom {
		typ = "custom_tool_call_output"
	}
	w.Object()
	w.StringMember("type", typ)
	w.Member("call_id", r.Call.ID)
	putContent(w, "output", r.Parts)
	w.End()
}

// putContent writes a content for the model: a text unchanged, parts by their names in Responses.
func putContent(w *translate.Writer, key string, parts []conversation.Part) {
	if isText(parts) {
		w.Member(key, parts[0].Text)
		return
	}
	w.Array(key)
	for i := range parts {
		w.Object()
		putPart(w, &parts[i])
		w.End()
	}
	w.End()
}

// putPart writes the members of a part. Responses requires the detail of an image.
func putPart(w *translate.Writer, p *conversation.Part) {
	m := p.Media
	switch p.Kind {
	case conversation.Image:
		w.StringMember("type", "input_image")
		w.Member("image_url", m.URL)
		if m.Detail == nil {
			w.StringMember("detail", "auto")
		}
		w.Member("detail", m.Detail)
	case conversation.File:
		w.StringMember("type", "input_file")
		if m.Linked || m.HTTPS {
			w.Member("file_url", m.URL)
		} else {
			w.Member("file_data", m.URL)
		}
		w.Member("file_id", m.ID)
		w.Member("filename", m.Name)
	case conversation.Sound:
		m.PutSound(w)
	default:
		w.StringMember("type", "input_text")
		w.Member("text", p.Text)
	}
}
