package chatonmessages

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// demands are what the Messages API demands of a conversation. Origin and NoPrefill differ by
// request.
var demands = conversation.Rules{
	Media: conversation.Image | conversation.File, Failures: true, Links: true, Cache: true, Optional: true, TrimEnd: true, Inputs: true,
	Texts: conversation.NotAllBlank, System: conversation.InFront, Merge: conversation.WithResults,
	IDs: translate.Naming{Most: maxName}, Names: translate.Naming{Most: maxName},
	Results: conversation.ExactlyOne, History: conversation.HistoryAlone, Typed: typedTool.MatchString,
}

// maxName is how long the names of tools and the ids of their calls may be, in bytes.
const maxName = 64

// blocks writes the blocks of contents.
type blocks struct {
	*translate.Writer
	body translate.Reader // of the request, for refusals
}

// putSystem writes system. anyJSON says that the answer must be a JSON object, of no schema.
func (w blocks) putSystem(parts []conversation.Part, anyJSON bool) {
	if anyJSON {
		parts = append(slices.Clip(parts), conversation.Part{Kind: conversation.Text, Text: []byte(translate.OnlyJSON)})
	}
	w.Array("system")
	for i := range parts {
		w.put(&parts[i])
	}
	w.EndOptional()
}

// putTurns writes messages.
func (w blocks) putTurns(turns []conversation.Turn) {
	w.Array("messages")
	for _, turn := range turns {
		w.Object()
		w.StringMember("role", turn.Side("assistant"))
		w.putContent(turn.Parts)
		w.End()
	}
	w.End()
}

// putContent writes the member content.
func (w blocks) putContent(parts []conversation.Part) {
	w.Array("content")
	for i := range parts {
		w.put(&parts[i])
	}
	w.End()
}

// put writes a block of a content.
func (w blocks) put(p *conversation.Part) {
	w.Object()
	switch p.Kind {
	case conversation.Thought:
		w.putThought(p.Thought)
	case conversation.Call:
		w.StringMember("type", "tool_use")
		w.Member("id", p.Call.ID)
		w.Member("name", p.Call.Name)
		w.Member("input", p.Call.Input)
	case conversation.Result:
		w.putResult(p.Result)
	case conversation.Image:
		w.putImage(p.Media)
	case conversation.File:
		w.putDocument(p.Media)
	default:
		w.StringMember("type", "text")
		w.Member("text", p.Text)
	}
	w.Member("cache_control", p.Cache)
	w.End()
}

func (w blocks) putThought(d *translate.Thought) {
	if d.Data != nil {
		w.StringMember("type", "redacted_thinking")
		w.Member("data", d.Data)
		return
	}
	w.StringMember("type", "thinking")
	w.TextMember("thinking", d.Text)
	w.Member("signature", d.Signature)
}

func (w blocks) putResult(r *conversation.ToolResult) {
	w.StringMember("type", "tool_result")
	w.Member("tool_use_id", r.Call.ID)
	switch {
	case len(r.Parts) == 0:
		w.StringMember("content", "")
	case len(r.Parts) == 1 && r.Parts[0].Whole:
		w.Member("content", r.Parts[0].Text)
	default:
		w.putContent(r.Parts)
	}
	if r.Failed {
		w.BoolMember("is_error", true)
	}
}

// imageTypes are the media types of images that the API takes.
var imageTypes = map[string]bool{"image/jpeg": true, "image/png": true, "image/gif": true, "image/webp": true}

// putImage writes the members of an image. The API has no detail.
func (w blocks) putImage(m *conversation.Media) {
	w.StringMember("type", "image")
	switch {
	case m.HTTPS, m.Encoded && imageTypes[m.Type]:
		w.putSource(m)
	case m.Encoded:
		w.refuseMedia(m, "a JPEG, PNG, GIF or WebP image")
	default:
		w.refuseMedia(m, "an https URL or a data URL in base64")
	}
}

func (w blocks) refuseMedia(m *conversation.Media, want string) {
	w.body.Fail(translate.NotTaken(m.Param, "%q must be %s: the provider of this model takes no other", m.Param, want))
}

// putDocument writes the members of a file: a PDF, or text.
func (w blocks) putDocument(m *conversation.Media) {
	w.StringMember("type", "document")
	switch {
	case m.HTTPS, m.Encoded && m.Type == "application/pdf":
		w.putSource(m)
	case m.Encoded && strings.HasPrefix(m.Type, "text/"):
		text, err := base64.StdEncoding.DecodeString(string(m.Data))
		if err != nil {
			w.body.Fail(translate.Invalid(m.Param, "a data URL in base64"))
		}
		w.Object("source")
		w.StringMember("type", "text")
		w.StringMember("media_type", "text/plain")
		w.StringMember("data", string(text))
		w.End()
	default:
		w.refuseMedia(m, "a PDF or a text, as an https URL or a data URL in base64")
	}
	if name, some := translate.Unquoted(m.Name); some {
		w.TextMember("title", name)
	}
}

// putSource writes where an image or a document is: its URL, or its bytes.
func (w blocks) putSource(m *conversation.Media) {
	w.Object("source")
	if m.HTTPS {
		w.StringMember("type", "url")
		w.Member("url", m.URL)
	} else {
		w.StringMember("type", "base64")
		w.StringMember("media_type", m.Type)
		w.TextMember("data", m.Data)
	}
	w.End()
}
