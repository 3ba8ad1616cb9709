package openai_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestParseUsage(t *testing.T) {
	for in, want := range map[string]openai.Usage{
		usage: {Prompt: 3, Completion: 2, Total: 5},
		`{"prompt_tokens":30,"completion_tokens":20,"total_tokens":50,"prompt_tokens_details":{"cached_tokens":10,"cache_write_tokens":5,"audio_tokens":null},"completion_tokens_details":{"reasoning_tokens":7},"cost":0.00012,"cost_details":null}`: {
			Prompt: 30, Completion: 20, Total: 50, Cached: 10, CacheWrite: 5, Reasoning: 7, Cost: "0.00012"},
		`{"input_tokens":30,"output_tokens":20,"total_tokens":50,"input_tokens_details":{"cached_tokens":10},"output_tokens_details":{"reasoning_tokens":7}}`: {
			Prompt: 30, Completion: 20, Total: 50, Cached: 10, Reasoning: 7},
		`{"prompt_tokens":12.0,"completion_tokens":null}`:                                        {Prompt: 12, Total: 12},
		`{"prompt_tokens":100,"completion_tokens":1,"prompt_cache_hit_tokens":64}`:               {Prompt: 100, Completion: 1, Total: 101, Cached: 64},
		`{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":64}}`: {Prompt: 67, Completion: 1, Total: 68, Cached: 64},
		// Cache writes by how long they are kept (LiteLLM).
		`{"prompt_tokens":30,"completion_tokens":1,"prompt_tokens_details":{"cache_write_tokens":9,"cache_creation_token_details":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":4}}}`: {
			Prompt: 30, Completion: 1, Total: 31, CacheWrite: 9, CacheWriteHour: 4, CacheSplit: true},
		// Reasoning beside the completion (xAI), told by the total.
		`{"prompt_tokens":10,"completion_tokens":9,"total_tokens":26,"completion_tokens_details":{"reasoning_tokens":7}}`: {Prompt: 10, Completion: 16, Total: 26, Reasoning: 7},
		`{"prompt_tokens":10,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":7}}`:                   {Prompt: 10, Completion: 8, Total: 18, Reasoning: 7},
		// Thoughts that only the total tells of (bridges to Gemini), also with a part of them.
		`{"prompt_tokens":20,"completion_tokens":198,"total_tokens":623}`: {Prompt: 20, Completion: 603, Total: 623},
		`{"prompt_tokens":20,"completion_tokens":198,"total_tokens":623,"completion_tokens_details":{"reasoning_tokens":100}}`: {
			Prompt: 20, Completion: 603, Total: 623, Reasoning: 100},
		// Counts at the top level (Moonshot, LiteLLM, Perplexity).
		`{"prompt_tokens":1000,"completion_tokens":1,"total_tokens":1001,"cached_tokens":900}`: {Prompt: 1000, Completion: 1, Total: 1001, Cached: 900},
		`{"prompt_tokens":100,"completion_tokens":1,"total_tokens":101,"cache_read_input_tokens":60,"cache_creation_input_tokens":30,"prompt_tokens_details":{"cached_tokens":60}}`: {
			Prompt: 100, Completion: 1, Total: 101, Cached: 60, CacheWrite: 30},
		`{"prompt_tokens":10,"completion_tokens":9,"total_tokens":19,"reasoning_tokens":7}`: {Prompt: 10, Completion: 9, Total: 19, Reasoning: 7},
		// What is written to the cache of one prompt may count as read, too (OpenRouter); the total tells if not.
		`{"prompt_tokens":1000,"completion_tokens":5,"total_tokens":1005,"prompt_tokens_details":{"cached_tokens":1000,"cache_write_tokens":1000}}`: {
			Prompt: 1000, Completion: 5, Total: 1005, CacheWrite: 1000},
		`{"prompt_tokens":1000,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":900,"cache_write_tokens":300}}`: {
			Prompt: 1000, Completion: 5, Total: 1005, Cached: 700, CacheWrite: 300},
		`{"prompt_tokens":1000,"completion_tokens":5,"total_tokens":2205,"prompt_tokens_details":{"cached_tokens":900,"cache_write_tokens":300}}`: {
			Prompt: 2200, Completion: 5, Total: 2205, Cached: 900, CacheWrite: 300},
		// A cache beside the prompt, told by the total.
		`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":145,"prompt_tokens_details":{"cached_tokens":40}}`: {
			Prompt: 140, Completion: 5, Total: 145, Cached: 40},
	} {
		if got, ok := openai.ParseUsage([]byte(in)); !ok || got != want {
			t.Errorf("%s\n got  %+v %v\n want %+v", in, got, ok, want)
		}
	}
}

