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
func (c *conversation) user(o translate.Object) error {
	if err := c.turns.begin(user, o); err != nil {
		return err
	}
	cache, err := cacheOf(o)
	if err != nil {
		return err
	}
	return parts(o, cache, &c.turns)
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
func parts(o translate.Object, whole []byte, w blockWriter) error {
	value := o.Get("content")
	switch {
	case value == nil:
		return translate.Missing(o.Param("content"))
	case value[0] == '"':
		w.text(value, whole)
		return nil
	}
	spans, err := translate.Elements(value, o.Param("content"), translate.MaxParts)
	if err != nil {
		return err
	}
	return o.Each("content", translate.MaxParts, func(i int, part translate.Object) error {
		typ, err := partFields.Type(part)
		if err != nil {
			return err
		}
		cache, err := cacheOf(part)
		if err != nil {
			return err
		}
		if cache == nil && i == len(spans)-1 {
			cache = whole
		}
		var block []byte
		switch typ {
		case "image_url":
			block, err = imageBlock(part)
		case "file":
			block, err = documentBlock(part)
		case "refusal":
			return translate.UnsupportedType(part, typ)
		default:
			quoted, err := part.RequiredText("text")
			if err == nil {
				w.text(quoted, cache)
			}
			return err
		}
		if err == nil {
			w.media(block, cache)
		}
		return err
	})
}

// imageTypes are the media types of images that the API takes, by those that callers write.
var imageTypes = map[string]string{
	"image/jpeg": "image/jpeg", "image/jpg": "image/jpeg", "image/png": "image/png", "image/gif": "image/gif", "image/webp": "image/webp",
}

// imageBlock returns the block of an image, without its closing brace. The API has no detail.
func imageBlock(part translate.Object) ([]byte, error) {
	o, err := part.RequiredObject("image_url")
	if err != nil {
		return nil, err
	}
	if err := o.Only("url", "detail"); err != nil {
		return nil, err
	}
	url, err := o.RequiredText("url")
	if err != nil {
		return nil, err
	}
	block := []byte(`{"type":"image","source":`)
	s := translate.ReadMedia(url)
	switch media := imageTypes[s.Type]; {
	case s.HTTPS:
		return appendURL(block, url), nil
	case s.Encoded && media != "":
		return appendEncoded(block, media, s.Data), nil
	case s.Encoded:
		return nil, refusedMedia(o.Param("url"), "a JPEG, PNG, GIF or WebP image")
	}
	return nil, refusedMedia(o.Param("url"), "an https URL or a data URL in base64")
}

func refusedMedia(param, want string) error {
	return apierror.New(apierror.UnsupportedParameter, "%q must be %s: the provider of this model takes no other", param, want).WithParam(param)
}

// documentBlock returns the block of a file, without its closing brace: a PDF, or text.
func documentBlock(part translate.Object) ([]byte, error) {
	o, err := part.RequiredObject("file")
	if err != nil {
		return nil, err
	}
	if err := o.Only("file_data", "file_url", "filename"); err != nil {
		return nil, err
	}
	key := "file_data"
	if o.Get(key) == nil && o.Get("file_url") != nil {
		key = "file_url"
	}
	value, err := o.RequiredText(key)
	if err != nil {
		return nil, err
	}
	name, err := o.Text("filename")
	if err != nil {
		return nil, err
	}
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
			return nil, translate.Invalid(o.Param(key), "a data URL in base64")
		}
		block = append(block, `{"type":"text","media_type":"text/plain","data":`...)
		block = append(jsonscan.AppendString(block, string(text)), '}')
	default:
		return nil, refusedMedia(o.Param(key), "a PDF or a text, as an https URL or a data URL in base64")
	}
	if name != nil && string(name) != `""` {
		block = translate.AppendMember(block, "title", name)
	}
	return block, nil
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
