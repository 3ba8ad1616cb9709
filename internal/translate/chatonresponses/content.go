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
func (in *inputWriter) content(key string, message translate.Object, media bool) error {
	value := message.Get("content")
	switch {
	case value == nil:
		return translate.Missing(message.Param("content"))
	case value[0] == '"':
		in.put(key, value)
		in.out = append(in.out, '}')
		return nil
	}
	in.out = append(translate.AppendKey(in.out, key), '[')
	err := message.Each("content", translate.MaxParts, func(_ int, part translate.Object) error {
		typ, err := partFields.Type(part)
		switch {
		case err != nil:
			return err
		case typ == "refusal" || typ != "text" && !media:
			return translate.UnsupportedType(part, typ)
		}
		in.out, err = appendPart(translate.AppendComma(in.out), part, typ)
		return err
	})
	in.out = append(in.out, "]}"...)
	return err
}

func appendPart(dst []byte, part translate.Object, typ string) ([]byte, error) {
	switch typ {
	case "image_url":
		return appendImage(dst, part)
	case "file":
		return appendFile(dst, part)
	case "input_audio":
		return translate.AppendAudio(dst, part)
	}
	text, err := part.RequiredText("text")
	dst = append(dst, `{"type":"input_text"`...)
	return append(translate.AppendMember(dst, "text", text), '}'), err
}

// appendImage appends an image; Responses requires its detail.
func appendImage(dst []byte, part translate.Object) ([]byte, error) {
	o, err := part.RequiredObject("image_url")
	if err != nil {
		return dst, err
	}
	if err := o.Only("url", "detail"); err != nil {
		return dst, err
	}
	url, err := o.RequiredText("url")
	if err != nil {
		return dst, err
	}
	detail, err := o.Text("detail")
	if detail == nil {
		detail = []byte(`"auto"`)
	}
	dst = append(dst, `{"type":"input_image"`...)
	dst = translate.AppendMember(dst, "image_url", url)
	return append(translate.AppendMember(dst, "detail", detail), '}'), err
}

// appendFile appends a file, inline or one that the provider has. That the caller owns it was
// checked before.
func appendFile(dst []byte, part translate.Object) ([]byte, error) {
	o, err := part.RequiredObject("file")
	if err != nil {
		return dst, err
	}
	if err := o.Only("file_data", "file_id", "filename"); err != nil {
		return dst, err
	}
	if o.Get("file_data") == nil && o.Get("file_id") == nil {
		return dst, translate.Missing(o.Param("file_data"))
	}
	dst = append(dst, `{"type":"input_file"`...)
	for _, key := range []string{"file_data", "file_id", "filename"} {
		if _, err := o.Text(key); err != nil {
			return dst, err
		}
		dst = translate.AppendPresent(dst, o, key)
	}
	return append(dst, '}'), nil
}

// answer ends an item with the content of a message of the model: a string unchanged, parts and a
// refusal as the parts of an answer.
func (in *inputWriter) answer(message translate.Object, content, refusal []byte) error {
	if refusal == nil && content[0] == '"' {
		in.put("content", content)
		in.out = append(in.out, '}')
		return nil
	}
	in.out = append(in.out, `,"content":[`...)
	switch {
	case content == nil:
	case content[0] == '"':
		in.answerPart("text", content)
	default:
		err := message.Each("content", translate.MaxParts, func(_ int, part translate.Object) error {
			typ, err := partFields.Type(part)
			switch {
			case err != nil:
				return err
			case typ != "text" && typ != "refusal":
				return translate.UnsupportedType(part, typ)
			}
			text, err := part.RequiredText(typ)
			in.answerPart(typ, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	if refusal != nil {
		in.answerPart("refusal", refusal)
	}
	in.out = append(in.out, "]}"...)
	return nil
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
