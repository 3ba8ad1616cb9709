package adapter

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Count is an answer that counts the tokens of a request, for callers of the Messages API's count_tokens.
type Count struct {
	Member  string // of the provider's answer
	Failure func(status int, header http.Header, body []byte) translate.Refusal
}

// maxCount bounds an answer, in bytes; real ones have some hundred.
const maxCount = 64 << 10

// Whole returns the number of tokens in the form of the Messages API.
func (c Count) Whole(body io.Reader, call openai.Call, _ translate.Again) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxCount))
	if err != nil {
		return nil, err
	}
	if n := translate.CountOf(data, c.Member); n > 0 && json.Valid(data) {
		return append(strconv.AppendInt([]byte(`{"input_tokens":`), n, 10), '}'), nil
	}
	return nil, translate.ProviderFailure(&call, "answered without a number of tokens")
}

// Stream returns the answer as it is: nobody asks for a count in events.
func (Count) Stream(body io.Reader, _ openai.Call, _ translate.Again) io.Reader { return body }

// Refusal returns what the provider refused as OpenAI would have said it.
func (c Count) Refusal(status int, header http.Header, body []byte) translate.Refusal {
	return c.Failure(status, header, body)
}
