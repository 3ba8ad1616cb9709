package tests

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// talkative has a provider of the Responses API that goes on after STOP until it is left.
func talkative(t *testing.T) (h *harness, left chan struct{}) {
	left = make(chan struct{}, 9)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"type":"message","id":"msg_1","role":"assistant",`+
				`"status":"completed","content":[{"type":"output_text","text":"one STOP two","annotations":[]}]}],"usage":{"input_tokens":3,"output_tokens":7,"total_tokens":10}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range []string{"one ", "S", "TO", "P two"} {
			_, _ = fmt.Fprintf(w, "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":%q}\n\n", piece)
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		left <- struct{}{}
	}))
	t.Cleanup(server.Close)
	h = start(t, setup{providers: "provider fake {\nbase_url " + server.URL + "/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\nchat translate\n}\n"})
	return h, left
}

func TestAnAnswerOfTheResponsesAPIEndsBeforeAStopSequence(t *testing.T) {
	h, left := talkative(t)
	const messages = "/v1/messages"
	post := func(path, body string) answer {
		r := h.request(path, "full", body)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		return h.send(r)
	}
	for _, path := range []string{chatV1, chatRouter, messages} {
		stop, content, reason := `"stop":["STOP","x"]`, `"content":"one "`, `"finish_reason":"stop"`
		if path == messages {
			stop, content = `"max_tokens":99,"stop_sequences":["STOP"]`, `"text":"one "`
			reason = `"stop_reason":"stop_sequence","stop_sequence":"STOP"`
		}
		body := `{"model":"fake/m","messages":[{"role":"user","content":"hi"}],` + stop
		whole := post(path, body+"}")
		if said := string(whole.body); whole.status != 200 || !strings.Contains(said, content) || !strings.Contains(said, reason) {
			t.Errorf("%s: %d %s", path, whole.status, said)
		}
		if row := h.row(whole.header.Get("X-Request-Id")); at(row, "usage_source") != "provider" || at(row, "completion_tokens") != number("7") {
			t.Errorf("%s: row %v", path, row)
		}
		streamed := post(path, body+`,"stream":true`+map[bool]string{true: `,"stream_options":{"include_usage":true}`}[path != messages]+"}")
		said := string(streamed.body)
		if streamed.status != 200 || !strings.Contains(said, content) || !strings.Contains(said, reason) || strings.Contains(said, "two") {
			t.Errorf("%s: %d %s", path, streamed.status, said)
		}
		select {
		case <-left:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the provider was not left", path)
		}
		row := h.row(streamed.header.Get("X-Request-Id"))
		used := fmt.Sprint(at(row, "completion_tokens"))
		if at(row, "usage_source") != "estimated" || used == "0" || at(row, "status") != number("200") ||
			!strings.Contains(said, `"completion_tokens":`+used+`,`) && !strings.Contains(said, `"output_tokens":`+used+`}`) {
			t.Errorf("%s: row %v of %s", path, row, said)
		}
	}
}
