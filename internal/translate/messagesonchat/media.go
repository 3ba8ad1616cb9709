package messagesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

func addImage(c *content, block translate.Object, cache []byte) error {
	source, err := block.RequiredObject("source")
	if err != nil {
		return err
	}
	typ, err := source.Type()
	if err != nil {
		return err
	}
	var url []byte
	switch typ {
	case "base64":
		url, err = dataURL(source)
	case "url":
		url, err = sourceText(source, "url")
	default:
		err = translate.UnsupportedType(source, typ)
	}
	if err != nil {
		return err
	}
	c.parts = append(translate.AppendComma(c.parts), `{"type":"image_url","image_url":{`...)
	c.parts = append(translate.AppendMember(c.parts, "url", url), '}')
	c.end(cache)
	return nil
}

// sourceText returns the text of a source, which has nothing else but its type and media type.
func sourceText(source translate.Object, key string) ([]byte, error) {
	if err := source.Only("type", "media_type", key); err != nil {
		return nil, err
	}
	return source.RequiredText(key)
}

// dataURL returns a source in base64 as a quoted URL.
func dataURL(source translate.Object) ([]byte, error) {
	data, err := sourceText(source, "data")
	if err != nil {
		return nil, err
	}
	media, err := source.RequiredText("media_type")
	if err != nil {
		return nil, err
	}
	url := append([]byte(nil), `"data:`...)
	url = append(append(url, media[1:len(media)-1]...), ";base64,"...)
	return append(url, data[1:]...), nil
}

// addDocument adds a file in base64 as a file, and other documents as what is in them. Chat cannot
// cite documents.
func (m *messageWriter) addDocument(c *content, block translate.Object, cache []byte) error {
	citations, _, err := block.Object("citations")
	if err != nil {
		return err
	}
	if cites, err := citations.Bool("enabled"); err != nil || cites {
		if err == nil {
			err = translate.UnsupportedValue(citations.Param("enabled"), "true")
		}
		return err
	}
	var notes [2][]byte
	for i, key := range [...]string{"title", "context"} {
		if notes[i], err = block.Text(key); err != nil {
			return err
		}
	}
	source, err := block.RequiredObject("source")
	if err != nil {
		return err
	}
	typ, err := source.Type()
	if err != nil {
		return err
	}
	switch typ {
	case "base64":
		data, err := dataURL(source)
		if err != nil {
			return err
		}
		c.text(notes[1], nil)
		c.file(notes[0], data, cache)
	case "url":
		if !m.opt.OpenRouter && !m.opt.FileURLs {
			return translate.UnsupportedType(source, typ)
		}
		url, err := sourceText(source, "url")
		if err != nil {
			return err
		}
		c.text(notes[1], nil)
		c.file(notes[0], url, cache)
	case "text":
		text, err := sourceText(source, "data")
		if err != nil {
			return err
		}
		c.text(joined([][]byte{notes[0], notes[1], text}), cache)
	case "content":
		if err := source.Only("type", "content"); err != nil {
			return err
		}
		c.text(joined(notes[:]), nil)
		return eachBlock(source, "content", func(quoted []byte) { c.text(quoted, cache) }, func(inner translate.Object) error {
			typ, err := blockType(inner, "text", "image")
			if err != nil {
				return err
			}
			return m.addBlock(c, inner, typ)
		})
	default:
		return translate.UnsupportedType(source, typ)
	}
	return nil
}

// file adds a file, whose title is its name.
func (c *content) file(title, data, cache []byte) {
	if _, ok := translate.Unquoted(title); !ok {
		title = []byte(`"document.pdf"`)
	}
	c.parts = append(translate.AppendComma(c.parts), `{"type":"file","file":{`...)
	c.parts = translate.AppendMember(c.parts, "filename", title)
	c.parts = append(translate.AppendMember(c.parts, "file_data", data), '}')
	c.end(cache)
}
