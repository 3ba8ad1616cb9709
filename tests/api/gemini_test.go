package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// gemini is a provider that has Google's generateContent. Its models are scripts.
type gemini struct {
	mu   sync.Mutex
	sent map[string][]string // bodies by model
}

const (
	geminiUsage = `"usageMetadata":{"promptTokenCount":150,"candidatesTokenCount":10,"thoughtsTokenCount":40,"totalTokenCount":200,"cachedContentTokenCount":100}`
	geminiText  = `data: {"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"}}],` + geminiUsage + "}\r\n\r\n"
	geminiStop  = `data: {"candidates":[{"content":{},"finishReason":"STOP"}],` + geminiUsage + "}\r\n\r\n"
)

// geminiEnds are events that end an answer in another way.
func geminiEnds(finish string) string {
	return `data: {"candidates":[{"content":{},"finishReason":"` + finish + `","continuationToken":"tok"}],` + geminiUsage + "}\r\n\r\n"
}

// geminiStreams are the answers with status 200.
var geminiStreams = map[string]string{
	"text":      geminiText + geminiText + geminiStop,
	"calls":     `data: {"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"c2ln"}]}}]}` + "\r\n\r\n" + geminiStop,
	"blocked":   `data: {"promptFeedback":{"blockReason":"SAFETY"}}` + "\r\n\r\n",
	"safety":    geminiText + geminiEnds("SAFETY"),
	"malformed": geminiEnds("MALFORMED_FUNCTION_CALL"),
	"late":      geminiText + geminiEnds("MALFORMED_FUNCTION_CALL"),
	"first":     `data: {"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}` + "\r\n\r\n",
	"lines":     geminiText + "{\n \"error\": {\n  \"code\": 503,\n  \"message\": \"overloaded\"\n }\n}\n",
	"cut":       geminiText,
	"long":      geminiText + geminiEnds("CONTINUATION"),
}

// geminiRefusals are the others, with the status that begins them.
var geminiRefusals = map[string]string{
	"key":   `400{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`,
	"bill":  `403{"error":{"code":403,"message":"x","status":"PERMISSION_DENIED","details":[{"reason":"BILLING_DISABLED"}]}}`,
	"rate":  `429{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34.07s"}]}}`,
	"day":   `429{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"RequestsPerDay"}]}]}}`,
	"hours": `429{"error":{"code":429,"message":"Please retry in 10h17m5.7s.","status":"RESOURCE_EXHAUSTED"}}`,
	"sign":  `400{"error":{"code":400,"message":"Corrupted thought signature.","status":"INVALID_ARGUMENT"}}`,
}

func (g *gemini) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	model, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1beta/models/"), ":")
	g.mu.Lock()
	g.sent[model] = append(g.sent[model], string(body))
	again := len(g.sent[model]) > 1
	g.mu.Unlock()
	if method == "countTokens" {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		_, _ = io.WriteString(w, "{\n  \"totalTokens\": 31\n}\n")
		return
	}
	if method != "streamGenerateContent" || r.URL.RawQuery != "alt=sse" || r.Header.Get("X-Goog-Api-Key") != harness.ProviderKey {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	refusal := geminiRefusals[model]
	if again && (model == "sign" || model == "long") {
		refusal, model = "", "text"
	}
	if refusal != "" {
		var status int
		_, _ = fmt.Sscan(refusal[:3], &status)
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, refusal[3:])
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, geminiStreams[model])
}

func startGemini(t *testing.T) (*harness.Gateway, *gemini) {
	t.Helper()
	g := &gemini{sent: map[string][]string{}}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return harness.Start(t, harness.Setup{Providers: harness.DefaultProviders + `
	provider g {
		dialect gemini
		base_url ` + server.URL + `/v1beta
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}`}), g
}

const messagesAPI = "/v1/messages"

// geminiCall asks a model by an API. The key "next" names a second target.
func geminiCall(h *harness.Gateway, api, model string, stream bool, more string) harness.Answer {
	body := `{"model":"g/` + model + `"`
	switch api {
	case harness.ResponsesV1:
		body += `,"input":"hi","include":["reasoning.encrypted_content"]`
	case messagesAPI:
		body += `,"max_tokens":99,"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"hi"}]`
	default:
		body += `,"messages":[{"role":"user","content":"hi"}]`
	}
	if stream {
		body += `,"stream":true`
	}
	r := h.Client.Request(api, "full", body+more+"}")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return h.Client.Send(r)
}

