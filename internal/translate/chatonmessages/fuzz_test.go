package chatonmessages_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
)

// A client gets a valid chat stream that ends once from any bytes of a provider, as a success only
// if message_stop has come, and the same stream in whatever pieces they arrive.
func FuzzStream(f *testing.F) {
	for i, wire := range translatetest.Seeds(f, "stream.txt") {
		f.Add(wire, []byte{0}, i%2 == 0)
	}
	f.Fuzz(checkStream)
}

func checkStream(t *testing.T, wire string, sizes []byte, second bool) {
	original := translated(t, withField(`"tools":[{"type":"web_search_20250305","name":"w"}]`), forModel(plainModel)).original
	out, err := stream(original, wire, second, true)
	g, bad := translatetest.CheckChunks(out)
	if bad != nil {
		t.Fatalf("%v\nin %s", bad, out)
	}
	if (g.Over == "error") != (err != nil) {
		t.Fatalf("%s, error %v", g.Over, err)
	}
	if err == nil && !strings.Contains(wire, "message_stop") && !strings.Contains(wire, `\u`) {
		t.Fatalf("%s of a stream without an end", g.Over)
	}
	translatetest.CheckSame(t, out, wire, sizes, func() openai.Stream {
		return newStream(original, second, true)
	})
}

// menu has the events that an answer may have next.
var menu = []string{
	textDelta("a"), textDelta(`\ud83d`), textDelta(`\ude00`), textDelta(""), textDelta(`\"`),
	blockStart("0", `{"type":"text","text":""}`), blockStop("0"), blockStop("1"), blockStop("2"), blockStop("3"),
	blockStart("1", `{"type":"tool_use","id":"t1","name":"f","input":{}}`),
	blockStart("2", `{"type":"tool_use","id":"t1","name":"g","input":{"a":1}}`),
	blockDelta("1", `{"type":"input_json_delta","partial_json":"{"}`), blockDelta("1", `{"type":"input_json_delta","partial_json":"}"}`),
	blockDelta("2", `{"type":"input_json_delta","partial_json":"[]"}`), blockDelta("2", `{"type":"input_json_delta","partial_json":"\ud83d"}`),
	blockStart("3", `{"type":"thinking","thinking":""}`), blockStart("3", `{"type":"thinking","thinking":"x","signature":"s"}`),
	blockDelta("3", `{"type":"thinking_delta","thinking":"hm"}`), blockDelta("3", `{"type":"thinking_delta","thinking":"\ud83d"}`),
	blockDelta("3", `{"type":"signature_delta","signature":"sig"}`), blockDelta("3", `{"type":"signature_delta","signature":"gis"}`),
	blockStart("4", `{"type":"redacted_thinking","data":"d"}`), blockStart("5", `{"type":"server_tool_use","id":"s","name":"w","input":{}}`),
	blockDelta("5", `{"type":"input_json_delta","partial_json":"q"}`), blockDelta("5", `{"type":"text_delta","text":"hidden"}`),
	blockDelta("0", `{"type":"citations_delta","citation":{"url":"u","title":"t"}}`), blockDelta("0", `{"type":"text_delta","text":"a","thinking":"b"}`),
	blockDelta("0", `{"type":"text_delta","text":"a","thinking":"c"}`), blockDelta("0", `{"type":"mystery","text":"a"}`), blockDelta("0", `{"type":"mystery","text":"b"}`),
	event("content_block_delta", `"delta":{"type":"text_delta","text":"x"}`), event("content_block_delta", `"delta":{"type":"text_delta","text":"y"}`),
	event("content_block_stop", ""), blockDelta("9", `{"type":"thinking_delta","thinking":"new"}`), event("ping", ""), event("mystery", `"x":1`),
	event("message_delta", `"delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":7}`), event("message_delta", `"delta":{"stop_reason":"refusal","stop_details":{"explanation":"no"}}`),
	started, "data: [DONE]\n\n", ": comment\n\n",
}

