package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// partFields are the fields of content parts, by type, that a chat request can carry, or that are
// for readers and not for the model: annotations and log probabilities of earlier answers.
var partFields = map[string][]string{
	"input_text":  {"type", "text"},
	"output_text": {"type", "text", "annotations", "logprobs"},
	"refusal":     {"type", "refusal"},
	"input_image": {"type", "image_url", "detail"},
	"input_file":  {"type", "filename", "file_data", "file_url"},
	"input_audio": {"type", "input_audio"},
}

// content writes the content of a message, which is a member of o: a single text as a string, which
// every provider accepts, and parts as parts. Some parts only users can have.
func (m *messageWriter) content(o translate.Object, key, role string) error {
	value := o.Get(key)
	switch {
	case value == nil:
		return translate.Missing(o.Param(key))
	case value[0] == '"':
		m.put("content", value)
		return nil
	}
	m.out = translate.AppendKey(m.out, "content")
	start := len(m.out)
	parts := 0
	var single []byte // the quoted text, if the last part is text
	m.out = append(m.out, '[')
	err := o.Each(key, translate.MaxParts, func(i int, part translate.Object) (err error) {
		parts++
		m.out, single, err = m.appendPart(translate.AppendComma(m.out), part, role)
		return err
	})
	switch {
	case err != nil:
		return err
	case parts == 0:
		m.out = append(m.out[:start], `""`...)
	case parts == 1 && single != nil:
		m.out = append(m.out[:start], single...)
	default:
		m.out = append(m.out, ']')
	}
	return nil
}

// appendPart appends a part. It returns the quoted text of a text part.
func (m *messageWriter) appendPart(dst []byte, part translate.Object, role string) (out, text []byte, err error) {
	typ, err := part.Type()
	if err != nil {
		return dst, nil, err
	}
	known, ok := partFields[typ]
	isText := typ == "input_text" || typ == "output_text"
	if !ok || typ == "refusal" || !isText && role != "user" {
		return dst, nil, translate.UnsupportedType(part, typ)
	}
	if err := part.Only(known...); err != nil {
		return dst, nil, err
	}
	switch typ {
	case "input_image":
		dst, err = appendImage(dst, part)
	case "input_file":
		dst, err = appendFile(dst, part, m.opt.FileURLs)
	case "input_audio":
		dst, err = translate.AppendAudio(dst, part)
	default:
		if text, err = part.RequiredText("text"); err == nil {
			dst = appendTextPart(dst, text)
		}
	}
	return dst, text, err
}

func appendTextPart(dst, quoted []byte) []byte {
	dst = append(dst, `{"type":"text"`...)
	return append(translate.AppendMember(dst, "text", quoted), '}')
}

func appendImage(dst []byte, part translate.Object) ([]byte, error) {
	url, err := part.RequiredText("image_url")
	if err != nil {
		return dst, err
	}
	if _, err := part.Text("detail"); err != nil {
		return dst, err
	}
	dst = append(dst, `{"type":"image_url","image_url":{`...)
	dst = translate.AppendMember(dst, "url", url)
	return append(translate.AppendPresent(dst, part, "detail"), "}}"...), nil
}

func appendFile(dst []byte, part translate.Object, urls bool) ([]byte, error) {
	key := "file_data"
	if url := part.Get("file_url"); url != nil {
		if !urls || part.Get("file_data") != nil {
			return dst, translate.Unsupported(part.Param("file_url"))
		}
		key = "file_url"
	}
	if _, err := part.RequiredText(key); err != nil {
		return dst, err
	}
	if _, err := part.Text("filename"); err != nil {
		return dst, err
	}
	dst = append(dst, `{"type":"file","file":{`...)
	return append(translate.AppendPresent(dst, part, key, "filename"), "}}"...), nil
}