var geminiAPIs = []string{harness.ChatV1, harness.ResponsesV1, messagesAPI}

func TestGeminiAnswersEachAPI(t *testing.T) {
	h, g := startGemini(t)
	want := map[string][]string{ // whole, streamed: usage and text
		harness.ChatV1:      {`"content":"HelloHello"`, `"usage":{"prompt_tokens":150,"completion_tokens":50,`, `"content":"Hello"`, "data: [DONE]\n\n"},
		harness.ResponsesV1: {`"text":"HelloHello"`, `"output_tokens":50,"output_tokens_details":{"reasoning_tokens":40}`, `"delta":"Hello"`, "response.completed"},
		messagesAPI:         {`"text":"HelloHello"`, `"usage":{"input_tokens":50,"cache_creation_input_tokens":0,"cache_read_input_tokens":100,"output_tokens":50`, `"text":"Hello"`, "message_stop"},
	}
	for _, api := range geminiAPIs {
		for i, a := range []harness.Answer{geminiCall(h, api, "text", false, ""), geminiCall(h, api, "text", true, "")} {
			for _, text := range want[api][2*i : 2*i+2] {
				if a.Status != 200 || !strings.Contains(string(a.Body), text) {
					t.Errorf("%s: %d, no %s in %s", api, a.Status, text, a.Body)
				}
			}
		}
	}
	for _, body := range g.sent["text"] {
		if sent := harness.Parse(t, []byte(body)); harness.Has(sent, "model") || harness.Has(sent, "stream") {
			t.Errorf("the provider got %s", body)
		}
	}
}

func TestGeminiSignaturesReachEachCaller(t *testing.T) {
	h, _ := startGemini(t)
	for _, stream := range []bool{false, true} {
		for api, want := range map[string][]string{
			harness.ChatV1:      {`"extra_content":{"google":{"thought_signature":"c2ln"}}`, `"type":"reasoning.encrypted","data":"c2ln","id":"call_`},
			harness.ResponsesV1: {`"encrypted_content":"gatehouse1.`},
			messagesAPI:         {`"signature":"gatehouse1.`},
		} {
			a := geminiCall(h, api, "calls", stream, "")
			for _, text := range want {
				if a.Status != 200 || !strings.Contains(string(a.Body), text) {
					t.Errorf("%s: %d, no %s in %s", api, a.Status, text, a.Body)
				}
			}
		}
	}
}

func TestGeminiFailuresHaveTheirCodes(t *testing.T) {
	h, _ := startGemini(t)
	for model, want := range map[string]struct {
		status int
		code   string
		late   bool // a stream has begun
	}{
		"blocked": {422, "provider_content_policy", false}, "malformed": {502, "upstream_error", false}, "first": {503, "upstream_overloaded", false},
		"key": {502, "upstream_auth_error", false}, "bill": {502, "upstream_auth_error", false}, "rate": {429, "upstream_rate_limited", false},
		"day": {502, "upstream_quota_exhausted", false}, "hours": {502, "upstream_quota_exhausted", false},
		"late": {502, "upstream_error", true}, "lines": {503, "upstream_overloaded", true}, "cut": {502, "upstream_error", true},
	} {
		for _, stream := range []bool{false, true} {
			a := geminiCall(h, harness.ChatV1, model, stream, "")
			if stream && want.late {
				if a.Status != 200 || !jsontest.Has(t, a.Body, `{"content":"Hello"}`) || !jsontest.Has(t, a.Body, `{"code":"`+want.code+`"}`) || strings.Contains(string(a.Body), "[DONE]") {
					t.Errorf("%s: %d, %s", model, a.Status, a.Body)
				}
				continue
			}
			harness.WantRefusal(t, harness.ChatV1, a, want.status, want.code)
			if model == "rate" && a.Header.Get("Retry-After") != "35" {
				t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
			}
			next := geminiCall(h, harness.ChatV1, model, stream, `,"models":["fake/echo"]`)
			if next.Status != 200 || !strings.Contains(string(next.Body), "said: ") {
				t.Errorf("%s: the next target is not asked: %d, %s", model, next.Status, next.Body)
			}
		}
	}
	if a := geminiCall(h, harness.ChatV1, "safety", false, ""); !jsontest.Has(t, a.Body, `{"finish_reason":"content_filter"}`) {
		t.Errorf("%d, %s", a.Status, a.Body)
	}
}

