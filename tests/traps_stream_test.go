package tests

import (
	"strings"
	"testing"
)

// chunksOf are the decoded events of a chat stream without [DONE].
func (h *harness) chunksOf(path, model, more string) (chunks []any) {
	h.t.Helper()
	events, err := h.open(h.request(path, "full", chat(model, streaming+more))).rest()
	if err != nil || len(events) < 3 || events[len(events)-1].data != "[DONE]" {
		h.t.Fatalf("%s %s: %v %v", path, model, events, err)
	}
	for _, e := range events[:len(events)-1] {
		chunks = append(chunks, parse(h.t, []byte(e.data)))
	}
	return chunks
}

func null(v any, key string) bool { return has(v, key) && at(v, key) == nil }

func TestTrap04NoChunkHasANullThatEndsAStream(t *testing.T) {
	h := start(t, setup{})
	for _, model := range []string{"fake/null-fields", "fake/echo", "fake/usage-each", "fake/tools", "router/null-fields", "test/echo"} {
		for _, c := range h.chunksOf(chatRouter, model, `,"stream_options":{"include_usage":true}`) {
			delta := at(c, "choices", 0, "delta")
			if null(c, "usage") || null(c, "system_fingerprint") || null(c, "error") || null(delta, "role") || null(delta, "tool_calls") {
				t.Errorf("%s: %v", model, c)
			}
			if choice := at(c, "choices", 0); choice != nil && !has(choice, "finish_reason") {
				t.Errorf("%s: finish_reason is not there: %v", model, c)
			}
		}
	}
}

func TestTrap05NoChunkHasAnEmptyErrorKey(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{chatV1, chatRouter} {
		for _, c := range h.chunksOf(path, "fake/null-fields", "") {
			if has(c, "error") {
				t.Errorf("%s: %v", path, c)
			}
		}
	}
}

func TestTrap09AnInterruptedStreamReportsIt(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{chatV1, chatRouter, responsesV1, responsesOR} {
		for _, model := range []string{"fake/cut-clean", "fake/cut-mid-stream"} {
			events, err := h.open(h.request(path, "full", bodyFor(path, model, streaming))).rest()
			if err != nil || allText(t, events) != "You said: " {
				t.Errorf("%s %s: %v, %v", path, model, events, err)
			}
			wantStreamError(t, path, events, 502, "upstream_error")
		}
	}
}

func TestTrap10AnErrorInAStreamHasTheShapeThatTheAPIReads(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{chatV1, chatRouter, responsesV1, responsesOR} {
		for _, model := range []string{"fake/err-mid-stream", "fake/response-failed"} {
			events, err := h.open(h.request(path, "full", bodyFor(path, model, streaming))).rest()
			if err != nil {
				t.Errorf("%s %s: %v", path, model, err)
			}
			if model == "fake/response-failed" && strings.HasSuffix(path, "/responses") {
				if last := events[len(events)-1]; last.name != "response.failed" && last.name != "error" {
					t.Errorf("%s: %v", path, last)
				}
				continue
			}
			wantStreamError(t, path, events, 502, "upstream_error")
		}
	}
}

func TestTrap12AResponsesStreamIsOneResponse(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{responsesV1, responsesOR} {
		for _, model := range []string{"fake/echo", "fake/tools", "fake/reasoning", "fake/comments", "fake/done", "test/echo"} {
			events, err := h.open(h.request(path, "full", ask(model, streaming))).rest()
			if err != nil || len(events) < 5 {
				t.Fatalf("%s %s: %v %v", path, model, events, err)
			}
			first := parse(t, []byte(events[0].data))
			if output, ok := at(first, "response", "output").([]any); events[0].name != "response.created" || !ok || len(output) != 0 {
				t.Errorf("%s %s begins with %v", path, model, events[0])
			}
			items := map[any]any{} // id by output_index
			for i, e := range events {
				v := parse(t, []byte(e.data))
				if at(v, "type") != e.name || at(v, "sequence_number") != number(itoa(i)) {
					t.Errorf("%s %s: event %d: %v", path, model, i, e)
				}
				if r := at(v, "response"); r != nil && (at(r, "id") != at(first, "response", "id") || at(r, "model") != model) {
					t.Errorf("%s %s: event %d: response %v, model %v", path, model, i, at(r, "id"), at(r, "model"))
				}
				id, index := at(v, "item_id"), at(v, "output_index")
				if item := at(v, "item"); item != nil {
					id = at(item, "id")
				}
				if e.name == "response.output_item.added" {
					items[index] = id
				}
				if index != nil && items[index] != id {
					t.Errorf("%s %s: event %d: item %v at %v, was %v", path, model, i, id, index, items[index])
				}
			}
			if last := events[len(events)-1]; last.name != "response.completed" {
				t.Errorf("%s %s ends with %v", path, model, last)
			}
		}
	}
}

func TestTrap13UsageIsAlwaysKnownAndShownOnlyIfRequested(t *testing.T) {
	h := start(t, setup{})
	for _, model := range []string{"fake/echo", "fake/usage-inline", "fake/usage-each", "fake/usage-always", "test/echo"} {
		for _, c := range []struct {
			path, more string
			shown      int
		}{
			{chatV1, "", 0}, {chatV1, `,"stream_options":null`, 0}, {chatV1, `,"stream_options":{"include_usage":false}`, 0},
			{chatV1, `,"stream_options":{"include_usage":true}`, 1}, {chatRouter, "", 1}, {chatRouter, `,"stream_options":{"include_usage":false}`, 1},
		} {
			chunks := h.chunksOf(c.path, model, c.more)
			empty, usages := 0, 0
			for _, chunk := range chunks {
				if at(chunk, "choices", 0) == nil {
					empty++
				}
				if at(chunk, "usage") != nil {
					usages++
				}
			}
			if usages != c.shown || empty != c.shown {
				t.Errorf("%s %s%s: %d usages, %d chunks without a choice, want %d", c.path, model, c.more, usages, empty, c.shown)
			}
			row := at(parse(t, h.get("/api/v1/activity?limit=1", "activity").body), "data", 0)
			if at(row, "model") != model || at(row, "prompt_tokens") == number("0") || at(row, "completion_tokens") == number("0") || at(row, "usage_source") != "provider" {
				t.Errorf("%s %s: row %v", c.path, model, row)
			}
		}
	}
}
