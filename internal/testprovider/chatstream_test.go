package testprovider_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func chatStream(t *testing.T, fields string) []string {
	t.Helper()
	resp := send(t, http.MethodPost, "/chat/completions", chatWith(`"stream":true`+fields))
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" || resp.ContentLength != -1 {
		t.Fatalf("%s, %s, %d bytes", resp.Status, resp.Header.Get("Content-Type"), resp.ContentLength)
	}
	_, data := events(t, readAll(t, resp))
	return data
}

// chunk is a chunk as it should be, usage left out unless given.
func chunk(delta, finish, usage string) string {
	return `{"id":"chatcmpl-2","object":"chat.completion.chunk","created":1800000000,"model":"echo",
		"service_tier":"default","system_fingerprint":"fp_testprovider"` + usage + `,
		"choices":[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":` + finish + `}]}`
}

func sameEvents(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if want[i] == "[DONE]" && got[i] == want[i] {
			continue
		}
		sameJSON(t, got[i], want[i])
	}
}

func TestChatStreamGoesWordByWord(t *testing.T) {
	sameEvents(t, chatStream(t, ""), []string{
		chunk(`{"role":"assistant","content":"","refusal":null}`, "null", ""),
		chunk(`{"content":"You"}`, "null", ""),
		chunk(`{"content":" said:"}`, "null", ""),
		chunk(`{"content":" hello"}`, "null", ""),
		chunk(`{"content":" big"}`, "null", ""),
		chunk(`{"content":" world"}`, "null", ""),
		chunk(`{}`, `"stop"`, ""),
		"[DONE]",
	})
}

func TestChatStreamReportsUsageOnlyWhenAsked(t *testing.T) {
	const none = `,"usage":null`
	sameEvents(t, chatStream(t, `,"stream_options":{"include_usage":true},"max_tokens":1`), []string{
		chunk(`{"role":"assistant","content":"","refusal":null}`, "null", none),
		chunk(`{"content":"You"}`, "null", none),
		chunk(`{}`, `"length"`, none),
		`{"id":"chatcmpl-2","object":"chat.completion.chunk","created":1800000000,"model":"echo","choices":[],
			"service_tier":"default","system_fingerprint":"fp_testprovider",
			"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4,
			"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`,
		"[DONE]",
	})
	for _, data := range chatStream(t, `,"stream_options":{"include_usage":false}`) {
		if strings.Contains(data, `"usage"`) || jsontest.Has(t, data, `{"choices":[]}`) {
			t.Errorf("usage nobody asked for: %s", data)
		}
	}
}

func TestChatStreamOfAToolCall(t *testing.T) {
	sameEvents(t, chatStream(t, `,"tools":[{"type":"function","function":{"name":"f","parameters":{"required":["a"],"properties":{"a":{"const":"two words"}}}}}]`), []string{
		chunk(`{"role":"assistant","content":null,"refusal":null}`, "null", ""),
		chunk(`{"tool_calls":[{"index":0,"id":"call_2","type":"function","function":{"name":"f","arguments":""}}]}`, "null", ""),
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":\"two"}}]}`, "null", ""),
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":" words\"}"}}]}`, "null", ""),
		chunk(`{}`, `"tool_calls"`, ""),
		"[DONE]",
	})
}

func TestChatStreamOfSeveralChoices(t *testing.T) {
	texts, finished := map[int]string{}, map[int]int{}
	data := chatStream(t, `,"n":3,"stream_options":{"include_usage":true}`)
	for _, d := range data[:len(data)-2] {
		var c struct {
			Choices []struct {
				Index        int
				Delta        struct{ Content string }
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(d), &c); err != nil {
			t.Fatal(err)
		}
		choice := c.Choices[0]
		texts[choice.Index] += choice.Delta.Content
		if choice.FinishReason != "" {
			finished[choice.Index]++
		}
	}
	for i := range 3 {
		if texts[i] != "You said: hello big world" || finished[i] != 1 {
			t.Errorf("choice %d: %q, finished %d times", i, texts[i], finished[i])
		}
	}
	if usage := data[len(data)-2]; !jsontest.Has(t, usage, `{"completion_tokens":15}`) {
		t.Errorf("usage of three choices: %s", usage)
	}
}
