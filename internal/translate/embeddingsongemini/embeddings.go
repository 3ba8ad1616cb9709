// Package embeddingsongemini serves a caller of OpenAI's embeddings by Google's models that embed.
//
//	Gemini API  POST …:batchEmbedContents {"requests": [{"model", "content": {"parts": [{"text"}]}, "outputDimensionality"}]}
//	            {"embeddings": [{"values": […]}], "usageMetadata": {"promptTokenCount"}}
//	Vertex AI   POST …:predict {"instances": [{"content"}], "parameters": {"outputDimensionality", "autoTruncate"}}
//	            {"predictions": [{"embeddings": {"values": […], "statistics": {"token_count"}}}]}
//
// Source: Google's pages on embeddings of November 2026. Nothing here was tried against an account.
package embeddingsongemini

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

const (
	// maxInputs bounds the texts of a request, several times what Google takes.
	maxInputs = 2048
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 64 << 20
)

var fields = translate.Fields{
	"model": translate.Mapped, "input": translate.Mapped, "dimensions": translate.Mapped, "encoding_format": translate.Mapped,
	"user": translate.Ignored, "provider": translate.Ignored, "models": translate.Ignored,
}

// Original is what of a request its answer needs.
type Original struct {
	Base64 bool // the caller wants numbers as bytes
	inputs int
}

// Request translates a request for embeddings. The error is a 400.
func Request(b *jsonscan.Body, upstreamModel string, vertex bool) (body []byte, original *Original, err error) {
	o := translate.Body(b)
	if _, err := fields.Check(o, nil); err != nil {
		return nil, nil, err
	}
	texts, err := texts(o)
	if err != nil {
		return nil, nil, err
	}
	dimensions, _, err := o.Int("dimensions", 1)
	if err != nil {
		return nil, nil, err
	}
	original = &Original{inputs: len(texts)}
	switch format, err := o.DecodedText("encoding_format"); {
	case err != nil:
		return nil, nil, err
	case format == "base64":
		original.Base64 = true
	case format != "" && format != "float":
		return nil, nil, translate.UnsupportedValue("encoding_format", format)
	}
	if vertex {
		return predict(texts, dimensions), original, nil
	}
	return batch(texts, dimensions, upstreamModel), original, nil
}

// texts returns the texts of input, quoted. Google takes no tokens.
func texts(o translate.Object) (list [][]byte, err error) {
	value := o.Get("input")
	switch {
	case value == nil:
		return nil, translate.Missing("input")
	case value[0] == '"':
		return [][]byte{value}, nil
	}
	spans, err := translate.Elements(value, "input", maxInputs)
	if err != nil {
		return nil, err
	}
	for i, span := range spans {
		if span.Kind != '"' {
			return nil, translate.Invalid(translate.At("input", i), "a text for this model")
		}
		list = append(list, span.Value(value))
	}
	if len(list) == 0 {
		return nil, translate.Invalid("input", "a text or a list of texts")
	}
	return list, nil
}

func batch(texts [][]byte, dimensions []byte, model string) []byte {
	out := []byte(`{"requests":[`)
	name := jsonscan.AppendString(nil, "models/"+model)
	for _, text := range texts {
		out = translate.AppendMember(append(translate.AppendComma(out), '{'), "model", name)
		out = append(append(append(out, `,"content":{"parts":[{"text":`...), text...), "}]}"...)
		if dimensions != nil {
			out = translate.AppendMember(out, "outputDimensionality", dimensions)
		}
		out = append(out, '}')
	}
	return append(out, "]}"...)
}

func predict(texts [][]byte, dimensions []byte) []byte {
	out := []byte(`{"instances":[`)
	for _, text := range texts {
		out = append(translate.AppendMember(append(translate.AppendComma(out), '{'), "content", text), '}')
	}
	out = append(out, `],"parameters":{"autoTruncate":false`...)
	if dimensions != nil {
		out = translate.AppendMember(out, "outputDimensionality", dimensions)
	}
	return append(out, "}}"...)
}

// answer has both forms of an answer.
type answer struct {
	Embeddings []values `json:"embeddings"`
	Usage      struct {
		Prompt int64 `json:"promptTokenCount"`
	} `json:"usageMetadata"`
	Predictions []struct {
		Embeddings struct {
			values
			Statistics struct {
				Tokens int64 `json:"token_count"`
			} `json:"statistics"`
		} `json:"embeddings"`
	} `json:"predictions"`
}

type values struct {
	Values []json.Number `json:"values"`
}

// Whole returns OpenAI's list of embeddings. It has no usage if the provider reports none.
func (o *Original) Whole(body io.Reader, call openai.Call, _ translate.Again) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, translate.ProviderFailure(&call, "answered with what is no list of embeddings").WithCause(err)
	}
	tokens := a.Usage.Prompt
	for _, p := range a.Predictions {
		a.Embeddings = append(a.Embeddings, p.Embeddings.values)
		tokens += p.Embeddings.Statistics.Tokens
	}
	if len(a.Embeddings) != o.inputs {
		return nil, translate.ProviderFailure(&call, "answered with another number of embeddings")
	}
	out := []byte(`{"object":"list","data":[`)
	for i, e := range a.Embeddings {
		out = append(translate.AppendComma(out), `{"object":"embedding","embedding":`...)
		if out, err = o.append(out, e.Values); err != nil {
			return nil, translate.ProviderFailure(&call, "answered with an embedding that is not of numbers").WithCause(err)
		}
		out = append(translate.AppendIntMember(out, "index", int64(i)), '}')
	}
	out = append(out, ']')
	if tokens > 0 {
		out = translate.AppendIntMember(append(out, `,"usage":{`...), "prompt_tokens", tokens)
		out = append(translate.AppendIntMember(out, "total_tokens", tokens), '}')
	}
	return append(out, '}'), nil
}

// append appends an embedding: numbers, or as base64 their bytes, the least significant first.
func (o *Original) append(dst []byte, values []json.Number) ([]byte, error) {
	if !o.Base64 {
		dst = append(dst, '[')
		for _, v := range values {
			dst = append(translate.AppendComma(dst), v...)
		}
		return append(dst, ']'), nil
	}
	bytes := make([]byte, 0, 4*len(values))
	for _, v := range values {
		f, err := v.Float64()
		if err != nil {
			return dst, err
		}
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(float32(f)))
	}
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), bytes), '"'), nil
}

// Stream returns the answer as it is: no stream is asked for.
func (o *Original) Stream(body io.Reader, _ openai.Call, _ translate.Again) io.Reader { return body }
