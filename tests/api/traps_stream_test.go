package api

import (
	"strconv"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// chunksOf are the decoded events of a chat stream without [DONE].
func chunksOf(h *harness.Gateway, path, model, more string) (chunks []any) {
	h.T.Helper()
	events, err := h.Client.Open(h.Client.Request(path, "full", harness.Chat(model, harness.Streaming+more))).Rest()
	if err != nil || len(events) < 3 || events[len(events)-1].Data != "[DONE]" {
		h.T.Fatalf("%s %s: %v %v", path, model, events, err)
	}
	for _, e := range events[:len(events)-1] {
		chunks = append(chunks, harness.Parse(h.T, []byte(e.Data)))
	}
	return chunks
}

func null(v any, key string) bool { return harness.Has(v, key) && harness.At(v, key) == nil }

func TestTrap04NoChunkHasANullThatEndsAStream(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, model := range []string{"fake/null-fields", "fake/echo", "fake/usage-each", "fake/tools", "router/null-fields", "test/echo"} {
		for _, c := range chunksOf(h, harness.ChatRouter, model, `,"stream_options":{"include_usage":true}`) {
			delta := harness.At(c, "choices", 0, "delta")
			if null(c, "usage") || null(c, "system_fingerprint") || null(c, "error") || null(delta, "role") || null(delta, "tool_calls") {
				t.Errorf("%s: %v", model, c)
			}
			if choice := harness.At(c, "choices", 0); choice != nil && !harness.Has(choice, "finish_reason") {
				t.Errorf("%s: finish_reason is not there: %v", model, c)
			}
		}
	}
}

func TestTrap12AResponsesStreamIsOneResponse(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range []string{harness.ResponsesV1, harness.ResponsesRouter} {
		for _, model := range []string{"fake/echo", "fake/tools", "fake/reasoning", "fake/comments", "fake/done", "test/echo"} {
			events, err := h.Client.Open(h.Client.Request(path, "full", harness.Responses(model, harness.Streaming))).Rest()
			if err != nil || len(events) < 5 {
				t.Fatalf("%s %s: %v %v", path, model, events, err)
			}
			first := harness.Parse(t, []byte(events[0].Data))
			if output, ok := harness.At(first, "response", "output").([]any); events[0].Name != "response.created" || !ok || len(output) != 0 {
				t.Errorf("%s %s begins with %v", path, model, events[0])
			}
			items := map[any]any{} // id by output_index
			for i, e := range events {
				v := harness.Parse(t, []byte(e.Data))
				if harness.At(v, "type") != e.Name || harness.At(v, "sequence_number") != harness.Number(strconv.Itoa(i)) {
					t.Errorf("%s %s: event %d: %v", path, model, i, e)
				}
				if r := harness.At(v, "response"); r != nil && (harness.At(r, "id") != harness.At(first, "response", "id") || harness.At(r, "model") != model) {
					t.Errorf("%s %s: event %d: response %v, model %v", path, model, i, harness.At(r, "id"), harness.At(r, "model"))
				}
				id, index := harness.At(v, "item_id"), harness.At(v, "output_index")
				if item := harness.At(v, "item"); item != nil {
					id = harness.At(item, "id")
				}
				if e.Name == "response.output_item.added" {
					items[index] = id
				}
				if index != nil && items[index] != id {
					t.Errorf("%s %s: event %d: item %v at %v, was %v", path, model, i, id, index, items[index])
				}
			}
			if last := events[len(events)-1]; last.Name != "response.completed" {
				t.Errorf("%s %s ends with %v", path, model, last)
			}
		}
	}
}

func TestTrap13UsageIsAlwaysKnownAndShownOnlyIfRequested(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, model := range []string{"fake/echo", "fake/usage-inline", "fake/usage-each", "fake/usage-always", "test/echo"} {
		for _, c := range []struct {
			path, more string
			shown      int
		}{
			{harness.ChatV1, "", 0}, {harness.ChatV1, `,"stream_options":null`, 0}, {harness.ChatV1, `,"stream_options":{"include_usage":false}`, 0},
			{harness.ChatV1, `,"stream_options":{"include_usage":true}`, 1}, {harness.ChatRouter, "", 1}, {harness.ChatRouter, `,"stream_options":{"include_usage":false}`, 1},
		} {
			chunks := chunksOf(h, c.path, model, c.more)
			empty, usages := 0, 0
			for _, chunk := range chunks {
				if harness.At(chunk, "choices", 0) == nil {
					empty++
				}
				if harness.At(chunk, "usage") != nil {
					usages++
				}
			}
			if usages != c.shown || empty != c.shown {
				t.Errorf("%s %s%s: %d usages, %d chunks without a choice, want %d", c.path, model, c.more, usages, empty, c.shown)
			}
			row := harness.At(harness.Parse(t, h.Client.Get("/api/v1/activity?limit=1", "activity").Body), "data", 0)
			if harness.At(row, "model") != model || harness.At(row, "prompt_tokens") == harness.Number("0") || harness.At(row, "completion_tokens") == harness.Number("0") || harness.At(row, "usage_source") != "provider" {
				t.Errorf("%s %s: row %v", c.path, model, row)
			}
		}
	}
}
