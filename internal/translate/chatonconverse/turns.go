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
func (w *turns) read(body translate.Object) error {
	if body.Get("messages") == nil {
		return translate.Missing("messages")
	}
	err := body.Each("messages", translate.MaxMessages, func(_ int, o translate.Object) error {
		role, err := messageFields.Role(o, &w.leftOut)
		if err != nil {
			return err
		}
		switch role {
		case "system", "developer":
			return w.instruct(o)
		case "tool":
			w.begin(user)
			err = w.result(o)
		case assistant:
			w.begin(role)
			err = w.assistant(o)
		default:
			w.begin(role)
			err = w.parts(o, w.addMedia)
		}
		if err == nil {
			err = w.end()
		}
		return err
	})
	if err != nil {
		return err
	}
	if w.turn.role == "" {
		return apierror.New(apierror.InvalidValue, `"messages" needs a message of the user that is not blank for this model`).WithParam("messages")
	}
	w.looped, w.unanswered = len(w.turn.results) > 0, w.turn.role == assistant
	w.write()
	return nil
}

// begin begins a message.
func (w *turns) begin(role string) {
	w.message = turn{role: role, results: w.message.results[:0], blocks: w.message.blocks[:0]}
}

// end ends a message. One that says nothing is not sent, so its neighbours can be of one role: then they
// are one turn.
func (w *turns) end() error {
	m, t := &w.message, &w.turn
	switch {
	case len(m.results)+len(m.blocks) == 0:
		return nil
	case t.role == "" && m.role == assistant:
		return apierror.New(apierror.InvalidValue, `the first of "messages" that is not blank must be the user's for this model`).WithParam("messages")
	case t.role != "" && t.role != m.role:
		w.write()
	}
	t.role = m.role
	t.results, t.blocks = appendBlocks(t.results, m.results), appendBlocks(t.blocks, m.blocks)
	t.hasText, t.hasFile = t.hasText || m.hasText, t.hasFile || m.hasFile
	return nil
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
func (w *turns) instruct(o translate.Object) error {
	return w.each(o, func(part translate.Object, typ string) error {
		if typ != "text" {
			return translate.UnsupportedType(part, typ)
		}
		text, err := part.RequiredText("text")
		w.system = w.appendText(w.system, text)
		return err
	}, func(text []byte) { w.system = w.appendText(w.system, text) }, func(point string) { w.system = w.appendCache(w.system, point) })
}

// each calls part for each part of a content, or text for one that is a text, and cached behind what is
// to be cached.
func (w *turns) each(o translate.Object, part func(translate.Object, string) error, text func([]byte), cached func(point string)) error {
	value := o.Get("content")
	switch {
	case value == nil:
		return translate.Missing(o.Param("content"))
	case value[0] == '"':
		text(value)
	default:
		if err := o.Each("content", translate.MaxParts, func(_ int, p translate.Object) error {
			typ, err := partFields.Type(p)
			if err == nil {
				err = part(p, typ)
			}
			if err == nil {
				err = w.cache(p, cached)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return w.cache(o, cached)
}

// cache calls cached with the block for cache_control, if there is one.
func (w *turns) cache(o translate.Object, cached func(point string)) error {
	control, ok, err := o.Object("cache_control")
	if err != nil || !ok {
		return err
	}
	ttl, err := control.DecodedText("ttl")
	if err != nil {
		return err
	}
	if ttl == "1h" && w.family.later {
		cached(cacheForHour)
	} else {
		cached(cachePoint)
	}
	return nil
}

// appendText appends a block of text. Bedrock refuses blank ones.
func (w *turns) appendText(dst, quoted []byte) []byte {
	if text, _ := jsonscan.String(quoted); strings.TrimSpace(text) == "" {
		return dst
	}
	return append(translate.AppendMember(append(translate.AppendComma(dst), '{'), "text", quoted), '}')
}

// appendCache caches what stands before, once.
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
func (w *turns) parts(o translate.Object, media func(part translate.Object, typ string) error) error {
	return w.each(o, func(part translate.Object, typ string) error {
		if typ != "text" && typ != "refusal" {
			return media(part, typ)
		}
		text, err := part.RequiredText(typ)
		w.text(text)
		return err
	}, w.text, func(point string) { w.message.blocks = w.appendCache(w.message.blocks, point) })
}

// addMedia adds an image or a document to the turn.
func (w *turns) addMedia(part translate.Object, typ string) error {
	block, err := w.block(part, typ)
	if err == nil {
		w.message.blocks = append(translate.AppendComma(w.message.blocks), block...)
		w.message.hasFile = w.message.hasFile || typ == "file"
	}
	return err
}
