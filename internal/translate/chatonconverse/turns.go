package chatonconverse

import (
	"bytes"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// messageFields are the fields of messages, by role, that a request can carry or that the model does not
// need: annotations and parsed are for readers, and reasoning returns only by reasoning_details.
var messageFields = translate.MessageFields{
	"system":    {"role", "content", "name", "cache_control"},
	"developer": {"role", "content", "name", "cache_control"},
	"user":      {"role", "content", "name", "cache_control"},
	"assistant": {"role", "content", "name", "refusal", "tool_calls", "annotations", "parsed", "cache_control",
		"reasoning", "reasoning_content", "reasoning_details"},
	"tool": {"role", "content", "tool_call_id", "name", "is_error", "cache_control"},
}

// partFields are the fields of the content parts that a request can carry.
var partFields = translate.PartFields{
	"text":      {"type", "text", "cache_control"},
	"refusal":   {"type", "refusal"},
	"image_url": {"type", "image_url", "cache_control"},
	"file":      {"type", "file", "cache_control"},
}

const (
	user      = "user"
	assistant = "assistant"

	cachePoint   = `{"cachePoint":{"type":"default"}}`
	cacheForHour = `{"cachePoint":{"type":"default","ttl":"1h"}}`
	thinks       = `{"reasoningContent":`
)

// turns are the messages of a request, in which users and the model take turns. The results of all calls
// stand in front of what the user says then.
type turns struct {
	family  *family
	origin  string // of thoughts that return
	leftOut []string

	out       []byte   // the turns that are over
	system    []byte   // blocks
	turn      turn     // that is not over; of no role before the first
	message   turn     // that is read
	documents int      // of all turns, which are numbered
	names     []string // of the tools that were called, quoted

	looped     bool // the last turn has results of tools
	unanswered bool // the last turn is the model's, which goes on with it
	thought    bool // the last turn of the model began with thoughts
}

// turn is what one side says.
type turn struct {
	role    string
	results []byte // blocks with results of tools
	blocks  []byte // other blocks
	hasText bool   // among them
	hasFile bool   // likewise a document, which needs a text beside it
}

// read reads messages.
func (w *turns) read(body translate.Reader) {
	translate.Required(body, "messages")
	body.Each("messages", translate.MaxMessages, func(_ int, o translate.Reader) {
		switch role := messageFields.Role(o, &w.leftOut); role {
		case "system", "developer":
			w.instruct(o)
			return
		case "tool":
			w.begin(user)
			w.result(o)
		case assistant:
			w.begin(role)
			w.assistant(o)
		default:
			w.begin(role)
			w.parts(o, w.addMedia)
		}
		w.end(body)
	})
	if w.turn.role == "" {
		body.Fail(apierror.New(apierror.InvalidValue, `"messages" needs a message of the user that is not blank for this model`).WithParam("messages"))
	}
	w.looped, w.unanswered = len(w.turn.results) > 0, w.turn.role == assistant
	w.write()
}

// begin begins a message.
func (w *turns) begin(role string) {
	w.message = turn{role: role, results: w.message.results[:0], blocks: w.message.blocks[:0]}
}

// end ends a message. One that says nothing is not sent, so its neighbours can be of one role: then they
// are one turn.
func (w *turns) end(body translate.Reader) {
	m, t := &w.message, &w.turn
	switch {
	case len(m.results)+len(m.blocks) == 0:
		return
	case t.role == "" && m.role == assistant:
		body.Fail(apierror.New(apierror.InvalidValue, `the first of "messages" that is not blank must be the user's for this model`).WithParam("messages"))
	case t.role != "" && t.role != m.role:
		w.write()
	}
	t.role = m.role
	t.results, t.blocks = appendBlocks(t.results, m.results), appendBlocks(t.blocks, m.blocks)
	t.hasText, t.hasFile = t.hasText || m.hasText, t.hasFile || m.hasFile
}

// appendBlocks appends blocks to others.
func appendBlocks(dst, blocks []byte) []byte {
	if len(blocks) == 0 {
		return dst
	}
	return append(translate.AppendComma(dst), blocks...)
}

// write writes the turn, which is over.
func (w *turns) write() {
	t := &w.turn
	if t.hasFile && !t.hasText { // a document needs a text that is not blank
		t.blocks = append(translate.AppendComma(t.blocks), `{"text":"(document)"}`...)
	}
	if t.role == assistant {
		w.thought = bytes.HasPrefix(t.blocks, []byte(thinks))
	}
	w.out = append(append(translate.AppendComma(w.out), `{"role":"`...), t.role...)
	w.out = append(append(w.out, `","content":[`...), t.results...)
	if len(t.results) > 0 && len(t.blocks) > 0 {
		w.out = append(w.out, ',')
	}
	w.out = append(append(w.out, t.blocks...), "]}"...)
	*t = turn{results: t.results[:0], blocks: t.blocks[:0]}
}

// append appends system and messages.
func (w *turns) append(dst []byte) []byte {
	if len(w.system) > 0 {
		dst = append(append(append(translate.AppendKey(dst, "system"), '['), w.system...), ']')
	}
	return append(append(append(translate.AppendKey(dst, "messages"), '['), w.out...), ']')
}

// instruct adds the texts of a system or developer message, wherever it stands.
func (w *turns) instruct(o translate.Reader) {
	w.each(o, translate.RefuseType, func(text []byte) { w.system = w.appendText(w.system, text) },
		func(point string) { w.system = w.appendCache(w.system, point) })
}

// each calls text for each text of a content, part for its other parts, and cached behind each part that
// the request wants cached.
func (w *turns) each(o translate.Reader, part func(translate.Reader, string), text func([]byte), cached func(point string)) {
	switch value := translate.Required(o, "content"); {
	case value == nil:
	case value[0] == '"':
		text(value)
	default:
		o.Each("content", translate.MaxParts, func(_ int, p translate.Reader) {
			if typ := partFields.Type(p); typ == "text" {
				text(p.RequiredText(typ))
			} else {
				part(p, typ)
			}
			w.cache(p, cached)
		})
	}
	w.cache(o, cached)
}

// cache calls cached with the block for cache_control, if there is one.
func (w *turns) cache(o translate.Reader, cached func(point string)) {
	control, ok := o.Object("cache_control")
	switch ttl := control.DecodedText("ttl"); {
	case !ok:
	case ttl == "1h" && w.family.later:
		cached(cacheForHour)
	default:
		cached(cachePoint)
	}
}

// appendText appends a block of text. Bedrock refuses blank ones.
func (w *turns) appendText(dst, quoted []byte) []byte {
	if text, _ := jsonscan.String(quoted); strings.TrimSpace(text) == "" {
		return dst
	}
	return append(translate.AppendMember(append(translate.AppendComma(dst), '{'), "text", quoted), '}')
}

// appendCache appends the mark that all before it is cached, unless the last block is such a mark or the
// model takes none there.
func (w *turns) appendCache(dst []byte, point string) []byte {
	text := bytes.HasSuffix(dst, []byte(`"}`)) // no other block ends so
	cached := bytes.HasSuffix(dst, []byte(cachePoint)) || bytes.HasSuffix(dst, []byte(cacheForHour))
	if caches := w.family.caches; len(dst) == 0 || caches == cachesNothing || caches == cachesTexts && !text || cached {
		return dst
	}
	return append(translate.AppendComma(dst), point...)
}

func (w *turns) text(quoted []byte) {
	before := len(w.message.blocks)
	w.message.blocks = w.appendText(w.message.blocks, quoted)
	w.message.hasText = w.message.hasText || len(w.message.blocks) > before
}

// parts adds the content of a message. Media takes what is no text.
func (w *turns) parts(o translate.Reader, media func(part translate.Reader, typ string)) {
	w.each(o, func(part translate.Reader, typ string) {
		if typ == "refusal" {
			w.text(part.RequiredText(typ))
		} else {
			media(part, typ)
		}
	}, w.text, func(point string) { w.message.blocks = w.appendCache(w.message.blocks, point) })
}

// addMedia adds an image or a document to the turn.
func (w *turns) addMedia(part translate.Reader, typ string) {
	w.message.blocks = w.appendMedia(w.message.blocks, part, typ)
	w.message.hasFile = w.message.hasFile || typ == "file"
}
