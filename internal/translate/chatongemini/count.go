package chatongemini

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// CountRequest returns the request of countTokens for a GenerateContentRequest. Vertex AI takes
// only the prompt of it.
func CountRequest(body []byte, model string, vertex bool) []byte {
	if !vertex {
		out := translate.AppendMember([]byte(`{"generateContentRequest":{`), "model", jsonscan.AppendString(nil, "models/"+model))
		return append(append(append(out, ','), body[1:]...), '}')
	}
	return append(translate.AppendPicked([]byte{'{'}, body, "systemInstruction", "contents", "tools"), '}')
}
