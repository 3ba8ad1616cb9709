package tochat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// partFields are the fields of the content parts that a chat request can
// carry. Annotations and log probabilities of earlier answers are for readers,
// not for the model.
var partFields = map[string][]string{
	"input_text":  {"type", "text"},
	"output_text": {"type", "text", "annotations", "logprobs"},
	"refusal":     {"type", "refusal"},
	"input_image": {"type", "image_url", "detail"},
	"input_file":  {"type", "filename", "file_data"},
	"input_audio": {"type", "input_audio"},
}

// content appends the content of a user, system or developer message: text as
// a string, which every provider takes, and parts as parts.
func (m *messages) content(o translate.Object, role string) error {
	value := o.Get("content")
	path := o.Param("content")
	switch {
	case value == nil:
		return translate.Missing(path)
	case value[0] == '"':
		m.out = append(m.out, value...)
		return nil
	}
	spans, err := translate.Elements(value, path, translate.MaxParts)
	if err != nil {
		return err
	}
	start := len(m.out)
	var only []byte // the text, if that is all
	for i, span := range spans {
		part, err := translate.Open(span.Value(value), translate.At(path, i))
		if err != nil {
			return err
		}
		m.out = append(m.out, "[,"[min(i, 1)])
		if only, err = m.part(part, role); err != nil {
			return err
		}
	}
	switch {
	case len(spans) == 0:
		m.out = append(m.out, `""`...)
	case len(spans) == 1 && only != nil:
		m.out = append(m.out[:start], only...)
	default:
		m.out = append(m.out, ']')
	}
	return nil
}

// part appends one part, and returns the quoted text of a text part.
func (m *messages) part(part translate.Object, role string) (text []byte, err error) {
	typ, err := part.DecodedText("type")
	if err != nil {
		return nil, err
	}
	known := partFields[typ]
	switch typ {
	case "input_text", "output_text":
	case "input_image", "input_file", "input_audio":
		if role != "user" {
			return nil, translate.UnsupportedValue(part.Param("type"), typ)
		}
	default:
		return nil, translate.UnsupportedType(part, typ)
	}
	if err := part.Only(known...); err != nil {
		return nil, err
	}
	switch typ {
	case "input_image":
		return nil, m.image(part)
	case "input_file":
		return nil, m.file(part)
	case "input_audio":
		return nil, m.audio(part)
	}
	if text, err = part.RequiredText("text"); err == nil {
		m.out = appendTextPart(m.out, text)
	}
	return text, err
}

func appendTextPart(dst, quoted []byte) []byte {
	dst = append(dst, `{"type":"text","text":`...)
	dst = append(dst, quoted...)
	return append(dst, '}')
}

func (m *messages) image(part translate.Object) error {
	url, err := part.RequiredText("image_url")
	if err != nil {
		return err
	}
	detail, err := part.Text("detail")
	if err != nil {
		return err
	}
	m.out = append(m.out, `{"type":"image_url","image_url":{"url":`...)
	m.out = append(m.out, url...)
	m.optional("detail", detail)
	m.out = append(m.out, "}}"...)
	return nil
}

func (m *messages) file(part translate.Object) error {
	data, err := part.RequiredText("file_data")
	if err != nil {
		return err
	}
	name, err := part.Text("filename")
	if err != nil {
		return err
	}
	m.out = append(m.out, `{"type":"file","file":{"file_data":`...)
	m.out = append(m.out, data...)
	m.optional("filename", name)
	m.out = append(m.out, "}}"...)
	return nil
}

func (m *messages) audio(part translate.Object) error {
	value := part.Get("input_audio")
	if value == nil {
		return translate.Missing(part.Param("input_audio"))
	}
	audio, err := translate.Open(value, part.Param("input_audio"))
	if err != nil {
		return err
	}
	if err := audio.Only("data", "format"); err != nil {
		return err
	}
	for _, key := range []string{"data", "format"} {
		if _, err := audio.RequiredText(key); err != nil {
			return err
		}
	}
	m.out = append(m.out, `{"type":"input_audio","input_audio":`...)
	m.out = append(m.out, value...)
	m.out = append(m.out, '}')
	return nil
}

// optional appends a member that has a value.
func (m *messages) optional(key string, value []byte) {
	if value == nil {
		return
	}
	m.out = append(m.out, ',', '"')
	m.out = append(m.out, key...)
	m.out = append(m.out, '"', ':')
	m.out = append(m.out, value...)
}