// A refused signature is sent once more as one that is taken for any; a long answer goes on.
func TestGeminiIsAskedTwiceInOneCall(t *testing.T) {
	h, g := startGemini(t)
	const turn = `,"tools":[{"type":"function","function":{"name":"f"}}],"max_completion_tokens":100000,"messages":[{"role":"user","content":"hi"},` +
		`{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"b2xk"}}}]},` +
		`{"role":"tool","tool_call_id":"c","content":"x"}]}`
	for model, prompt := range map[string]int64{"sign": 150, "long": 300} {
		a := h.Client.Post(harness.ChatV1, "full", `{"model":"g/`+model+`"`+turn)
		if a.Status != 200 || !jsontest.Has(t, a.Body, fmt.Sprintf(`{"prompt_tokens":%d}`, prompt)) {
			t.Errorf("%s: %d, %s", model, a.Status, a.Body)
		}
		if sent := g.sent[model]; len(sent) != 2 || slices.Equal(sent[:1], sent[1:]) {
			t.Errorf("%s: the provider got %q", model, sent)
		}
	}
	if first, second := g.sent["long"][0], g.sent["long"][1]; second != strings.TrimSuffix(first, "}")+`,"continuationToken":"tok"}` {
		t.Errorf("%s\nthen %s", first, second)
	}
}

// What a caller got of a signature, it sends back, and the provider gets it on the call.
func TestGeminiGetsItsSignaturesBack(t *testing.T) {
	h, g := startGemini(t)
	for _, api := range geminiAPIs {
		first := harness.Parse(t, geminiCall(h, api, "calls", false, "").Body)
		var more string
		switch api {
		case harness.ChatV1:
			message := harness.At(first, "choices", 0, "message")
			more = `,"messages":[{"role":"user","content":"hi"},` + encoded(t, message) + `,{"role":"tool","tool_call_id":` + encoded(t, harness.At(message, "tool_calls", 0, "id")) + `,"content":"x"}]`
		case harness.ResponsesV1:
			items := encoded(t, harness.At(first, "output"))
			more = `,"input":[{"role":"user","content":"hi"},` + strings.Trim(items, "[]") + `,{"type":"function_call_output","call_id":` + encoded(t, harness.At(first, "output", 1, "call_id")) + `,"output":"x"}]`
		default:
			more = `,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":` + encoded(t, harness.At(first, "content")) +
				`},{"role":"user","content":[{"type":"tool_result","tool_use_id":` + encoded(t, harness.At(first, "content", 1, "id")) + `,"content":"x"}]}]`
		}
		tools := map[string]string{
			harness.ChatV1: `"type":"function","function":{"name":"f"}`, harness.ResponsesV1: `"type":"function","name":"f","parameters":{"type":"object"}`, messagesAPI: `"name":"f","input_schema":{"type":"object"}`,
		}
		body := `{"model":"g/text","max_tokens":99,"thinking":{"type":"adaptive"},"tools":[{` + tools[api] + `}]` + more + `}`
		if api != messagesAPI {
			body = strings.Replace(body, `"max_tokens":99,"thinking":{"type":"adaptive"},`, "", 1)
		}
		r := h.Client.Request(api, "full", body)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		if a := h.Client.Send(r); a.Status != 200 {
			t.Errorf("%s: %d, %s", api, a.Status, a.Body)
			continue
		}
		sent := g.sent["text"][len(g.sent["text"])-1]
		if !jsontest.Has(t, sent, `{"thoughtSignature":"c2ln"}`) || strings.Count(sent, "thoughtSignature") != 1 {
			t.Errorf("%s: the provider got %s", api, sent)
		}
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestGeminiCountsTokens(t *testing.T) {
	h, g := startGemini(t)
	r := h.Client.Request(messagesAPI+"/count_tokens", "full", `{"model":"g/text","system":"Be brief.","tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"}]}`)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	a := h.Client.Send(r)
	if a.Status != 200 || string(a.Body) != `{"input_tokens":31}` {
		t.Errorf("%d, %s", a.Status, a.Body)
	}
	for _, part := range []string{`"systemInstruction"`, `"functionDeclarations"`, `"contents"`} {
		if sent := g.sent["text"]; len(sent) != 1 || !strings.Contains(sent[0], part) {
			t.Errorf("the provider got %q", sent)
		}
	}
}