// Any sequence of events, with any end, makes a valid stream.
func FuzzSequence(f *testing.F) {
	f.Add([]byte{5, 0, 1, 2, 6, 10, 12, 13, 7, 11, 14, 8}, byte(0))
	f.Add([]byte{16, 18, 18, 19, 20, 21, 9, 22, 17, 9, 5, 0, 0, 26, 6}, byte(1))
	f.Add([]byte{0, 4, 3, 0, 23, 24, 25, 27, 28, 27, 29, 30, 29}, byte(0))
	f.Add([]byte{31, 32, 31, 33, 34, 34, 35, 36, 37, 38}, byte(0))
	f.Add([]byte{15, 0}, byte(0)) // a piece of no call
	f.Add([]byte{16, 18, 0, 0, 18, 18, 0}, byte(2))
	f.Add([]byte{11, 8, 39, 40, 41}, byte(3))
	f.Add([]byte{38}, byte(4))
	f.Fuzz(func(t *testing.T, moves []byte, end byte) {
		var wire strings.Builder
		wire.WriteString(started)
		for _, move := range moves[:min(len(moves), 64)] {
			wire.WriteString(menu[int(move)%len(menu)])
		}
		wire.WriteString([]string{
			ended, event("message_stop", ""), "", event("error", `"error":{"type":"overloaded_error","message":"x"}`), "data: {\n\n", "event: error\ndata: {}\n\n",
		}[end%6])
		checkStream(t, wire.String(), moves, end%2 == 0)
	})
}

// models have all kinds of rules.
var models = []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-opus-4-8", "claude-sonnet-4-6", plainModel, "glm-5"}

// A chat request is refused by name, or asks a provider with valid JSON, the same each time.
func FuzzRequest(f *testing.F) {
	for i, body := range translatetest.Seeds(f, "request.json") {
		f.Add(body, byte(i))
	}
	f.Add(`{"model":"m","messages":[{"role":"tool","tool_call_id":"c","content":[]}],"tools":[null],"n":2}`, byte(0))
	f.Fuzz(func(t *testing.T, body string, model byte) {
		var b, sent jsonscan.Body
		if b.Parse([]byte(body)) != nil {
			return
		}
		if _, err := params.ParseChat(&b); err != nil {
			return
		}
		opt := forModel(models[int(model)%len(models)])
		r, err := translateBody(body, opt)
		if err != nil {
			if e := translatetest.MustFail(t, err); e.HTTPStatus() != 400 || e.Param == "" && !strings.Contains(body, `""`) {
				t.Fatalf("refused by %v, param %q", e, e.Param)
			}
			return
		}
		if err := sent.Parse(r.messages); err != nil {
			t.Fatalf("%s: %v", r.messages, err)
		}
		for _, key := range []string{"model", "max_tokens", "messages"} {
			if _, ok := sent.Find(key); !ok {
				t.Fatalf("%s has no %s", r.messages, key)
			}
		}
		if again := translated(t, body, opt); string(again.messages) != string(r.messages) {
			t.Fatalf("%s\nis then %s", r.messages, again.messages)
		}
	})
}

// A whole message is a chat completion, or a failure.
func FuzzResult(f *testing.F) {
	for i, answer := range translatetest.Seeds(f, "answer.json") {
		f.Add(answer, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, answer string, second bool) {
		out, sum, err := result(plainOriginal(t), answer, second)
		if err != nil {
			if translatetest.MustFail(t, err).HTTPStatus() < 400 || sum.Err == nil {
				t.Fatalf("%v, %+v", err, sum)
			}
			return
		}
		var completion struct {
			Choices []struct {
				Message      map[string]any
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(out, &completion); err != nil || len(completion.Choices) != 1 ||
			completion.Choices[0].FinishReason == "" || completion.Choices[0].Message["role"] != "assistant" {
			t.Fatalf("%v: %s", err, out)
		}
	})
}
