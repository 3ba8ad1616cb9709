// Package embedding has what the translations of embeddings share: how a request's texts are read, and the
// list of vectors that the caller gets.
package embedding

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// maxTexts is what OpenAI takes.
const maxTexts = 2048

// Texts returns the input of a request, a text or several, as JSON strings that do not refer to it. Some
// clients send tokens of OpenAI's models unless they are told otherwise.
func Texts(request translate.Reader) (texts [][]byte) {
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

// Base64 reports whether encoding_format asks for vectors in base64.
func Base64(request translate.Reader) bool {
	format := request.DecodedText("encoding_format")
	if format != "" && format != "float" && format != "base64" {
		request.Fail(translate.UnsupportedValue("encoding_format", format))
	}
	return format == "base64"
}
