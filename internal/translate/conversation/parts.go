package conversation

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// partTypes are the types of the parts of a content, with the member that has their own object or
// text.
var partTypes = map[string]struct {
	kind   Kind
	fields []string // of the own object; nil: it is a text
}{
	"text":        {Text, nil},
	"refusal":     {Refusal, nil},
	"image_url":   {Image, []string{"url", "detail"}},
	"video_url":   {Video, []string{"url"}},
	"input_audio": {Sound, []string{"data", "format"}},
	"file":        {File, []string{"file_data", "file_url", "file_id", "filename"}},
}

// Breakpoint is OpenAI's hint for its cache. No other provider has it.
const Breakpoint = "prompt_cache_breakpoint"

// content reads the content of a message, a text or a list of parts, which may be of some kinds.
// cache is the cache_control of the message: that of its last part, unless it has its own.
func (c chat) content(o translate.Reader, kinds Kind, cache []byte) (parts []Part) {
	switch value := translate.Required(o, "content"); {
	case value == nil:
	case value[0] == '"':
		parts = c.Append(make([]Part, 0, 1), Part{Kind: Text, Text: value, Cache: cache, Whole: true})
	default:
		o.Each("content", translate.MaxParts, func(_ int, element translate.Reader) {
			parts = c.Append(parts, c.part(element, kinds))
		})
		if last := len(parts) - 1; last >= 0 && parts[last].Cache == nil {
			parts[last].Cache = cache
		}
	}
	return parts
}

// part reads a part of a content.
func (c chat) part(o translate.Reader, kinds Kind) Part {
	typ := translate.TypeOf(o)
	known, ok := partTypes[typ]
	if !ok || !kinds.Has(known.kind) {
		translate.RefuseType(o, typ)
	}
	o.Only("type", typ, "cache_control", Breakpoint)
	if o.Get(Breakpoint) != nil {
		c.LeaveOut("messages." + Breakpoint)
	}
	p := Part{Kind: known.kind, Cache: c.Rules().CacheOf(o)}
	if known.fields == nil {
		p.Text = o.RequiredText(typ)
		return p
	}
	inner := o.RequiredObject(typ, known.fields...)
	switch p.Kind {
	case File:
		p.Media = readFile(inner, c.Rules().Files)
	case Sound:
		p.Media = &Media{Param: inner.Param("data"), Format: inner.RequiredText("format")}
		data := inner.RequiredText("data")
		p.Media.Data = data[1 : len(data)-1]
	default:
		url := inner.RequiredText("url")
		p.Media = &Media{Media: translate.ReadMedia(url), Param: inner.Param("url"), URL: url, Detail: inner.Text("detail")}
	}
	return p
}

// readFile reads a file: its bytes, an address or, if ids are taken, one that the provider has.
// That the caller owns such a file was checked before.
func readFile(o translate.Reader, ids bool) *Media {
	if id := o.Text("file_id"); id != nil {
		if !ids {
			o.Fail(translate.Unsupported(o.Param("file_id")))
		}
		return &Media{Param: o.Param("file_id"), ID: id, URL: o.Text("file_data"), Name: o.Text("filename")}
	}
	key := "file_data"
	if o.Get(key) == nil && o.Get("file_url") != nil {
		key = "file_url"
	}
	return FileOf(o, key, o.Text("filename"))
}

// FileOf returns the file whose bytes or address are in a member: file_data or file_url. The name
// is quoted, or nil.
func FileOf(o translate.Reader, key string, name []byte) *Media {
	m := &Media{Param: o.Param(key), URL: o.RequiredText(key), Linked: key == "file_url", Name: name}
	m.Media = translate.ReadMedia(m.URL)
	if m.Type == "" && !m.HTTPS && strings.HasSuffix(strings.ToLower(string(m.Name)), `.pdf"`) { // base64 alone
		m.Media = translate.Media{Encoded: true, Type: "application/pdf", Data: m.URL[1 : len(m.URL)-1]}
	}
	return m
}

// takes reports whether a target takes a quoted text.
func (t Texts) takes(quoted []byte) bool {
	switch t {
	case AnyText:
		return true
	case NotBlank:
		return !isBlank(quoted)
	}
	return string(quoted) != `""`
}

// isBlank reports whether a quoted text has nothing but white space.
func isBlank(quoted []byte) bool {
	inner := quoted[1 : len(quoted)-1]
	if len(inner) > 0 && inner[0] > ' ' && inner[0] != '\\' && inner[0] < 0x80 {
		return false
	}
	return len(bytes.TrimSpace([]byte(decoded(quoted)))) == 0
}

// allBlank reports whether parts say nothing.
func allBlank(parts []Part) bool {
	return !slices.ContainsFunc(parts, func(p Part) bool { return p.Kind&(Text|Refusal) == 0 || !isBlank(p.Text) })
}

// CacheOf returns the cache_control of a message, a part or a tool; nil for none, and for a target
// without.
func (r *Rules) CacheOf(o translate.Reader) []byte {
	value, some := o.Object("cache_control")
	if !some || !r.Cache {
		return nil
	}
	return translate.Written(value)
}

// ForHour reports whether a cache_control asks for an hour.
func ForHour(cache []byte) bool {
	for m := range jsonscan.AllMembers(cache) {
		if string(m.DecodedKey(cache)) == "ttl" {
			return string(m.Value(cache)) == `"1h"`
		}
	}
	return false
}

// decoded returns a quoted text as text.
func decoded(quoted []byte) string { return string(text(quoted)) }

// text is decoded that copies only a text with escapes.
func text(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return jsonscan.AppendText(nil, inner)
}
