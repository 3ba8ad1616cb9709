package testprovider

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
)

const (
	// EmbeddingDimensions are those of an embedding without "dimensions".
	EmbeddingDimensions = 64

	maxDimensions      = 3072 // of OpenAI's largest model
	maxEmbeddingInputs = 2048 // OpenAI's limit
)

// embeddings serves POST {base}/embeddings.
func (t *Transport) embeddings(req *http.Request) (answer, error) {
	body, err := readBody(req)
	if err != nil {
		return answer{}, err
	}
	r, err := ParseEmbeddings(body)
	if err != nil {
		return answer{}, err
	}
	model, err := findModel(r.Model)
	if err != nil {
		return answer{}, err
	}
	if model.fails {
		return answer{}, errFails(model.ID)
	}
	return answer{body: r.Result()}, nil
}

// EmbeddingRequest is a call of POST /embeddings.
type EmbeddingRequest struct {
	Model  string
	Inputs []string // tokens as numbers between spaces
	Base64 bool

	dimensions int
}

// ParseEmbeddings reads the body of a call. The error is the refusal that OpenAI
// would answer with.
func ParseEmbeddings(body []byte) (*EmbeddingRequest, error) {
	var raw struct {
		Model      string          `json:"model"`
		Input      json.RawMessage `json:"input"`
		Format     string          `json:"encoding_format"`
		Dimensions *int            `json:"dimensions"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, errJSON(err)
	}
	r := &EmbeddingRequest{Model: raw.Model, Base64: raw.Format == "base64", dimensions: EmbeddingDimensions}
	if raw.Format != "" && raw.Format != "float" && !r.Base64 {
		return nil, errValue("encoding_format", "unknown format: %q", raw.Format)
	}
	if d := raw.Dimensions; d != nil {
		if r.dimensions = *d; *d < 1 || *d > maxDimensions {
			return nil, errValue("dimensions", "dimensions are from 1 to %d, not %d", maxDimensions, *d)
		}
	}
	if !present(raw.Input) {
		return nil, errMissing("input")
	}
	var err error
	if r.Inputs, err = embeddingInputs(raw.Input); err != nil {
		return nil, err
	}
	if len(r.Inputs) == 0 || len(r.Inputs) > maxEmbeddingInputs {
		return nil, errValue("input", "input has from 1 to %d texts, not %d", maxEmbeddingInputs, len(r.Inputs))
	}
	for _, text := range r.Inputs {
		if text == "" {
			return nil, errValue("input", "a text of input is empty")
		}
	}
	return r, nil
}

// embeddingInputs reads a text, tokens, or an array of texts or of tokens.
func embeddingInputs(raw json.RawMessage) (inputs []string, err error) {
	var text string
	var tokens []int
	var all []json.RawMessage
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return []string{text}, nil
	case json.Unmarshal(raw, &tokens) == nil && len(tokens) > 0:
		return []string{strings.Trim(fmt.Sprint(tokens), "[]")}, nil
	case json.Unmarshal(raw, &all) != nil:
		return nil, errValue("input", "input is a text, an array of texts, or an array of tokens")
	}
	for _, one := range all {
		var text string
		var tokens []int
		switch {
		case present(one) && json.Unmarshal(one, &text) == nil:
			inputs = append(inputs, text)
		case json.Unmarshal(one, &tokens) == nil && len(tokens) > 0:
			inputs = append(inputs, strings.Trim(fmt.Sprint(tokens), "[]"))
		default:
			return nil, errValue("input", "input is a text, an array of texts, or an array of tokens")
		}
	}
	return inputs, nil
}

// Result is the answer.
func (r *EmbeddingRequest) Result() Object {
	data, tokens := make([]Object, len(r.Inputs)), 0
	for i, text := range r.Inputs {
		tokens += countTokens(text)
		vector := embed(text, r.dimensions)
		o := Object{{"object", "embedding"}, {"index", i}, {"embedding", vector}}
		if r.Base64 {
			var bytes []byte
			for _, f := range vector {
				bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(f))
			}
			o = o.With("embedding", base64.StdEncoding.EncodeToString(bytes))
		}
		data[i] = o
	}
	usage := Object{{"prompt_tokens", tokens}, {"total_tokens", tokens}}
	return Object{{"object", "list"}, {"data", data}, {"model", r.Model}, {"usage", usage}}
}

// embed adds up a direction for each word, and makes the length 1.
func embed(text string, dimensions int) []float32 {
	vector := make([]float32, dimensions)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		hash := fnv.New64a()
		hash.Write([]byte(word))
		sum := hash.Sum64()
		vector[sum%uint64(dimensions)] += float32(1 - 2*int(sum>>63))
	}
	var square float64
	for _, f := range vector {
		square += float64(f) * float64(f)
	}
	if square == 0 { // no words, or words that cancel out
		vector[0], square = 1, 1
	}
	for i := range vector {
		vector[i] /= float32(math.Sqrt(square))
	}
	return vector
}