func TestUsageThatCannotBe(t *testing.T) {
	for _, in := range []string{``, `null`, `[]`, `{}`, `{"total_tokens":5}`, `{"prompt_tokens":null}`, `{"prompt_tokens":-1}`, `{"prompt_tokens":"3"}`,
		`{"prompt_tokens":3,"completion_tokens":-2}`, `{"prompt_tokens":3,"completion_tokens":1.5}`, `{"prompt_tokens":1e18}`,
		`{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":-1}}`} {
		if got, ok := openai.ParseUsage([]byte(in)); ok || got != (openai.Usage{}) {
			t.Errorf("%s: %+v", in, got)
		}
	}
}

func TestAudioTokensAreThoseOfTheirSide(t *testing.T) {
	for _, usage := range []string{
		`{"prompt_tokens":9,"completion_tokens":8,"prompt_tokens_details":{"audio_tokens":3},"completion_tokens_details":{"audio_tokens":2}}`,
		`{"output_tokens_details":{"audio_tokens":2},"input_tokens":9,"output_tokens":8,"input_tokens_details":{"audio_tokens":3}}`,
		`{"output_token_details":{"audio_tokens":2},"input_tokens":9,"output_tokens":8,"input_token_details":{"audio_tokens":3}}`,
	} {
		if u, ok := openai.ParseUsage([]byte(usage)); !ok || u.Units != (units.Counts{units.AudioInput: 3, units.AudioOutput: 2}) {
			t.Errorf("%s: %+v %v", usage, u, ok)
		}
	}
}

func TestUsageOfAnEvent(t *testing.T) {
	for data, want := range map[string]int64{
		`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`:                          7,
		`{"type":"response.completed","response":{"usage":{"input_tokens":3,"output_tokens":5}}}`:   8,
		`{"choices":[{"delta":{}},{"delta":{},"usage":{"prompt_tokens":3,"completion_tokens":6}}]}`: 9,
		`{"type":"response.created","response":{"usage":null}}`:                                     0,
		`{"usage":{"prompt_tokens":-3}}`:                                                            0,
		`{"delta":"\"usage\":{\"prompt_tokens\":3}"}`:                                               0,
		`[DONE]`: 0, `{"usage":`: 0, `{}`: 0,
	} {
		if u, ok := openai.EventUsage([]byte(data)); u.Total != want || ok != (want > 0) {
			t.Errorf("%s: %+v, %v", data, u, ok)
		}
	}
}

// Whether a Response says something is known where its usage says that it does not.
func TestAResponseWithoutCompletionTellsWhetherItHasOutput(t *testing.T) {
	message := func(content string) string {
		return `{"type":"message","role":"assistant","content":[` + content + `]}`
	}
	for output, want := range map[string]bool{
		``:          false,
		message(``): false,
		message(`{"type":"output_text","text":"","annotations":[]}`):  false,
		message(`{"type":"output_text","text":"x","annotations":[]}`): true,
		message(`{"type":"refusal","refusal":"no"}`):                  true,
		message(``) + `,{"type":"function_call","name":"f"}`:          true,
		`7,null,{"content":"x"}`:                                      false,
	} {
		body := `{"id":"r","object":"response","status":"completed","output":[` + output + `],"usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0}}`
		if _, sum, err := openai.ResponsesResult(nil, []byte(body), openai.Call{}); err != nil || !sum.HasUsage || sum.Text != want {
			t.Errorf("%s: text %v, %v, want %v", output, sum.Text, err, want)
		}
		stream := openai.NewResponsesStream(openai.Call{})
		stream.Data(nil, openai.NewEvent(nil, []byte(`{"type":"response.completed","response":`+body+`}`)))
		if sum := stream.Summary(); sum.Text != want {
			t.Errorf("a stream's end with %s: text %v, want %v", output, sum.Text, want)
		}
	}
}

