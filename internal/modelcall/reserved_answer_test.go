package modelcall

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// usedTokens is what an honest provider counts. The parts may overlap, as a cached token may be sound.
type usedTokens struct {
	prompt, cached, written, hour, heard, seen int64
	completion, thought, spoken, painted       int64
}

// draw returns a usage within these bounds.
func (d *drawn) tokens(prompt, completion int64) (u usedTokens) {
	part := func(of int64) int64 {
		switch d.IntN(4) {
		case 0, 1:
			return 0
		case 2:
			return of
		}
		return d.Int64N(of + 1)
	}
	u.prompt, u.completion = 1+d.Int64N(max(prompt, 1)), d.Int64N(completion+1)
	if d.IntN(3) == 0 { // the worst
		u.prompt, u.completion = max(prompt, 1), completion
	}
	u.cached = part(u.prompt)
	u.written = part(u.prompt - u.cached)
	u.hour = part(u.written)
	if d.hears {
		u.heard = part(u.prompt)
	}
	u.seen = part(u.prompt - u.heard)
	u.thought = part(u.completion)
	if d.speaks {
		u.spoken = part(u.completion)
	}
	u.painted = part(u.completion - u.spoken)
	return u
}

// openAI is the usage in OpenAI's form, with the names of tokens and of their details. Some providers count
// cached tokens and thoughts beside the others.
func (d *drawn) openAI(u usedTokens, in, out, details string) string {
	prompt, completion := u.prompt, u.completion
	if d.IntN(4) == 0 && u.cached+u.written > 0 {
		prompt -= u.cached + u.written
	} else if d.IntN(4) == 0 {
		completion -= u.thought
	}
	return fmt.Sprintf(`{"%s_tokens":%d,"%s_tokens":%d,"total_tokens":%d,"%s_%s":{"cached_tokens":%d,"cache_write_tokens":%d,"audio_tokens":%d,"image_tokens":%d},`+
		`"%s_%s":{"reasoning_tokens":%d,"audio_tokens":%d,"image_tokens":%d}}`, in, prompt, out, completion, u.prompt+u.completion,
		in, details, u.cached, u.written, u.heard, u.seen, out, details, u.thought, u.spoken, u.painted)
}

func (u usedTokens) anthropic() string {
	return fmt.Sprintf(`{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"cache_creation":{"ephemeral_1h_input_tokens":%d},"output_tokens":%d}`,
		u.prompt-u.cached-u.written, u.cached, u.written, u.hour, u.completion)
}

func (u usedTokens) google() string {
	return fmt.Sprintf(`{"promptTokenCount":%d,"candidatesTokenCount":%d,"thoughtsTokenCount":%d,"cachedContentTokenCount":%d,"totalTokenCount":%d,`+
		`"promptTokensDetails":[{"modality":"AUDIO","tokenCount":%d}],"candidatesTokensDetails":[{"modality":"AUDIO","tokenCount":%d}]}`,
		u.prompt, u.completion-u.thought, u.thought, u.cached, u.prompt+u.completion, u.heard, u.spoken)
}

// reported returns the member of a usage: sometimes none, or one that says nothing.
func (d *drawn) reported(key, usage string) string {
	switch d.IntN(6) {
	case 0:
		return ""
	case 1:
		usage = d.oneOf("null", "{}", "[]", `"x"`, `{"prompt_tokens":0,"completion_tokens":0}`, `{"input_tokens":-1}`, `{"input_tokens":0,"output_tokens":1}`, `{"total_tokens":1e30}`)
	}
	return `,"` + key + `":` + usage
}

// most returns how many tokens the answer may have.
func most(sent []byte) int64 {
	var a struct {
		N          *int64 `json:"n"`
		BestOf     int64  `json:"best_of"`
		Tokens     int64  `json:"max_tokens"`
		Completion int64  `json:"max_completion_tokens"`
		Output     int64  `json:"max_output_tokens"`
		Config     struct {
			Output     int64 `json:"maxOutputTokens"`
			Candidates int64 `json:"candidateCount"`
		} `json:"generationConfig"`
		Prompt json.RawMessage `json:"prompt"`
	}
	_ = json.Unmarshal(sent, &a) // a form has no limit
	choices := max(1, a.BestOf, a.Config.Candidates)
	if a.N != nil {
		choices = max(choices, *a.N)
	}
	var prompts []json.RawMessage
	if json.Unmarshal(a.Prompt, &prompts) == nil && len(prompts) > 0 {
		choices *= int64(len(prompts))
	}
	return choices * max(a.Tokens, a.Completion, a.Output, a.Config.Output)
}

