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
func Texts(request translate.Object) (texts [][]byte, err error) {
	value := bytes.Clone(request.Get("input")) // for requests after the first
	if len(value) > 0 && value[0] == '"' {
		return [][]byte{value}, check(value, "input")
	}
	spans, err := translate.Elements(value, "input", maxTexts)
	if err == nil && len(spans) == 0 {
		err = translate.Invalid("input", "a text, or an array of at least one")
	}
	for i, span := range spans {
		if err == nil {
			err = check(span.Value(value), translate.At("input", i))
		}
		texts = append(texts, span.Value(value))
	}
	return texts, err
}

func check(text []byte, param string) error {
	if _, some := translate.Unquoted(text); some {
		return nil
	}
	kind := "a text that is not empty"
	if text[0] != '"' {
		kind += `, as this model takes nothing else; a client that sends tokens must be told to send text ` +
			`(LangChain: check_embedding_ctx_length=False)`
	}
	return translate.Invalid(param, kind)
}

// Base64 reports whether encoding_format asks for vectors in base64.
func Base64(request translate.Object) (bool, error) {
	switch format, err := request.DecodedText("encoding_format"); {
	case err != nil:
		return false, err
	case format != "" && format != "float" && format != "base64":
		return false, translate.UnsupportedValue("encoding_format", format)
	default:
		return format == "base64", nil
	}
}
