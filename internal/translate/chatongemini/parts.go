package chatongemini

import (
	"bytes"
	"path"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// partFields are the fields of the content parts that a request can carry.
var partFields = translate.PartFields{
	"text":        {"type", "text", "cache_control"},
	"refusal":     {"type", "refusal"},
	"image_url":   {"type", "image_url", "cache_control"},
	"video_url":   {"type", "video_url", "cache_control"},
	"input_audio": {"type", "input_audio", "cache_control"},
	"file":        {"type", "file", "cache_control"},
}

// eachPart calls f for each part of a message's content with its type, or text for a content that is a
// text.
func eachPart(o translate.Reader, f func(part translate.Reader, typ string), text func(quoted []byte)) {
	switch value := translate.Required(o, "content"); {
	case value == nil:
	case value[0] == '"':
		text(value)
	default:
		o.Each("content", translate.MaxParts, func(_ int, part translate.Reader) { f(part, partFields.Type(part)) })
	}
}

// parts adds the content of a message.
func (w *turns) parts(o translate.Reader, c *content) {
	eachPart(o, func(part translate.Reader, typ string) { w.part(part, typ, c) }, c.addText)
}

// part adds a part of a message's content.
func (w *turns) part(part translate.Reader, typ string, c *content) {
	switch typ {
	case "text", "refusal":
		c.addText(part.RequiredText(typ))
	case "image_url":
		w.image(part, c)
	case "input_audio":
		c.audio(part)
	case "file":
		c.file(part)
	default:
		c.link(part.RequiredObject("video_url", "url"), "url", "video/mp4", "")
	}
}

// image adds an image: its bytes, or an address that Google reads.
func (w *turns) image(part translate.Reader, c *content) {
	o := part.RequiredObject("image_url", "url", "detail")
	resolution := strings.ToUpper(o.DecodedText("detail"))
	if !w.model.signs() || resolution != "LOW" && resolution != "HIGH" {
		resolution = ""
	}
	c.link(o, "url", "image/jpeg", resolution)
}

// audioTypes are the media types of the formats of sound.
var audioTypes = map[string]string{"wav": "audio/wav", "mp3": "audio/mp3", "flac": "audio/flac", "ogg": "audio/ogg", "aac": "audio/aac", "aiff": "audio/aiff"}

func (c *content) audio(part translate.Reader) {
	o := part.RequiredObject("input_audio", "data", "format")
	word := o.DecodedText("format")
	media := audioTypes[word]
	if media == "" {
		o.Fail(translate.UnsupportedValue(o.Param("format"), word))
	}
	data := o.RequiredText("data")
	c.inline(media, data[1:len(data)-1], "")
}

// file adds a file: its bytes as a data URL, or an address.
func (c *content) file(part translate.Reader) {
	o := part.RequiredObject("file", "file_data", "file_url", "filename")
	key := "file_data"
	if o.Get(key) == nil && o.Get("file_url") != nil {
		key = "file_url"
	}
	name, value := o.DecodedText("filename"), o.RequiredText(key)
	if m := translate.ReadMedia(value); key == "file_data" && m.Type == "" && !m.HTTPS && strings.HasSuffix(strings.ToLower(name), ".pdf") { // base64 alone
		c.inline("application/pdf", value[1:len(value)-1], "")
		return
	}
	c.link(o, key, "application/pdf", "")
}

// link adds what a URL means: the bytes of a data URL, or an address with the media type that its name
// has, or else the usual one.
func (c *content) link(o translate.Reader, key, usual, resolution string) {
	value := o.RequiredText(key)
	m := translate.ReadMedia(value)
	url, _ := jsonscan.String(value)
	switch {
	case m.Encoded && m.Type != "":
		c.inline(m.Type, m.Data, resolution)
	case gemini.PublicURL(url):
		c.parts = append(append(translate.AppendComma(c.parts), '{'), `"fileData":{`...)
		c.parts = translate.AppendTextMember(c.parts, "mimeType", []byte(mediaType(url, usual)))
		c.parts = append(translate.AppendMember(c.parts, "fileUri", value), '}')
		c.endMedia(resolution)
	default:
		o.Fail(apierror.New(apierror.UnsupportedParameter, "%q must be a data URL in base64, or a public https URL outside Google's APIs: uploaded files and buckets belong to the provider's account", o.Param(key)).WithParam(o.Param(key)))
	}
}

// inline adds bytes in base64.
func (c *content) inline(media string, data []byte, resolution string) {
	c.parts = append(append(translate.AppendComma(c.parts), '{'), `"inlineData":{`...)
	c.parts = append(translate.AppendKey(c.parts, "mimeType"), jsonscan.AppendString(nil, media)...)
	c.parts = append(translate.AppendTextMember(c.parts, "data", bytes.TrimSpace(data)), '}')
	c.endMedia(resolution)
}

// endMedia ends a part. Those of results have no resolution. The signature of an image is not known: chat
// has no place for it.
func (c *content) endMedia(resolution string) {
	if c.signs {
		c.parts = append(translate.AppendKey(c.parts, "thoughtSignature"), dummy...)
	}
	if resolution != "" && !c.result {
		c.parts = append(translate.AppendKey(c.parts, "mediaResolution"), `{"level":"MEDIA_RESOLUTION_`+resolution+`"}`...)
	}
	c.parts = append(c.parts, '}')
}

// mediaTypes are those of the endings of names.
var mediaTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif", ".heic": "image/heic",
	".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".html": "text/html",
	".mp4": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm", ".mp3": "audio/mp3", ".wav": "audio/wav",
}

func mediaType(url, usual string) string {
	url, _, _ = strings.Cut(url, "?")
	if media := mediaTypes[strings.ToLower(path.Ext(url))]; media != "" {
		return media
	}
	return usual
}
