package operator

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// talkative has a provider of the Responses API that goes on after STOP until it is left.
func talkative(t *testing.T) (h *harness.Gateway, left chan struct{}) {
	left = make(chan struct{}, 9)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !jsontest.Has(t, body, `{"stream":true}`) {
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
	h = harness.Start(t, harness.Setup{Providers: "provider fake {\nbase_url " + server.URL + "/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\nchat translate\n}\n"})
	return h, left
}

func TestAnAnswerOfTheResponsesAPIEndsBeforeAStopSequence(t *testing.T) {
	h, left := talkative(t)
	const messages = "/v1/messages"
	post := func(path, body string) harness.Answer {
		r := h.Client.Request(path, "full", body)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		return h.Client.Send(r)
	}
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, messages} {
		stop, content, reason := `"stop":["STOP","x"]`, `"content":"one "`, `"finish_reason":"stop"`
		if path == messages {
			stop, content = `"max_tokens":99,"stop_sequences":["STOP"]`, `"text":"one "`
			reason = `"stop_reason":"stop_sequence","stop_sequence":"STOP"`
		}
		body := `{"model":"fake/m","messages":[{"role":"user","content":"hi"}],` + stop
		whole := post(path, body+"}")
		if said := string(whole.Body); whole.Status != 200 || !strings.Contains(said, content) || !strings.Contains(said, reason) {
			t.Errorf("%s: %d %s", path, whole.Status, said)
		}
		if row := h.Records.Row(whole.Header.Get("X-Request-Id")); harness.At(row, "usage_source") != "provider" || harness.At(row, "completion_tokens") != harness.Number("7") {
			t.Errorf("%s: row %v", path, row)
		}
		streamed := post(path, body+`,"stream":true`+map[bool]string{true: `,"stream_options":{"include_usage":true}`}[path != messages]+"}")
		said := string(streamed.Body)
		if streamed.Status != 200 || !strings.Contains(said, content) || !strings.Contains(said, reason) || strings.Contains(said, "two") {
			t.Errorf("%s: %d %s", path, streamed.Status, said)
		}
		select {
		case <-left:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the provider was not left", path)
		}
		row := h.Records.Row(streamed.Header.Get("X-Request-Id"))
		used := fmt.Sprint(harness.At(row, "completion_tokens"))
		if harness.At(row, "usage_source") != "estimated" || used == "0" || harness.At(row, "status") != harness.Number("200") ||
			!jsontest.Has(t, said, `{"completion_tokens":`+used+`}`) && !jsontest.Has(t, said, `{"output_tokens":`+used+`}`) {
			t.Errorf("%s: row %v of %s", path, row, said)
		}
	}
}
