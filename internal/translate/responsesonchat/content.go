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
func (m *messageWriter) content(o translate.Reader, key, role string) {
	value := translate.Required(o, key)
	switch {
	case value == nil:
		return
	case value[0] == '"':
		m.put("content", value)
		return
	}
	m.out = translate.AppendKey(m.out, "content")
	start := len(m.out)
	parts := 0
	var single []byte // the quoted text, if the last part is text
	m.out = append(m.out, '[')
	o.Each(key, translate.MaxParts, func(_ int, part translate.Reader) {
		parts++
		m.out, single = m.appendPart(translate.AppendComma(m.out), part, role)
	})
	switch {
	case parts == 0:
		m.out = append(m.out[:start], `""`...)
	case parts == 1 && single != nil:
		m.out = append(m.out[:start], single...)
	default:
		m.out = append(m.out, ']')
	}
}

// appendPart appends a part. It returns the quoted text of a text part.
func (m *messageWriter) appendPart(dst []byte, part translate.Reader, role string) (out, text []byte) {
	typ := translate.TypeOf(part)
	known, ok := partFields[typ]
	isText := typ == "input_text" || typ == "output_text"
	if !ok || typ == "refusal" || !isText && role != "user" {
		translate.RefuseType(part, typ)
	}
	part.Only(known...)
	switch typ {
	case "input_image":
		dst = appendImage(dst, part)
	case "input_file":
		dst = appendFile(dst, part, m.opt.FileURLs)
	case "input_audio":
		dst = translate.AppendAudio(dst, part)
	default:
		text = part.RequiredText("text")
		dst = appendTextPart(dst, text)
	}
	return dst, text
}

func appendTextPart(dst, quoted []byte) []byte {
	dst = append(dst, `{"type":"text"`...)
	return append(translate.AppendMember(dst, "text", quoted), '}')
}

func appendImage(dst []byte, part translate.Reader) []byte {
	url := part.RequiredText("image_url")
	part.Text("detail")
	dst = append(dst, `{"type":"image_url","image_url":{`...)
	dst = translate.AppendMember(dst, "url", url)
	return append(translate.AppendPresent(dst, part, "detail"), "}}"...)
}

func appendFile(dst []byte, part translate.Reader, urls bool) []byte {
	key := "file_data"
	if url := part.Get("file_url"); url != nil {
		if !urls || part.Get("file_data") != nil {
			part.Fail(translate.Unsupported(part.Param("file_url")))
		}
		key = "file_url"
	}
	part.RequiredText(key)
	part.Text("filename")
	dst = append(dst, `{"type":"file","file":{`...)
	return append(translate.AppendPresent(dst, part, key, "filename"), "}}"...)
}
