package testprovider

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
)

const (
	// EmbeddingDimensions is how many dimensions an embedding has without "dimensions".
	EmbeddingDimensions = 64

	maxDimensions      = 3072 // of OpenAI's largest model
	maxEmbeddingInputs = 2048 // OpenAI's limit
)

// EmbeddingRequest is a call of POST /embeddings.
type EmbeddingRequest struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	Format     string          `json:"encoding_format"`
	Dimensions *int            `json:"dimensions"`
}

// Embeddings is the answer to an EmbeddingRequest.
type Embeddings struct {
	Object string         `json:"object"`
	Data   []Embedding    `json:"data"`
	Model  string         `json:"model"`
	Usage  map[string]int `json:"usage"`
}

// Embedding is the embedding of an input.
type Embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // numbers, or their bytes in base64
}

// embeddings serves POST {base}/embeddings.
func (t *Transport) embeddings(_ *http.Request, body []byte) (any, error) {
	r := &EmbeddingRequest{}
	if err := decode(body, r); err != nil {
		return nil, err
	}
	answer, err := r.Embed()
	if err != nil {
		return nil, err
	}
	model, err := findModel(r.Model)
	if err == nil && model.fails {
		err = errFails(model.ID)
	}
	return answer, err
}

// Embed makes the embeddings. The error is the refusal that OpenAI would answer with.
func (r *EmbeddingRequest) Embed() (*Embeddings, error) {
	if r.Format != "" && r.Format != "float" && r.Format != "base64" {
		return nil, errValue("encoding_format", "unknown format: %q", r.Format)
	}
	dimensions := EmbeddingDimensions
	if d := r.Dimensions; d != nil {
		if dimensions = *d; *d < 1 || *d > maxDimensions {
			return nil, errValue("dimensions", "dimensions are from 1 to %d, not %d", maxDimensions, *d)
		}
	}
	if !present(r.Input) {
		return nil, errMissing("input")
	}
	inputs, err := embeddingInputs(r.Input)
	if err != nil {
		return nil, err
	}
	if len(inputs) == 0 || len(inputs) > maxEmbeddingInputs {
		return nil, errValue("input", "input has from 1 to %d texts, not %d", maxEmbeddingInputs, len(inputs))
	}
	answer, tokens := &Embeddings{Object: "list", Model: r.Model}, 0
	for i, text := range inputs {
		if text == "" {
			return nil, errValue("input", "a text of input is empty")
		}
		tokens += CountTokens(text)
		vector := embed(text, dimensions)
		e := Embedding{"embedding", i, vector}
		if r.Format == "base64" {
			bytes, _ := binary.Append(nil, binary.LittleEndian, vector) // numbers always have a form
			e.Embedding = bytes                                         // JSON has bytes in base64
		}
		answer.Data = append(answer.Data, e)
	}
	answer.Usage = map[string]int{"prompt_tokens": tokens, "total_tokens": tokens}
	return answer, nil
}

// embeddingInputs reads a text, tokens, or an array of texts or of tokens. Tokens become a text of
// numbers between spaces.
func embeddingInputs(raw json.RawMessage) (inputs []string, err error) {
	if text, ok := embeddingInput(raw); ok {
		return []string{text}, nil
	}
	var all []json.RawMessage
	err = json.Unmarshal(raw, &all)
	for _, one := range all {
		text, ok := embeddingInput(one)
		if !ok {
			err = errors.ErrUnsupported
		}
		inputs = append(inputs, text)
	}
	if err != nil {
		return nil, errValue("input", "input is a text, an array of texts, or an array of tokens")
	}
	return inputs, nil
}

func embeddingInput(raw json.RawMessage) (text string, ok bool) {
	var tokens []int
	if json.Unmarshal(raw, &tokens) == nil && len(tokens) > 0 {
		return strings.Trim(fmt.Sprint(tokens), "[]"), true
	}
	return text, present(raw) && json.Unmarshal(raw, &text) == nil
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
