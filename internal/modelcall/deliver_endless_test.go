package modelcall

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// A paid answer must not look broken because its provider keeps the connection open after it.
func TestAWholeAnswerEndsWellWithoutItsProvidersEnd(t *testing.T) {
	asAnthropic := func(c *provider.Config) { c.Dialect = "anthropic" }
	const message = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello.\"}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\n"
	second := strings.Replace(lastWord, `"index":0`, `"index":1`, 1)
	for name, c := range map[string]struct {
		op           *wire.Operation
		body, events string
		change       func(*provider.Config)
		end, source  string
		guarded      bool
	}{
		"chat":                       {wire.Chat, streamed, firstWord + lastWord + usageWord, nil, doneWord, "provider", false},
		"guarded chat":               {wire.Chat, streamed, firstWord + lastWord + usageWord, nil, doneWord, "provider", true},
		"guarded messages from chat": {wire.Messages, messagesBody(`"stream":true,`), firstWord + lastWord, nil, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "estimated", true},
		"chat without usage":         {wire.Chat, streamed, firstWord + lastWord, nil, doneWord, "estimated", false},
		"messages from chat":         {wire.Messages, messagesBody(`"stream":true,`), firstWord + lastWord + usageWord, nil, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "provider", false},
		"responses from chat":        {wire.Responses, responsesStreamed, firstWord + lastWord + usageWord, func(c *provider.Config) { c.Translate = new(provider.Translate) }, "}\n\n", "provider", false},
		"messages":                   {wire.Messages, messagesBody(`"stream":true,`), message, asAnthropic, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "provider", false},
		"chat from messages":         {wire.Chat, streamed, message, asAnthropic, doneWord, "provider", false},
		"two choices, both over":     {wire.Chat, strings.Replace(streamed, `"stream"`, `"n":2,"stream"`, 1), firstWord + lastWord + second, nil, doneWord, "estimated", false},
		"two choices, one over":      {wire.Chat, strings.Replace(streamed, `"stream"`, `"n":2,"stream"`, 1), firstWord + lastWord, nil, "", "estimated", false},
	} {
		for _, heartbeats := range []int{0, 10} {
			t.Run(fmt.Sprintf("%s, %d heartbeats", name, heartbeats), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var upstream context.Context
					transport := roundTrip(func(req *http.Request) (*http.Response, error) {
						upstream = req.Context()
						reader, writer := io.Pipe()
						context.AfterFunc(upstream, func() { _ = reader.CloseWithError(upstream.Err()) }) // as a transport does
						go func() {
							_, _ = io.WriteString(writer, c.events)
							for range heartbeats {
								select {
								case <-upstream.Done():
								case <-time.After(time.Second): // the bubble's clock
									_, _ = io.WriteString(writer, ": wait\n\n")
								}
							}
							<-upstream.Done()
						}()
						return eventStream(reader)(req)
					})
					r := newRig(t, transport, func(r *rig) { r.models.provider = newProvider(t, transport, c.change) })
					if c.guarded {
						guarded(words(t, judge.Redact, guardrail.Output))(r)
					}
					began, w := time.Now(), httptest.NewRecorder()
					req := post(strings.NewReader(c.body), int64(len(c.body)))
					req.Header.Set("Anthropic-Version", "2023-06-01")
					refusal := r.serveTo(t, w, req, c.op)
					row := r.rows(t)[0]
					if c.end == "" {
						if took := time.Since(began); row.Status != 502 || took < r.Timeouts.Idle {
							t.Errorf("%d after %s", row.Status, took)
						}
						return
					}
					if took := time.Since(began); refusal != nil || took > 3*time.Second || !strings.HasSuffix(w.Body.String(), c.end) || slices.ContainsFunc(jsontest.Values(t, w.Body.String(), "error"), func(v any) bool { return v != nil }) {
						t.Errorf("%v after %s: %s", refusal, took, w.Body)
					}
					if row.Status != 200 || row.FinishReason != "stop" || row.UsageSource != c.source || row.CompletionTokens > 10 || upstream.Err() == nil {
						t.Errorf("record %+v, upstream request: %v", row, upstream.Err())
					}
				})
			})
		}
	}
}

// Some providers send a finish reason with every chunk, or with those of reasoning: as long as an answer
// comes, it is not over.
func TestAnAnswerAfterItsFinishIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := roundTrip(func(req *http.Request) (*http.Response, error) {
			reader, writer := io.Pipe()
			context.AfterFunc(req.Context(), func() { _ = reader.CloseWithError(req.Context().Err()) })
			go func() {
				for range 6 {
					_, _ = io.WriteString(writer, lastWord)
					time.Sleep(600 * time.Millisecond) // the bubble's clock
				}
				_, _ = io.WriteString(writer, usageWord+doneWord)
				_ = writer.Close()
			}()
			return eventStream(reader)(req)
		})
		r := newRig(t, transport)
		w, refusal := r.serve(t, wire.Chat, streamed)
		if n := strings.Count(w.Body.String(), `"lo."`); refusal != nil || n != 6 || !strings.HasSuffix(w.Body.String(), doneWord) {
			t.Errorf("%v: %d chunks of 6: %s", refusal, n, w.Body)
		}
		if row := r.rows(t)[0]; row.Status != 200 || row.UsageSource != "provider" || row.CompletionTokens != 4 {
			t.Errorf("record %+v", row)
		}
	})
}
