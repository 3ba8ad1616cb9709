package embeddingsongemini

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

const (
	// maxAnswer bounds an answer of the provider: 250 vectors of 3,072 numbers have 17 MB.
	maxAnswer = 32 << 20

	// maxList bounds the caller's answer.
	maxList = 64 << 20

	// bytesPerToken estimates the tokens of an answer without usage.
	bytesPerToken = 4
)

// Whole returns the list of embeddings: one vector for each text, in order. It sends the requests for
// the texts that the first one did not have.
//
//	{"object": "list", "data": [{"object": "embedding", "index", "embedding"}], "model", "usage"}
func (o *Original) Whole(body io.Reader, call openai.Call, again translate.Again) ([]byte, error) {
	l := list{base64: o.base64, call: &call, out: []byte(`{"object":"list","data":[`)}
	first, end := o.next(0)
	err := l.read(body, o.texts[first:end])
	for err == nil && end < len(o.texts) {
		first, end = o.next(end)
		var further io.ReadCloser
		if further, err = again(o.body(first, end)); err == nil {
			err = l.read(further, o.texts[first:end])
			_ = further.Close()
		}
	}
	if err != nil {
		return nil, err
	}
	return l.end(), nil
}

// Stream returns the answer as it is: embeddings are not streamed.
func (o *Original) Stream(body io.Reader, _ openai.Call, _ translate.Again) io.Reader { return body }

// list is the caller's answer on its way.
type list struct {
	base64  bool
	call    *openai.Call
	out     []byte
	count   int // vectors so far
	tokens  int64
	numbers []byte // of the vector that is read, for base64
}

// read reads the answer to the request for some texts.
func (l *list) read(body io.Reader, texts [][]byte) error {
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxAnswer:
		return translate.ProviderFailure(l.call, "answered with too much")
	}
	data = bytes.TrimSpace(data)
	if _, err := jsonscan.Lenient(data, nil); err != nil {
		return l.call.Broken("answered what is not JSON").WithCause(err)
	}
	embeddings, inner := member(data, "embeddings"), false
	if embeddings == nil {
		embeddings, inner = member(data, "predictions"), true
	}
	tokens := count(member(data, "usageMetadata"), "promptTokenCount")
	counted, want := int64(0), l.count+len(texts)
	for span := range jsonscan.AllElements(embeddings) {
		embedding := span.Value(embeddings)
		if inner {
			embedding = member(embedding, "embeddings")
		}
		if l.count == want || !l.add(member(embedding, "values")) {
			return translate.ProviderFailure(l.call, "answered with what is no list of embeddings")
		}
		statistics := member(embedding, "statistics")
		counted += max(count(statistics, "token_count"), count(statistics, "tokenCount"))
		if len(l.out) > maxList {
			return translate.ProviderFailure(l.call, "answered with too much")
		}
	}
	if l.count < want {
		return translate.ProviderFailure(l.call, "answered with fewer embeddings than there are texts")
	}
	l.tokens = min(l.tokens+used(tokens, counted, texts), openai.MaxTokens)
	return nil
}

// used returns the tokens that the provider counted, in all or of each text, or else an estimate.
func used(tokens, counted int64, texts [][]byte) int64 {
	if tokens = max(tokens, counted); tokens > 0 {
		return tokens
	}
	for _, text := range texts {
		tokens += int64(len(text)-len(`""`)+bytesPerToken-1) / bytesPerToken
	}
	return tokens
}

// add adds a vector. It is false for anything else.
func (l *list) add(values []byte) bool {
	if len(values) == 0 || values[0] != '[' {
		return false
	}
	l.out = append(translate.AppendComma(l.out), `{"object":"embedding","index":`...)
	l.out = strconv.AppendInt(l.out, int64(l.count), 10)
	l.out = append(l.out, `,"embedding":`...)
	l.count++
	l.numbers = l.numbers[:0]
	some := false
	for span := range jsonscan.AllElements(values) {
		if some = true; span.Kind != '0' {
			return false
		}
		if l.base64 {
			f, _ := strconv.ParseFloat(string(span.Value(values)), 32) // infinite if it is too large
			l.numbers = binary.LittleEndian.AppendUint32(l.numbers, math.Float32bits(float32(f)))
		}
	}
	if l.base64 {
		l.out = append(base64.StdEncoding.AppendEncode(append(l.out, '"'), l.numbers), '"')
	} else {
		l.out = append(l.out, values...)
	}
	l.out = append(l.out, '}')
	return some
}

// end ends the list.
func (l *list) end() []byte {
	l.out = jsonscan.AppendString(translate.AppendKey(append(l.out, ']'), "model"), l.call.Model)
	l.out = append(translate.AppendKey(l.out, "usage"), '{')
	l.out = translate.AppendIntMember(l.out, "prompt_tokens", l.tokens)
	l.out = translate.AppendIntMember(l.out, "total_tokens", l.tokens)
	return append(l.out, "}}"...)
}

// member returns the value of a member of an object, nil if it is absent or null.
func member(object []byte, key string) (value []byte) {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	for m := range jsonscan.AllMembers(object) {
		if m.Kind != 'n' && string(m.DecodedKey(object)) == key {
			value = m.Value(object)
		}
	}
	return value
}

// count returns a member that is a whole number of at least 0, 0 for none. Google writes some with a
// fraction that is 0.
func count(object []byte, key string) int64 {
	n, _ := jsonscan.Int(member(object, key))
	return min(max(n, 0), openai.MaxTokens)
}
