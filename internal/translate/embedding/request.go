// Package embedding has what the translations of embeddings share: how a request's texts are read,
// and the list of vectors that the caller gets.
package embedding

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// maxTexts is what OpenAI takes.
const maxTexts = 2048

// fields is the table of the fields of a request: OpenAI's, and those that OpenRouter adds.
var fields = translate.Fields{
	"dimensions":      translate.Mapped,
	"encoding_format": translate.Mapped,
	"input":           translate.Mapped,
	"input_type":      translate.Mapped,
	"model":           translate.Mapped,
	"stream":          translate.Ignored, // it is false

	"metadata": translate.Ignored,
	"models":   translate.Ignored,
	"provider": translate.Ignored,
	"user":     translate.Ignored,
}

// Read checks the fields of a request, and reads its input and encoding_format.
func Read(request translate.Reader) (texts [][]byte, base64 bool) {
	fields.Check(request, nil)
	return readTexts(request), readBase64(request)
}

// readTexts returns the input of a request, a text or several, as JSON strings that do not refer to
// it. Some clients send tokens of OpenAI's models unless they are told otherwise.
func readTexts(request translate.Reader) (texts [][]byte) {
	value := bytes.Clone(request.Get("input")) // for requests after the first
	if len(value) > 0 && value[0] == '"' {
		check(request, value, "input")
		return [][]byte{value}
	}
	spans, err := translate.Elements(value, "input", maxTexts)
	if request.Fail(err); len(spans) == 0 {
		request.Fail(translate.Invalid("input", "a text, or an array of at least one"))
	}
	for i, span := range spans {
		check(request, span.Value(value), translate.At("input", i))
		texts = append(texts, span.Value(value))
	}
	return texts
}

func check(request translate.Reader, text []byte, param string) {
	if _, some := translate.Unquoted(text); some {
		return
	}
	kind := "a text that is not empty"
	if text[0] != '"' {
		kind += `, as this model takes nothing else; a client that sends tokens must be told to send text ` +
			`(LangChain: check_embedding_ctx_length=False)`
	}
	request.Fail(translate.Invalid(param, kind))
}

// readBase64 reports whether encoding_format asks for vectors in base64.
func readBase64(request translate.Reader) bool {
	format := request.DecodedText("encoding_format")
	if format != "" && format != "float" && format != "base64" {
		request.Fail(translate.UnsupportedValue("encoding_format", format))
	}
	return format == "base64"
}
