package clouds

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// specials are behaviours that only Google has, by the names of models.
var specials = map[string]func(w http.ResponseWriter, asked map[string]any){
	"blocked": events(`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}`),
	"safety-late": events(`{"candidates":[{"content":{"parts":[{"text":"Once"}]}}]}`,
		`{"candidates":[{"content":{},"finishReason":"SAFETY","finishMessage":"unsafe"}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":1,"totalTokenCount":5}}`),
	"malformed": events(`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"print(x)"}],"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}`),
	"malformed-late": events(`{"candidates":[{"content":{"parts":[{"text":"Once"}]}}]}`,
		`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`),
	"error-first": events(`{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`),
	"error-late":  lines(`data: {"candidates":[{"content":{"parts":[{"text":"Once"}]}}]}`, "{\n  \"error\": {\n    \"code\": 500,\n    \"message\": \"internal\",\n    \"status\": \"INTERNAL\"\n  }\n}"),
	"no-finish":   events(`{"candidates":[{"content":{"parts":[{"text":"Once"}]}}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":1,"totalTokenCount":5}}`),
	"counted": events(`{"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}]}}],"usageMetadata":{"promptTokenCount":150,"cachedContentTokenCount":100,"thoughtsTokenCount":20,"totalTokenCount":170}}`,
		`{"candidates":[{"content":{"parts":[{"text":"Yes"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":150,"cachedContentTokenCount":100,"thoughtsTokenCount":40,"candidatesTokenCount":10,"totalTokenCount":200}}`),
	"quota-day": refuses(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.",
		`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]}`),
	"retry":   refuses(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted.", `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}`),
	"billing": refuses(403, "PERMISSION_DENIED", "This API method requires billing to be enabled.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"BILLING_DISABLED"}`),
	"sources": events(`{"candidates":[{"content":{"parts":[{"text":"Grüße aus Köln."}]}}]}`,
		`{"candidates":[{"content":{},"finishReason":"STOP","groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://r.invalid/1","title":"koeln.example"}}],"groundingSupports":[{"segment":{"startIndex":12,"endIndex":17,"text":"Köln"},"groundingChunkIndices":[0]}]}}]}`),
	"continued": func(w http.ResponseWriter, asked map[string]any) {
		first := `{"candidates":[{"content":{"parts":[{"text":"one "}]},"finishReason":"CONTINUATION","continuationToken":"tok-1"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}}`
		if asked["continuationToken"] == "tok-1" {
			first = `{"candidates":[{"content":{"parts":[{"text":"two"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":15,"candidatesTokenCount":3,"totalTokenCount":18}}`
		}
		events(first)(w, asked)
	},
}

func events(list ...string) func(http.ResponseWriter, map[string]any) {
	for i := range list {
		list[i] = "data: " + list[i]
	}
	return lines(list...)
}

func lines(list ...string) func(http.ResponseWriter, map[string]any) {
	return func(w http.ResponseWriter, _ map[string]any) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range list {
			if _, err := w.Write([]byte(event + "\r\n\r\n")); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func refuses(code int, status, message string, details ...string) func(http.ResponseWriter, map[string]any) {
	return func(w http.ResponseWriter, _ map[string]any) { googleError(w, code, status, message, details...) }
}

// count answers countTokens: a token a word of the request.
func count(w http.ResponseWriter, body []byte, vertex bool) {
	known := names{"generateContentRequest": names{"model": nil}}
	for key, value := range generateContent {
		known["generateContentRequest"].(names)[key] = value
	}
	if vertex {
		known = names{"contents": contentNames, "systemInstruction": contentNames, "tools": nil, "generationConfig": nil}
	}
	var asked map[string]any
	if err := json.Unmarshal(body, &asked); err != nil {
		googleError(w, 400, "INVALID_ARGUMENT", "Invalid JSON payload received.")
		return
	}
	if !vertex && asked["contents"] != nil {
		known = names{"contents": contentNames}
	}
	if refusal := unknownName(known, asked, ""); refusal != "" {
		googleError(w, 400, "INVALID_ARGUMENT", refusal)
		return
	}
	_, _ = fmt.Fprintf(w, `{"totalTokens":%d,"promptTokensDetails":[]}`, len(strings.Fields(string(body))))
}

// embed answers with embeddings of two numbers, the length of the text and its
// place.
func embed(w http.ResponseWriter, body []byte, vertex bool) {
	var asked struct {
		Requests []struct {
			Model   string
			Content struct{ Parts []struct{ Text string } }
		}
		Instances  []struct{ Content string }
		Parameters map[string]any
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	if err := d.Decode(&asked); err != nil {
		googleError(w, 400, "INVALID_ARGUMENT", "Invalid JSON payload received.")
		return
	}
	var out []string
	for i, r := range asked.Requests {
		if strings.HasPrefix(r.Model, "models/") == vertex || len(r.Content.Parts) != 1 {
			googleError(w, 400, "INVALID_ARGUMENT", "* BatchEmbedContentsRequest.requests: unexpected model name format")
			return
		}
		out = append(out, fmt.Sprintf(`{"values":[%d,%d]}`, len(r.Content.Parts[0].Text), i))
	}
	if asked.Instances == nil {
		_, _ = fmt.Fprintf(w, `{"embeddings":[%s]}`, strings.Join(out, ","))
		return
	}
	for i, r := range asked.Instances {
		out = append(out, fmt.Sprintf(`{"embeddings":{"values":[%d,%d],"statistics":{"token_count":2,"truncated":false}}}`, len(r.Content), i))
	}
	_, _ = fmt.Fprintf(w, `{"predictions":[%s]}`, strings.Join(out, ","))
}
