package embedding

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

// list is the caller's answer on its way.
//
//	{"object": "list", "data": [{"object": "embedding", "index", "embedding"}], "model", "usage"}
type list struct {
	base64  bool
	call    *openai.Call
	out     []byte
	count   int // vectors so far
	tokens  int64
	numbers []byte // of the vector that is read, for base64
}

// Asked is what was asked of a provider.
type Asked struct {
	Texts  [][]byte // as JSON strings
	Base64 bool     // the caller wants vectors in this form

	// End returns where the texts of the request end that begins with a text, and Body the request.
	End  func(from int) int
	Body func(from, end int) []byte

	Vectors Vectors
}

// Whole returns the list of embeddings: one vector for each text, in order. It sends the requests
// for the texts that the first one did not have.
func (a *Asked) Whole(body io.Reader, call openai.Call, again translate.Again) ([]byte, error) {
	l := &list{base64: a.Base64, call: &call, out: []byte(`{"object":"list","data":[`)}
	end := a.End(0)
	err := l.read(body, a.Texts[:end], a.Vectors)
	for err == nil && end < len(a.Texts) {
		from := end
		end = a.End(from)
		var further io.ReadCloser
		if further, err = again(a.Body(from, end)); err == nil {
			err = l.read(further, a.Texts[from:end], a.Vectors)
			_ = further.Close()
		}
	}
	return l.end(err)
}

// Vectors adds the vectors of an answer, and returns the tokens that it counts, 0 for none.
type Vectors func(answer []byte, add func(values []byte) bool) (tokens int64, ok bool)

// read reads the provider's answer to the request for some texts.
func (l *list) read(body io.Reader, texts [][]byte, vectors Vectors) error {
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
	want := l.count + len(texts)
	tokens, ok := vectors(data, func(values []byte) bool { return l.count < want && len(l.out) <= maxList && l.add(values) })
	switch {
	case len(l.out) > maxList:
		return translate.ProviderFailure(l.call, "answered with too much")
	case !ok:
		return translate.ProviderFailure(l.call, "answered with what is no list of embeddings")
	case l.count < want:
		return translate.ProviderFailure(l.call, "answered with fewer embeddings than there are texts")
	case tokens <= 0:
		tokens = estimate(texts)
	}
	l.tokens = min(l.tokens+min(tokens, openai.MaxTokens), openai.MaxTokens)
	return nil
}

// estimate estimates the tokens of texts.
func estimate(texts [][]byte) (tokens int64) {
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

// end ends the list, and returns it. After a failure it returns an object with the usage of the
// answers before, and the failure.
func (l *list) end(failure error) ([]byte, error) {
	if failure != nil {
		l.out = append(l.out[:0], `{"data":null`...)
	} else {
		l.out = append(l.out, ']')
	}
	l.out = jsonscan.AppendString(translate.AppendKey(l.out, "model"), l.call.Model)
	l.out = append(translate.AppendKey(l.out, "usage"), '{')
	l.out = translate.AppendIntMember(l.out, "prompt_tokens", l.tokens)
	l.out = translate.AppendIntMember(l.out, "total_tokens", l.tokens)
	return append(l.out, "}}"...), failure
}

// Count returns a member that is a whole number of at least 0, 0 for none. Google writes some with
// a fraction that is 0.
func Count(object []byte, key string) int64 {
	return min(translate.CountOf(object, key), openai.MaxTokens)
}
