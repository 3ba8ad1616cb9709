package chatonmessages

import (
	"encoding/base64"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// partFields are the fields of the content parts that a Messages request can carry.
var partFields = translate.PartFields{
	"text":      {"type", "text", cacheControl},
	"refusal":   {"type", "refusal"},
	"image_url": {"type", "image_url", cacheControl},
	"file":      {"type", "file", cacheControl},
}

// user adds what a user says.
func (c *conversation) user(o translate.Reader) {
	c.turns.begin(user, o)
	parts(o, cacheOf(o), &c.turns)
}

// blockWriter takes the blocks of a message.
type blockWriter interface {
	text(quoted, cache []byte)
	// media takes an image or a document, without the closing brace.
	media(block, cache []byte)
}

func (w *turns) media(block, cache []byte) {
	w.solid++
	w.blocks = append(translate.AppendComma(w.blocks), block...)
	w.blocks = append(appendCache(w.blocks, cache), '}')
}

// parts gives the content of a message of the user or of a tool to w. The last part has the
// cache_control of the whole, unless it has its own.
func parts(o translate.Reader, whole []byte, w blockWriter) {
	eachPart(o, whole, w.text, func(part translate.Reader, typ string, cache []byte) {
		var block []byte
		switch typ {
		case "image_url":
			block = imageBlock(part)
		case "file":
			block = documentBlock(part)
		case "refusal":
			translate.RefuseType(part, typ)
			return
		default:
			w.text(part.RequiredText("text"), cache)
			return
		}
		w.media(block, cache)
	})
}

// eachPart calls text for a content that is a text, and f for each part of another.
func eachPart(o translate.Reader, whole []byte, text func(quoted, cache []byte), f func(part translate.Reader, typ string, cache []byte)) {
	value := translate.Required(o, "content")
	switch {
	case value == nil:
		return
	case value[0] == '"':
		text(value, whole)
		return
	}
	spans, err := translate.Elements(value, o.Param("content"), translate.MaxParts)
	o.Fail(err)
	o.Each("content", translate.MaxParts, func(i int, part translate.Reader) {
		typ := partFields.Type(part)
		cache := cacheOf(part)
		if cache == nil && i == len(spans)-1 {
			cache = whole
		}
		f(part, typ, cache)
	})
}

// imageTypes are the media types of images that the API takes, by those that callers write.
var imageTypes = map[string]string{
	"image/jpeg": "image/jpeg", "image/jpg": "image/jpeg", "image/png": "image/png", "image/gif": "image/gif", "image/webp": "image/webp",
}

// imageBlock returns the block of an image, without its closing brace. The API has no detail.
func imageBlock(part translate.Reader) []byte {
	o := part.RequiredObject("image_url", "url", "detail")
	url := o.RequiredText("url")
	block := []byte(`{"type":"image","source":`)
	s := translate.ReadMedia(url)
	switch media := imageTypes[s.Type]; {
	case s.HTTPS:
		return appendURL(block, url)
	case s.Encoded && media != "":
		return appendEncoded(block, media, s.Data)
	case s.Encoded:
		o.Fail(refusedMedia(o.Param("url"), "a JPEG, PNG, GIF or WebP image"))
	default:
		o.Fail(refusedMedia(o.Param("url"), "an https URL or a data URL in base64"))
	}
	return nil
}

func refusedMedia(param, want string) error {
	return apierror.New(apierror.UnsupportedParameter, "%q must be %s: the provider of this model takes no other", param, want).WithParam(param)
}

// documentBlock returns the block of a file, without its closing brace: a PDF, or text.
func documentBlock(part translate.Reader) []byte {
	o := part.RequiredObject("file", "file_data", "file_url", "filename")
	key := "file_data"
	if o.Get(key) == nil && o.Get("file_url") != nil {
		key = "file_url"
	}
	value, name := o.RequiredText(key), o.Text("filename")
	block := []byte(`{"type":"document","source":`)
	s := translate.ReadMedia(value)
	if s.Type == "" && !s.HTTPS && strings.HasSuffix(strings.ToLower(string(name)), `.pdf"`) { // base64 alone
		s.Type, s.Encoded, s.Data = "application/pdf", true, value[1:len(value)-1]
	}
	switch {
	case s.HTTPS:
		block = appendURL(block, value)
	case s.Encoded && s.Type == "application/pdf":
		block = appendEncoded(block, s.Type, s.Data)
	case s.Encoded && strings.HasPrefix(s.Type, "text/"):
		text, err := base64.StdEncoding.DecodeString(string(s.Data))
		if err != nil {
			o.Fail(translate.Invalid(o.Param(key), "a data URL in base64"))
		}
		block = append(block, `{"type":"text","media_type":"text/plain","data":`...)
		block = append(jsonscan.AppendString(block, string(text)), '}')
	default:
		o.Fail(refusedMedia(o.Param(key), "a PDF or a text, as an https URL or a data URL in base64"))
	}
	if name != nil && string(name) != `""` {
		block = translate.AppendMember(block, "title", name)
	}
	return block
}

func appendURL(dst, quoted []byte) []byte {
	dst = append(dst, `{"type":"url","url":`...)
	return append(append(dst, quoted...), '}')
}

func appendEncoded(dst []byte, media string, data []byte) []byte {
	dst = append(append(dst, `{"type":"base64","media_type":"`...), media...)
	dst = append(append(dst, `","data":"`...), data...)
	return append(dst, `"}`...)
}
