package chatonconverse

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// demands are what Converse demands of a conversation. Origin differs by request.
var demands = conversation.Rules{
	Media: conversation.Image | conversation.File, Failures: true, Links: true, Cache: true, Optional: true, Inputs: true,
	Texts: conversation.NotBlank, System: conversation.InFront, Merge: conversation.WithResults,
	IDs: translate.Naming{Most: maxName}, Names: translate.Naming{Most: maxName},
	UserFirst: true, Results: conversation.ExactlyOne, History: conversation.HistoryAll, NoNone: true,
}

// maxName is how long the names of tools and the ids of their calls may be, in bytes.
const maxName = 64

// blocks writes the blocks of contents.
type blocks struct {
	*translate.Writer
	body      translate.Reader // of the request, for refusals
	family    *family
	documents int // so far, which are numbered
}

// putSystem writes system. anyJSON says that the answer must be a JSON object, of no schema.
func (w *blocks) putSystem(parts []conversation.Part, anyJSON bool) {
	w.Array("system")
	w.put(parts)
	if anyJSON {
		w.putText([]byte(translate.OnlyJSON))
	}
	w.EndOptional()
}

// putTurns writes messages.
func (w *blocks) putTurns(turns []conversation.Turn) {
	w.Array("messages")
	for _, turn := range turns {
		w.Object()
		w.StringMember("role", turn.Side("assistant"))
		w.Array("content")
		w.put(turn.Parts)
		if needsText(turn.Parts) {
			w.putText([]byte(`"(document)"`))
		}
		w.End()
		w.End()
	}
	w.End()
}

// needsText reports whether parts have a document, which needs a text beside it, and no text.
func needsText(parts []conversation.Part) bool {
	file := false
	for i := range parts {
		switch parts[i].Kind {
		case conversation.File:
			file = true
		case conversation.Text, conversation.Refusal:
			return false
		}
	}
	return file
}

// put writes blocks of a content, and the marks that all before them is cached.
func (w *blocks) put(parts []conversation.Part) {
	for i := range parts {
		p := &parts[i]
		switch p.Kind {
		case conversation.Thought:
			w.putThought(p)
		case conversation.Call:
			w.Object()
			w.Object("toolUse")
			w.Member("toolUseId", p.Call.ID)
			w.Member("name", p.Call.Name)
			w.Member("input", p.Call.Input)
			w.End()
			w.End()
			continue // nothing is cached behind a call
		case conversation.Result:
			w.putResult(p.Result)
		case conversation.Image, conversation.File:
			w.putMedia(p.Kind, p.Media)
		default:
			w.putText(p.Text)
		}
		if c := w.family.caches; c == cachesAll || c == cachesTexts && p.Kind&(conversation.Text|conversation.Refusal) != 0 {
			w.putCache(p.Cache)
		}
	}
}

func (w *blocks) putText(quoted []byte) {
	w.Object()
	w.Member("text", quoted)
	w.End()
}

func (w *blocks) putThought(p *conversation.Part) {
	w.Object()
	w.Object("reasoningContent")
	if d := p.Thought; d.Data != nil {
		w.Member("redactedContent", d.Data)
	} else {
		w.Object("reasoningText")
		w.TextMember("text", d.Text)
		w.Member("signature", d.Signature)
		w.End()
	}
	w.End()
	w.End()
}

func (w *blocks) putResult(r *conversation.ToolResult) {
	w.Object()
	w.Object("toolResult")
	w.Member("toolUseId", r.Call.ID)
	w.Array("content")
	if len(r.Parts) == 0 {
		w.putText([]byte(`"(no output)"`)) // a blank text is refused
	}
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Media != nil {
			w.putMedia(p.Kind, p.Media)
		} else {
			w.putText(p.Text)
		}
	}
	w.End()
	if r.Failed {
		w.StringMember("status", "error")
	}
	w.End()
	w.End()
}

// putCache writes the mark for a cache_control, nil for none.
func (w *blocks) putCache(control []byte) {
	if control == nil {
		return
	}
	w.Object()
	w.Object("cachePoint")
	w.StringMember("type", "default")
	if w.family.later && conversation.ForHour(control) {
		w.StringMember("ttl", "1h")
	}
	w.End()
	w.End()
}

// imageFormats and documentFormats are what Converse calls media types.
var (
	imageFormats    = map[string]string{"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
	documentFormats = map[string]string{
		"application/pdf": "pdf", "text/csv": "csv", "text/html": "html", "text/plain": "txt", "text/markdown": "md",
		"application/msword": "doc", "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
		"application/vnd.ms-excel": "xls", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
	}
)

// putMedia writes a block of an image or a document, whose bytes the request must have.
func (w *blocks) putMedia(kind conversation.Kind, m *conversation.Media) {
	name, format := "image", imageFormats[m.Type]
	if kind == conversation.File {
		name, format = "document", documentFormats[m.Type]
	}
	if !m.Encoded || format == "" {
		w.body.Fail(translate.NotTaken(m.Param, "%q must be a data URL in base64 of a type that Bedrock takes: it fetches no address", m.Param))
	}
	w.Object()
	w.Object(name)
	w.StringMember("format", format)
	if kind == conversation.File { // names of callers could be read as instructions
		w.documents++
		w.StringMember("name", "document "+strconv.Itoa(w.documents))
	}
	w.Object("source")
	w.TextMember("bytes", m.Data)
	w.End()
	w.End()
	w.End()
}