// answer is what the provider does: it notes what was reserved by then, and keeps to the limits of the
// request that it got.
func (h *honest) answer(r *http.Request) (*http.Response, error) {
	d := h.drawn
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if h.sent == "" {
		h.left = most(sent) + d.completion
	}
	h.sent = r.URL.Path + " " + string(sent)
	var asked struct{ Stream bool }
	_ = json.Unmarshal(sent, &asked) // a form asks for no stream
	for i, b := range h.balances() {
		h.reserved[i] = b.Reserved
	}
	path := r.URL.Path[strings.LastIndexAny(r.URL.Path, "/:")+1:]
	u := d.tokens(int64(len(d.body))+d.prompt, h.left)
	h.left -= u.completion // of an answer that goes on in another request, which reads the prompt again
	text, media := d.text(), "application/json"
	answer := ""
	chat := func() string { return d.reported("usage", d.openAI(u, "prompt", "completion", "tokens_details")) }
	switch path {
	case "completions":
		answer = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"text":"` + text + `","message":{"role":"assistant","content":"` + text +
			`"},"finish_reason":"stop"}]` + chat() + `}`
		if asked.Stream && d.IntN(2) == 0 {
			media = "text/event-stream"
			answer = strings.Repeat(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"text":"xy","delta":{"content":"xy"}}]}`+"\n\n", 1+d.IntN(20)) +
				`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"text":"","delta":{},"finish_reason":"stop"}]}` + "\n\n" +
				`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[]` + chat() + "}\n\ndata: [DONE]\n\n"
		}
	case "responses":
		answer = `{"id":"r","object":"response","created_at":1,"model":"m","status":"completed","output":[{"type":"message","id":"i","role":"assistant","status":"completed",` +
			`"content":[{"type":"output_text","text":"` + text + `","annotations":[]}]}]` + d.reported("usage", d.openAI(u, "input", "output", "tokens_details")) + `}`
	case "compact":
		answer = `{"id":"r","object":"response.compaction","created_at":1,"output":[{"type":"compaction","id":"i","encrypted_content":"AAAA"}]` +
			d.reported("usage", d.openAI(u, "input", "output", "tokens_details")) + `}`
	case "messages":
		answer = `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"` + text + `"}],"stop_reason":"end_turn"` + d.reported("usage", u.anthropic()) + `}`
	case "generateContent", "streamGenerateContent":
		end := `"finishReason":"STOP"`
		if most(sent) > 65_536 && d.IntN(3) > 0 {
			end = `"finishReason":"CONTINUATION","continuationToken":"tok"`
		}
		answer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"` + text + `"}]},` + end + `}]` + d.reported("usageMetadata", u.google()) + `}`
		if path[0] == 's' {
			answer, media = "data: "+answer+"\n\n", "text/event-stream"
		}
	case "count_tokens", "input_tokens":
		answer = `{"input_tokens":10}`
	case "countTokens":
		answer = `{"totalTokens":10}`
	case "embeddings":
		answer = `{"object":"list","data":[{"embedding":[1]}],"model":"m"` + d.reported("usage", d.oneOf(d.openAI(u, "prompt", "completion", "tokens_details"), fmt.Sprintf(`{"total_tokens":%d}`, u.prompt))) + `}`
	case "moderations":
		answer = `{"id":"m","model":"m","results":[{"flagged":false}]` + d.reported("usage", fmt.Sprintf(`{"prompt_tokens":%d}`, u.prompt)) + `}`
	case "embedContent":
		answer = `{"embedding":{"values":[1]}` + d.reported("usageMetadata", fmt.Sprintf(`{"promptTokenCount":%d}`, u.prompt)) + `}`
	case "batchEmbedContents":
		answer = `{"embeddings":[{"values":[1]}]` + d.reported("usageMetadata", fmt.Sprintf(`{"promptTokenCount":%d}`, u.prompt)) + `}`
	case "rerank":
		queries := d.units[units.Queries] - d.Int64N(2)
		answer = `{"results":[{"index":0,"relevance_score":1}]` + d.oneOf(
			d.reported("usage", fmt.Sprintf(`{"total_tokens":%d}`, u.prompt)), d.reported("usage", fmt.Sprintf(`{"search_units":%d}`, queries)),
			d.reported("meta", fmt.Sprintf(`{"billed_units":{"search_units":%d}}`, queries)),
			d.reported("usage", fmt.Sprintf(`{"search_units":%d,"total_tokens":%d}`, queries, u.prompt))) + `}`
	case "generations", "edits", "images":
		answer = `{"created":1,"data":[` + strings.Repeat(`{"url":"x"},`, int(d.units[units.Images]-1)) + `{"url":"x"}]` + d.reported("usage", d.openAI(u, "input", "output", "tokens_details")) + `}`
		if asked.Stream && d.IntN(2) == 0 {
			media = "text/event-stream"
			event := func(usage string) string {
				return `event: image_generation.completed` + "\n" + `data: {"type":"image_generation.completed"` + usage + "}\n\n"
			}
			answer = strings.Repeat(event(""), int(d.units[units.Images]-1)) + event(d.reported("usage", d.openAI(u, "input", "output", "tokens_details")))
		}
	case "speech":
		media = "audio/pcm"
		answer = strings.Repeat("x", int(48*d.Int64N(d.units[units.Millis]+1)))
		if strings.Contains(h.sent, "sse") {
			u.thought, u.painted = 0, 0
			media = "text/event-stream"
			answer = `data: {"type":"speech.audio.delta","audio":"AAAA"}` + "\n\n" + `data: {"type":"speech.audio.done"` + d.reported("usage", d.openAI(u, "input", "output", "token_details")) + "}\n\n"
		}
	case "transcriptions", "translations":
		u.thought, u.spoken, u.painted, u.seen = 0, 0, 0, 0
		millis := d.Int64N(d.units[units.Millis] + 1)
		answer = `{"text":"` + text + `"` + d.oneOf(d.reported("usage", d.openAI(u, "input", "output", "token_details")),
			d.reported("usage", fmt.Sprintf(`{"type":"duration","seconds":%d.%03d}`, millis/1000, millis%1000)), fmt.Sprintf(`,"duration":%d.%03d`, millis/1000, millis%1000)) + `}`
	default:
		h.t.Fatalf("no answer at %s", r.URL.Path)
	}
	if d.IntN(6) == 0 {
		answer = answer[:d.IntN(len(answer)+1)]
	}
	h.answered += answer
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {media}}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(answer))}, nil
}
