package chatonconverse

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// messageFields are the fields of messages, by role, that a request can carry or that the model does not
// need: annotations and parsed are for readers, and reasoning is not taken back.
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

	cachePoint = `{"cachePoint":{"type":"default"}}`
)

// turns are the messages of a request, in which users and the model take turns. The results of all calls
// stand in front of what the user says then.
type turns struct {
	caches  bool // the request says what is cached
	leftOut []string

	out       []byte   // the turns that are over
	system    []byte   // blocks
	role      string   // of the turn that is written, "" before the first
	results   []byte   // its blocks with results of tools
	blocks    []byte   // its other blocks
	hasText   bool     // among them
	hasFile   bool     // likewise a document, which needs a text beside it
	documents int      // of all turns, which are numbered
	names     []string // of the tools that were called, quoted
	looped    bool     // the last turn has results of tools
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
			return w.result(o)
		}
		if w.role == "" && role == assistant {
			return apierror.New(apierror.InvalidValue, `the first of "messages" must be the user's for this model`).WithParam("messages")
		}
		w.begin(role)
		if role == assistant {
			return w.assistant(o)
		}
		return w.parts(o, w.addMedia)
	})
	if err != nil {
		return err
	}
	if w.role == "" {
		return apierror.New(apierror.InvalidValue, `"messages" needs a message of the user for this model`).WithParam("messages")
	}
	w.end()
	return nil
}

// begin begins a turn, or goes on with one of the same role.
func (w *turns) begin(role string) {
	if w.role != role {
		w.end()
		w.role = role
	}
}

// end ends the turn that is written. A turn that says nothing is not sent.
func (w *turns) end() {
	if w.role == "" {
		return
	}
	if w.hasFile && !w.hasText { // a document needs a text that is not blank
		w.blocks = append(translate.AppendComma(w.blocks), `{"text":"(document)"}`...)
	}
	if len(w.results)+len(w.blocks) > 0 {
		w.out = append(translate.AppendComma(w.out), `{"role":"`...)
		w.out = append(append(w.out, w.role...), `","content":[`...)
		w.out = append(w.out, w.results...)
		if len(w.results) > 0 && len(w.blocks) > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(append(w.out, w.blocks...), "]}"...)
	}
	w.looped = len(w.results) > 0
	w.role, w.results, w.blocks, w.hasText, w.hasFile = "", w.results[:0], w.blocks[:0], false, false
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
	}, func(text []byte) { w.system = w.appendText(w.system, text) }, func() { w.system = w.appendCache(w.system) })
}

// each calls part for each part of a content, or text for one that is a text, and cached behind what is
// to be cached.
func (w *turns) each(o translate.Object, part func(translate.Object, string) error, text func([]byte), cached func()) error {
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
			if err == nil && p.Get("cache_control") != nil {
				cached()
			}
			return err
		}); err != nil {
			return err
		}
	}
	if o.Get("cache_control") != nil {
		cached()
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

func (w *turns) appendCache(dst []byte) []byte {
	if !w.caches || len(dst) == 0 {
		return dst
	}
	return append(translate.AppendComma(dst), cachePoint...)
}

func (w *turns) text(quoted []byte) {
	before := len(w.blocks)
	w.blocks = w.appendText(w.blocks, quoted)
	w.hasText = w.hasText || len(w.blocks) > before
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
	}, w.text, func() { w.blocks = w.appendCache(w.blocks) })
}

// addMedia adds an image or a document to the turn.
func (w *turns) addMedia(part translate.Object, typ string) error {
	block, err := w.block(part, typ)
	if err == nil {
		w.blocks = append(translate.AppendComma(w.blocks), block...)
		w.hasFile = w.hasFile || typ == "file"
	}
	return err
}
