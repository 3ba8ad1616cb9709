package chatongemini

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

const media = conversation.Image | conversation.File | conversation.Sound | conversation.Video

// demands are what Google demands of a conversation.
var demands = conversation.Rules{
	Media: media, Assistant: media, Failures: true, Links: true, Inputs: true, Signatures: format,
	Texts: conversation.NotEmpty, System: conversation.Leading, Merge: conversation.OneRole,
	Names: translate.Naming{Most: 128, Extra: ".:", First: true}, OnlyOne: true,
	Results: conversation.AllOrNone,
}

// dummy is the signature that Google documents for calls of another model,
// skip_thought_signature_validator, in base64: signatures are bytes.
const dummy = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="

// parts writes the parts of contents.
type parts struct {
	*translate.Writer
	body   translate.Reader // of the request, for refusals
	model  *model
	signed []int // where the values of signatures begin
}

// putTurns writes systemInstruction and contents. Results of calls have a content of their own
// right behind the calls:
//
//	{"role": "user",  "parts": [{"text"}, {"inlineData"}]}
//	{"role": "model", "parts": [{"text"}, {"functionCall", "thoughtSignature"}, {"functionCall"}]}
//	{"role": "user",  "parts": [{"functionResponse"}, {"functionResponse"}]}
func (w *parts) putTurns(c *conversation.Conversation) {
	if len(c.System) > 0 {
		w.Object("systemInstruction")
		w.put(conversation.Turn{Role: conversation.System, Parts: c.System}, false)
		w.End()
	}
	w.Array("contents")
	current := current(c.Turns)
	for i, turn := range c.Turns {
		w.Object()
		w.StringMember("role", turn.Side("model"))
		w.put(turn, i >= current)
		w.End()
	}
	w.End()
}

// current returns the first turn after the last of the user: there the model's calls must be
// signed.
func current(turns []conversation.Turn) int {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == conversation.User {
			return i + 1
		}
	}
	return 0
}

// put writes the parts of a turn. A model that paints wants its first text and its images back
// signed; chat has no place for their signatures.
func (w *parts) put(turn conversation.Turn, current bool) {
	w.Array("parts")
	paints := w.model.paints && turn.Role == conversation.Assistant
	text, calls := false, 0
	for i := range turn.Parts {
		switch p := &turn.Parts[i]; p.Kind {
		case conversation.Call:
			w.putCall(p.Call, calls == 0 && current)
			calls++
		case conversation.Result:
			w.putResult(p.Result)
		case conversation.Text, conversation.Refusal:
			text = true
			w.Object()
			w.Member("text", p.Text)
			w.sign(paints && i == 0)
			w.End()
		default:
			w.Object()
			w.putMedia(p)
			w.sign(paints)
			if resolution := w.resolution(p); resolution != "" {
				w.Object("mediaResolution")
				w.StringMember("level", "MEDIA_RESOLUTION_"+resolution)
				w.End()
			}
			w.End()
		}
	}
	if turn.Role == conversation.User && !text { // Google wants a text beside media
		w.Object()
		w.StringMember("text", " ")
		w.End()
	}
	w.End()
}

// sign writes the dummy if a part must have a signature that is not known.
func (w *parts) sign(must bool) {
	if must {
		w.StringMember("thoughtSignature", dummy)
	}
}

// putCall writes a call of the model, with the signature that it came with. must says that it needs
// one.
func (w *parts) putCall(c *conversation.ToolCall, must bool) {
	w.Object()
	if c.Signature != nil {
		w.signed = append(w.signed, w.Member("thoughtSignature", c.Signature))
	} else {
		w.sign(must && w.model.signs())
	}
	w.Object("functionCall")
	if w.model.signs() {
		w.Member("id", c.ID)
	}
	w.Member("name", c.Name)
	w.Member("args", c.Input)
	w.End()
	w.End()
}

// putResult writes what a tool answered. It is always a text: an object with "$ref" would be read
// as the name of a part. Older models take images beside it.
func (w *parts) putResult(r *conversation.ToolResult) {
	var text []byte
	var files []conversation.Part
	for _, p := range r.Parts {
		if p.Media != nil {
			files = append(files, p)
			continue
		}
		inner, _ := translate.Unquoted(p.Text)
		text = append(text, inner...)
	}
	putFiles := func() {
		for i := range files {
			w.Object()
			w.putMedia(&files[i])
			w.End()
		}
	}
	w.Object()
	w.Object("functionResponse")
	if w.model.signs() {
		w.Member("id", r.Call.ID)
	}
	w.Member("name", r.Call.Name)
	w.Object("response")
	if r.Failed {
		w.TextMember("error", text)
	} else {
		w.TextMember("output", text)
	}
	w.End()
	if w.model.signs() {
		w.Array("parts")
		putFiles()
		w.EndOptional()
	}
	w.End()
	w.End()
	if !w.model.signs() {
		putFiles()
	}
}

// withDummies returns a request with the dummy in place of the signatures that begin at these
// places.
func withDummies(body []byte, at []int) []byte {
	var out []byte
	from := 0
	for _, i := range at {
		out = jsonscan.AppendString(append(out, body[from:i]...), dummy)
		from, _ = jsonscan.StringEnd(body, i)
	}
	return bytes.Clone(append(out, body[from:]...))
}
