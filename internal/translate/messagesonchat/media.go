package messagesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

func addImage(c *content, block translate.Reader, cache []byte) {
	source := block.RequiredObject("source")
	var url []byte
	switch typ := translate.TypeOf(source); typ {
	case "base64":
		url = dataURL(source)
	case "url":
		url = sourceText(source, "url")
	default:
		translate.RefuseType(source, typ)
	}
	c.parts = append(translate.AppendComma(c.parts), `{"type":"image_url","image_url":{`...)
	c.parts = append(translate.AppendMember(c.parts, "url", url), '}')
	c.end(cache)
}

// sourceText returns the text of a source, which has nothing else but its type and media type.
func sourceText(source translate.Reader, key string) []byte {
	source.Only("type", "media_type", key)
	return source.RequiredText(key)
}

// dataURL returns a source in base64 as a quoted URL.
func dataURL(source translate.Reader) []byte {
	data, media := sourceText(source, "data"), source.RequiredText("media_type")
	url := append([]byte(nil), `"data:`...)
	url = append(append(url, media[1:len(media)-1]...), ";base64,"...)
	return append(url, data[1:]...)
}

// addDocument adds a file in base64 as a file, and other documents as what is in them. Chat cannot
// cite documents.
func (m *messageWriter) addDocument(c *content, block translate.Reader, cache []byte) {
	if citations, _ := block.Object("citations"); citations.Bool("enabled") {
		block.Fail(translate.UnsupportedValue(citations.Param("enabled"), "true"))
	}
	title, context := block.Text("title"), block.Text("context")
	source := block.RequiredObject("source")
	switch typ := translate.TypeOf(source); typ {
	case "base64":
		data := dataURL(source)
		c.text(context, nil)
		c.file(title, data, cache)
	case "url":
		if !m.opt.OpenRouter && !m.opt.FileURLs {
			translate.RefuseType(source, typ)
		}
		url := sourceText(source, "url")
		c.text(context, nil)
		c.file(title, url, cache)
	case "text":
		c.text(joined([][]byte{title, context, sourceText(source, "data")}), cache)
	case "content":
		source.Only("type", "content")
		c.text(joined([][]byte{title, context}), nil)
		eachBlock(source, "content", func(quoted []byte) { c.text(quoted, cache) }, func(inner translate.Reader) {
			m.addBlock(c, inner, blockType(inner, "text", "image"))
		})
	default:
		translate.RefuseType(source, typ)
	}
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
