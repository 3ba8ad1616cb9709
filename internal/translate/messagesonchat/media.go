package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// image reads an image.
func image(block translate.Reader, cache []byte) conversation.Part {
	source := block.RequiredObject("source")
	var url []byte
	switch typ := translate.TypeOf(source); typ {
	case "base64":
		url = dataURL(source)
	case "url":
		url = sourceText(source, "url")
	default:
		translate.RefuseType(source, typ)
		url = emptyText
	}
	media := &conversation.Media{Media: translate.ReadMedia(url), Param: source.Param("data"), URL: url}
	if media.HTTPS {
		media.Param = source.Param("url")
	}
	return conversation.Part{Kind: conversation.Image, Cache: cache, Media: media}
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

// document adds a file in base64 or at an address as a file, and other documents as what is in
// them. No other API can cite documents as this one does.
func (in *input) document(parts []conversation.Part, block translate.Reader, cache []byte) []conversation.Part {
	if citations, _ := block.Object("citations"); citations.Bool("enabled") {
		block.Fail(translate.UnsupportedValue(citations.Param("enabled"), "true"))
	}
	title, context := block.Text("title"), block.Text("context")
	source := block.RequiredObject("source")
	switch typ := translate.TypeOf(source); typ {
	case "base64":
		return append(in.text(parts, context, nil), file(source, "data", dataURL(source), title, cache))
	case "url":
		if !in.to.Rules().Links {
			translate.RefuseType(source, typ)
		}
		return append(in.text(parts, context, nil), file(source, typ, sourceText(source, typ), title, cache))
	case "text":
		return in.text(parts, translate.Joined(title, context, sourceText(source, "data")), cache)
	case "content":
		source.Only("type", "content")
		parts = in.text(parts, translate.Joined(title, context), nil)
		eachBlock(source, "content", func(quoted []byte) { parts = in.text(parts, quoted, cache) }, func(inner translate.Reader) {
			parts = in.block(parts, inner, blockType(inner, "text", "image"))
		})
	default:
		translate.RefuseType(source, typ)
	}
	return parts
}

// file is a file, whose title is its name.
func file(source translate.Reader, key string, url, title, cache []byte) conversation.Part {
	if _, ok := translate.Unquoted(title); !ok {
		title = []byte(`"document.pdf"`)
	}
	media := &conversation.Media{Media: translate.ReadMedia(url), Param: source.Param(key), URL: url, Name: title}
	return conversation.Part{Kind: conversation.File, Cache: cache, Media: media}
}
