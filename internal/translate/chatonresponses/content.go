package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// partFields are the fields of the content parts that a Responses request can carry. cache_control
// is a hint for caches and not sent.
var partFields = translate.PartFields{
	"text":        {"type", "text", "cache_control"},
	"refusal":     {"type", "refusal"},
	"image_url":   {"type", "image_url", "cache_control"},
	"file":        {"type", "file", "cache_control"},
	"input_audio": {"type", "input_audio"},
}

// content ends an item with the content of a message to the model, in the member key: a string
// unchanged, parts under their names in Responses. Only users and tools may send media.
func (in *inputWriter) content(key string, message translate.Reader, media bool) {
	value := message.Get("content")
	switch {
	case value == nil:
		message.Fail(translate.Missing(message.Param("content")))
	case value[0] == '"':
		in.put(key, value)
		in.out = append(in.out, '}')
		return
	}
	in.out = append(translate.AppendKey(in.out, key), '[')
	eachPart(message, func(part translate.Reader, typ string) {
		if typ == "refusal" || typ != "text" && !media {
			translate.RefuseType(part, typ)
		}
		in.out = appendPart(translate.AppendComma(in.out), part, typ)
	})
	in.out = append(in.out, "]}"...)
}

// eachPart calls f for each part of a message.
func eachPart(message translate.Reader, f func(part translate.Reader, typ string)) {
	message.Each("content", translate.MaxParts, func(_ int, part translate.Reader) {
		f(part, partFields.Type(part))
	})
}

func appendPart(dst []byte, part translate.Reader, typ string) []byte {
	switch typ {
	case "image_url":
		return appendImage(dst, part)
	case "file":
		return appendFile(dst, part)
	case "input_audio":
		return translate.AppendAudio(dst, part)
	}
	dst = append(dst, `{"type":"input_text"`...)
	return append(translate.AppendMember(dst, "text", part.RequiredText("text")), '}')
}

// appendImage appends an image; Responses requires its detail.
func appendImage(dst []byte, part translate.Reader) []byte {
	o := part.RequiredObject("image_url", "url", "detail")
	url, detail := o.RequiredText("url"), o.Text("detail")
	if detail == nil {
		detail = []byte(`"auto"`)
	}
	dst = append(dst, `{"type":"input_image"`...)
	dst = translate.AppendMember(dst, "image_url", url)
	return append(translate.AppendMember(dst, "detail", detail), '}')
}

// appendFile appends a file, inline or one that the provider has. That the caller owns it was
// checked before.
func appendFile(dst []byte, part translate.Reader) []byte {
	o := part.RequiredObject("file", "file_data", "file_id", "filename")
	if o.Get("file_data") == nil && o.Get("file_id") == nil {
		o.Fail(translate.Missing(o.Param("file_data")))
	}
	dst = append(dst, `{"type":"input_file"`...)
	for _, key := range []string{"file_data", "file_id", "filename"} {
		o.Text(key)
		dst = translate.AppendPresent(dst, o, key)
	}
	return append(dst, '}')
}

// answer ends an item with the content of a message of the model: a string unchanged, parts and a
// refusal as the parts of an answer.
func (in *inputWriter) answer(message translate.Reader, content, refusal []byte) {
	if refusal == nil && content[0] == '"' {
		in.put("content", content)
		in.out = append(in.out, '}')
		return
	}
	in.out = append(in.out, `,"content":[`...)
	switch {
	case content == nil:
	case content[0] == '"':
		in.answerPart("text", content)
	default:
		eachPart(message, func(part translate.Reader, typ string) {
			if typ != "text" && typ != "refusal" {
				translate.RefuseType(part, typ)
			}
			in.answerPart(typ, part.RequiredText(typ))
		})
	}
	if refusal != nil {
		in.answerPart("refusal", refusal)
	}
	in.out = append(in.out, "]}"...)
}

// answerPart writes a text or a refusal. Responses requires the annotations of a text.
func (in *inputWriter) answerPart(typ string, quoted []byte) {
	in.out = translate.AppendComma(in.out)
	if typ == "refusal" {
		in.out = append(in.out, `{"type":"refusal"`...)
		in.put("refusal", quoted)
	} else {
		in.out = append(in.out, `{"type":"output_text"`...)
		in.put("text", quoted)
		in.out = append(in.out, `,"annotations":[]`...)
	}
	in.out = append(in.out, '}')
}