// Moonshot gives the usage of a stream in the choice of its last chunk. Clients get it where OpenAI has it.
func TestUsageInAChoiceIsThatOfTheAnswer(t *testing.T) {
	const choice = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop","usage":` +
		`{"prompt_tokens":19,"completion_tokens":13,"total_tokens":32,"cached_tokens":16}}]}`
	for _, asked := range []bool{true, false} {
		call := newCall()
		call.IncludeUsage = asked
		s := openai.NewChatStream(call)
		out := s.Data(nil, openai.NewEvent(nil, []byte(choice)))
		out, err := s.Close(s.Data(out, openai.NewEvent(nil, []byte("[DONE]"))), nil)
		if sum := s.Summary(); err != nil || !sum.HasUsage || sum.Later != 0 || sum.Usage.Prompt != 19 || sum.Usage.Completion != 13 || sum.Usage.Cached != 16 {
			t.Errorf("%+v, %v", sum, err)
		}
		shown := 0
		for _, data := range payloads(t, string(out)) {
			if data == "[DONE]" {
				continue
			}
			chunk := decode(t, data)
			if chunk["usage"] != nil {
				shown++
			}
			for _, choice := range chunk["choices"].([]any) {
				if choice.(map[string]any)["usage"] != nil {
					t.Errorf("in a choice: %v", chunk)
				}
			}
		}
		if (shown == 1) != asked {
			t.Errorf("asked %v: usage in %d chunks\n%s", asked, shown, out)
		}
	}
	whole := `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop","usage":{"prompt_tokens":19,"completion_tokens":13}}]}`
	if _, sum, err := openai.ChatResult(nil, []byte(whole), newCall()); err != nil || sum.Usage.Total != 32 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// Tokens that were used are paid for, also if the provider reports a failure beside them.
func TestUsageBesideAnErrorCounts(t *testing.T) {
	const failure = `"error":{"message":"malformed","type":"server_error","code":500}`
	wholes := map[string]func([]byte, []byte, openai.Call) ([]byte, openai.Summary, error){
		"chat": openai.ChatResult, "responses": openai.ResponsesResult, "embeddings": openai.Embeddings.Result, "transcript": openai.TranscriptResult,
	}
	for _, body := range []string{`{` + failure + `,"usage":{"prompt_tokens":1009,"completion_tokens":2003}}`, `{"usage":{"prompt_tokens":1009,"completion_tokens":2003},` + failure + `}`} {
		for name, read := range wholes {
			if _, sum, err := read(nil, []byte(body), newCall()); err == nil || sum.Usage.Prompt != 1009 || sum.Usage.Completion != 2003 || !sum.HasUsage {
				t.Errorf("%s: %+v, %v", name, sum, err)
			}
		}
		for name, s := range map[string]openai.Stream{
			"chat": openai.NewChatStream(newCall()), "responses": openai.NewResponsesStream(newCall()),
			"pictures": openai.NewImageStream(newCall(), 1, false), "transcript": openai.NewTranscriptStream(newCall()),
		} {
			s.Data(nil, openai.NewEvent(nil, []byte(body)))
			if sum := s.Summary(); sum.Later != 0 || sum.Err == nil || sum.Usage.Prompt != 1009 || sum.Usage.Completion != 2003 || !sum.HasUsage {
				t.Errorf("a stream of %s: %+v", name, sum)
			}
		}
	}
	s := openai.NewChatStream(newCall())
	s.Data(nil, openai.NewEvent(nil, []byte(`{"choices":[],"usage":{"prompt_tokens":1009,"completion_tokens":2003}}`)))
	s.Data(nil, openai.NewEvent(nil, []byte(`{`+failure+`}`)))
	if sum := s.Summary(); sum.Err == nil || !sum.HasUsage || sum.Later != 0 {
		t.Errorf("usage before an error: %+v", sum)
	}
}
