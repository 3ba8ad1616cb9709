package chatongemini

import (
	"io"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// CountRequest returns the request of countTokens for a GenerateContentRequest. Vertex AI takes only the
// prompt of it.
func CountRequest(body []byte, model string, vertex bool) []byte {
	if !vertex {
		out := translate.AppendMember([]byte(`{"generateContentRequest":{`), "model", jsonscan.AppendString(nil, "models/"+model))
		return append(append(append(out, ','), body[1:]...), '}')
	}
	out := []byte{'{'}
	for _, key := range []string{"systemInstruction", "contents", "tools"} {
		if value := translate.Member(body, key); value != nil {
			out = translate.AppendMember(out, key, value)
		}
	}
	return append(out, '}')
}

// Count reads the answers of countTokens for callers of the Messages API's count_tokens.
type Count struct{ Refusals }

// maxCount bounds an answer of countTokens, in bytes; real ones have some hundred.
const maxCount = 64 << 10

// Whole returns the number of tokens in the form of the Messages API.
func (Count) Whole(body io.Reader, call openai.Call, _ translate.Again) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxCount))
	if err != nil {
		return nil, err
	}
	n, ok := jsonscan.Int(translate.Member(data, "totalTokens"))
	if !ok || n < 0 {
		return nil, translate.ProviderFailure(&call, "answered without a number of tokens")
	}
	return append(strconv.AppendInt([]byte(`{"input_tokens":`), n, 10), '}'), nil
}

// Stream returns the answer as it is: nobody asks for a count in events.
func (Count) Stream(body io.Reader, _ openai.Call, _ translate.Again) io.Reader { return body }
