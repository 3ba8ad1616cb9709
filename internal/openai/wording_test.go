package openai_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// The bodies are those of vendors' documents and of reports of their users.
func TestWhatVendorsSayWithoutACode(t *testing.T) {
	tooLong, unknown, other := apierror.ContextLengthExceeded, apierror.ModelNotFound, apierror.UpstreamRejected
	said := func(message string) string {
		return `{"error":{"message":"` + message + `","type":"invalid_request_error"}}`
	}
	claude := func(typ, message string) string {
		return `{"type":"error","error":{"type":"` + typ + `","message":"` + message + `"}}`
	}
	for _, row := range []struct {
		vendor string
		status int
		body   string
		want   apierror.Code
	}{
		{"Anthropic", 400, claude("invalid_request_error", "input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again"), tooLong},
		{"Anthropic's shape", 400, claude("BadRequestError", "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens."), tooLong},
		{"Claude on Bedrock", 400, said("The model returned the following errors: Input is too long for requested model."), tooLong},
		{"Nova", 400, said("The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again."), tooLong},
		{"Llama on Bedrock", 400, said("The model returned the following errors: This model's maximum context length is 131072 tokens. Please reduce the length of the prompt"), tooLong},
		{"Titan", 400, said("Too many input tokens. Max input tokens: 8192, request input token count: 9001"), tooLong},
		{"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 19591 tokens (9591 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`, tooLong},
		{"vLLM's engine", 400, `{"error":{"message":"The decoder prompt (length 40001) is longer than the maximum model length of 32768.","type":"BadRequestError","param":null,"code":400}}`, tooLong},
		{"SGLang", 400, `{"object":"error","message":"The input (61709 tokens) is longer than the model's context length (40960 tokens).","type":"BadRequestError","param":null,"code":400}`, tooLong},
		{"SGLang's output", 400, `{"object":"error","message":"Requested token count exceeds the model's maximum context length of 40960 tokens.","type":"BadRequestError","param":null,"code":400}`, tooLong},
		{"TGI", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 6204 `inputs` tokens and 2047 `max_new_tokens`\",\"error_type\":\"validation\"}", tooLong},
		{"TGI's input", 422, "{\"error\":\"Input validation error: `inputs` must have less than 4096 tokens. Given: 4545\",\"error_type\":\"validation\"}", tooLong},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":7000,"n_ctx":4096}}`, tooLong},
		{"older llama.cpp", 500, `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"server_error"}}`, tooLong},
		{"Ollama", 400, `{"error":{"message":"prompt too long; exceeded max context length by 12 tokens","type":"invalid_request_error","param":null,"code":null}}`, tooLong},
		{"Ollama's embeddings", 400, `{"error":"the input length exceeds the context length"}`, tooLong},
		{"LM Studio", 400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length"}`, tooLong},
		{"DeepSeek", 400, `{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, tooLong},
		{"OpenRouter", 400, `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (130000 of text input, 10000 in the output).","code":400}}`, tooLong},
		{"OpenRouter's provider", 400, `{"error":{"metadata":{"raw":"{\"error\":{\"message\":\"The prompt is too long: 267657, model maximum context length: 262143\"}}","provider_name":"Fireworks"},"message":"Provider returned error","code":400}}`, tooLong},
		{"Mistral", 400, `{"object":"error","message":"Prompt contains 40870 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","param":null,"code":"3051"}`, tooLong},
		{"Groq", 400, said("Please reduce the length of the messages or completion."), tooLong},
		{"Gemini", 400, said("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), tooLong},
		{"Vertex AI", 400, said("Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again."), tooLong},
		{"OpenAI's Responses", 400, said("Your input exceeds the context window of this model. Please adjust your input and try again."), tooLong},
		{"xAI", 400, said("This model's maximum prompt length is 131072 but the request contains 537812 tokens."), tooLong},
		{"Cohere", 400, `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."}`, tooLong},
		{"Moonshot", 400, said("Invalid request: Your request exceeded model token limit: 131072"), tooLong},
		{"a wrong limit", 400, said("max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens"), other},

		{"vLLM", 404, `{"object":"error","message":"The model ` + "`x`" + ` does not exist.","type":"NotFoundError","param":null,"code":404}`, unknown},
		{"Ollama", 404, `{"error":{"message":"model 'x' not found","type":"not_found_error","param":null,"code":null}}`, unknown},
		{"older Ollama", 404, `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}`, unknown},
		{"Anthropic", 404, claude("not_found_error", "model: claude-x"), unknown},
		{"Gemini", 404, said("models/x is not found for API version v1main, or is not supported for generateContent."), unknown},
		{"Vertex AI", 404, said("Publisher Model `projects/p/locations/global/publishers/google/models/x` was not found or your project does not have access to it."), unknown},
		{"OpenRouter", 400, `{"error":{"message":"deepseek-chat is not a valid model ID","code":400},"user_id":"user_1"}`, unknown},
		{"OpenRouter's endpoints", 404, `{"error":{"message":"No endpoints found for a/b.","code":404}}`, unknown},
		{"OpenRouter's features", 404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, other},
		{"Mistral", 400, `{"object":"error","message":"Invalid model: x","type":"invalid_model","param":null,"code":"1500"}`, unknown},
		{"DeepSeek", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, unknown},
		{"Together", 404, `{"error":{"message":"Unable to access model x. Please visit the list of models.","type":"invalid_request_error","param":null,"code":"model_not_available"}}`, unknown},
		{"Fireworks", 404, `{"error":{"message":"Model not found, inaccessible, and/or not deployed"}}`, unknown},
		{"Cohere", 404, `{"message":"model 'x' not found, make sure the correct model ID was used and that you have access to the model."}`, unknown},
		{"Moonshot", 404, `{"error":{"message":"Not found the model x or Permission denied","type":"resource_not_found_error"}}`, unknown},
		{"xAI", 404, `{"code":"Some requested entity was not found","error":"The model x does not exist or your team t does not have access to it."}`, unknown},
		{"Bedrock", 400, said("The provided model identifier is invalid."), unknown},
		{"a tool", 400, said("Tool 'model' not found in tools"), other},
		{"a route", 404, said("Not found"), other},
	} {
		e := openai.Fault(row.status, 0, openai.ParseProviderError([]byte(row.body)), newCall().Redact, "fake")
		status := map[apierror.Code]int{tooLong: 400, unknown: 404, other: row.status}[row.want]
		if e.Code != row.want || e.HTTPStatus() != status {
			t.Errorf("%s: %s %d, want %s %d\n%s", row.vendor, e.Code, e.HTTPStatus(), row.want, status, row.body)
		}
		pe := openai.ParseProviderError([]byte(row.body))
		if row.want == other || row.status == 500 {
			continue
		}
		pe.Status = 0
		call := newCall()
		if e := call.Fault(pe); e.Code != row.want {
			t.Errorf("%s: in a stream %s, want %s", row.vendor, e.Code, row.want)
		}
	}
}
