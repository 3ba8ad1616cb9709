package toresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// partFields are the fields of the content parts that a Responses request
// can carry. cache_control is a hint for caches and not sent.
var partFields = map[string][]string{
	"text":        {"type", "text", "cache_control"},
	"refusal":     {"type", "refusal"},
	"image_url":   {"type", "image_url", "cache_control"},
	"file":        {"type", "file", "cache_control"},
	"input_audio": {"type", "input_audio"},
}

// content appends what is said to the model: a string as it is, parts as
// Responses calls them. Only users and tools show media.
func (in *input) content(value []byte, path string, media bool) error {
	if value[0] == '"' {
		in.out = append(in.out, value...)
		return nil
	}
	spans, err := translate.Elements(value, path, translate.MaxParts)
	if err != nil {
		return err
	}
	in.out = append(in.out, '[')
	for i, span := range spans {
		part, typ, err := openPart(span.Value(value), translate.At(path, i))
		if err != nil {
			return err
		}
		if typ == "refusal" || typ != "text" && !media {
			return translate.UnsupportedValue(part.Param("type"), typ)
		}
		if i > 0 {
			in.out = append(in.out, ',')
		}
		if err := in.part(part, typ); err != nil {
			return err
		}
	}
	in.out = append(in.out, ']')
	return nil
}

func openPart(value []byte, path string) (part translate.Object, typ string, err error) {
	if part, err = translate.Open(value, path); err != nil {
		return part, "", err
	}
	if typ, err = part.DecodedText("type"); err != nil {
		return part, "", err
	}
	known, ok := partFields[typ]
	if !ok {
		return part, typ, translate.UnsupportedType(part, typ)
	}
	return part, typ, part.Only(known...)
}

// part appends one part of what is said to the model.
func (in *input) part(part translate.Object, typ string) error {
	if typ == "text" {
		text, err := part.RequiredText("text")
		if err != nil {
			return err
		}
		in.out = append(in.out, `{"type":"input_text"`...)
		in.put("text", text)
		in.out = append(in.out, '}')
		return nil
	}
	value := part.Get(typ)
	if value == nil {
		return translate.Missing(part.Param(typ))
	}
	inner, err := translate.Open(value, part.Param(typ))
	if err != nil {
		return err
	}
	switch typ {
	case "image_url":
		return in.image(inner)
	case "file":
		return in.file(inner)
	}
	return in.audio(inner)
}

// image appends an image; the detail must be there in Responses.
func (in *input) image(o translate.Object) error {
	if err := o.Only("url", "detail"); err != nil {
		return err
	}
	url, err := o.RequiredText("url")
	if err != nil {
		return err
	}
	detail, err := o.Text("detail")
	if err != nil {
		return err
	}
	if detail == nil {
		detail = []byte(`"auto"`)
	}
	in.out = append(in.out, `{"type":"input_image"`...)
	in.put("image_url", url)
	in.put("detail", detail)
	in.out = append(in.out, '}')
	return nil
}

// file appends a file, inline or one that the provider has: whose it is was
// judged before.
func (in *input) file(o translate.Object) error {
	if err := o.Only("file_data", "file_id", "filename"); err != nil {
		return err
	}
	if o.Get("file_data") == nil && o.Get("file_id") == nil {
		return translate.Missing(o.Param("file_data"))
	}
	in.out = append(in.out, `{"type":"input_file"`...)
	for _, key := range []string{"file_data", "file_id", "filename"} {
		value, err := o.Text(key)
		if err != nil {
			return err
		}
		if value != nil {
			in.put(key, value)
		}
	}
	in.out = append(in.out, '}')
	return nil
}

func (in *input) audio(o translate.Object) error {
	if err := o.Only("data", "format"); err != nil {
		return err
	}
	for _, key := range []string{"data", "format"} {
		if _, err := o.RequiredText(key); err != nil {
			return err
		}
	}
	in.out = append(in.out, `{"type":"input_audio","input_audio":`...)
	in.out = append(in.out, o.Data()...)
	in.out = append(in.out, '}')
	return nil
}

// said appends the content of a message of the model: a string as it is, and
// parts, or a refusal, as the parts of an answer.
func (in *input) said(content, refusal []byte, path string) error {
	if refusal == nil && content[0] == '"' {
		in.out = append(in.out, content...)
		return nil
	}
	in.out = append(in.out, '[')
	some := false
	put := func(typ, key string, quoted []byte) {
		if some {
			in.out = append(in.out, ',')
		}
		some = true
		in.out = append(in.out, `{"type":"`...)
		in.out = append(in.out, typ...)
		in.out = append(in.out, '"')
		in.put(key, quoted)
		if typ == "output_text" {
			in.put("annotations", []byte("[]")) // must be there in Responses
		}
		in.out = append(in.out, '}')
	}
	switch {
	case content == nil:
	case content[0] == '"':
		put("output_text", "text", content)
	default:
		spans, err := translate.Elements(content, path, translate.MaxParts)
		if err != nil {
			return err
		}
		for i, span := range spans {
			part, typ, err := openPart(span.Value(content), translate.At(path, i))
			if err != nil {
				return err
			}
			switch typ {
			case "text", "refusal":
			default:
				return translate.UnsupportedValue(part.Param("type"), typ)
			}
			text, err := part.RequiredText(typ)
			if err != nil {
				return err
			}
			if typ == "text" {
				put("output_text", "text", text)
			} else {
				put("refusal", "refusal", text)
			}
		}
	}
	if refusal != nil {
		put("refusal", "refusal", refusal)
	}
	in.out = append(in.out, ']')
	return nil
}
