package chatonmessages_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages"
)

func plainStream(t testing.TB) *chatonmessages.Stream {
	return newStream(plainOriginal(t), false, false)
}

func TestNothingIsSentBeforeTheFirstContent(t *testing.T) {
	s := plainStream(t)
	begins := []string{started, event("ping", ""), blockStart("0", `{"type":"text","text":""}`), textDelta(""), blockStart("1", `{"type":"thinking","thinking":""}`)}
	if out := translatetest.Feed(s, begins...); out != "" {
		t.Errorf("a message that may still fail gave %s", out)
	}
	if out := translatetest.Feed(s, textDelta("hello")); strings.Count(out, "data: ") != 2 || !jsontest.Has(t, out, `{"role":"assistant"}`) || !jsontest.Has(t, out, `{"content":"hello"}`) {
		t.Errorf("text gave %s", out)
	}
	if out := translatetest.Feed(s, ended); strings.Count(out, "data: ") != 1 || strings.Contains(out, "[DONE]") || !s.Done() {
		t.Errorf("the end gave %s", out)
	}
	if out, err := s.Close(nil, nil); err != nil || string(out) != "data: [DONE]\n\n" {
		t.Errorf("closing gave %s, %v", out, err)
	}
}

func TestAChatStreamEndsOnce(t *testing.T) {
	translatetest.CheckEndsOnce(t, func() openai.Stream { return plainStream(t) }, textDelta("late"), map[string]string{
		"whole":  started + textDelta("a") + ended,
		"failed": started + textDelta("a") + event("error", `"error":{"type":"api_error","message":"x"}`),
		"cut":    started + textDelta("a"),
		"empty":  "",
	})
}

func TestACutMessageIsLeftToItsCallerToTell(t *testing.T) {
	s := plainStream(t)
	translatetest.Feed(s, started, textDelta("a"))
	if out, err := s.Close(nil, nil); !errors.Is(err, openai.ErrCut) || len(out) > 0 {
		t.Errorf("%v, %s", err, out)
	}
}

func TestTheSummaryIsOfTheProvidersMessage(t *testing.T) {
	s := plainStream(t)
	translatetest.Feed(s, started, textDelta("a"), textDelta("b"))
	if sum := s.Summary(); !sum.HasUsage || sum.Later != 2 || sum.Usage.Prompt != 3 {
		t.Errorf("in the middle: %+v", sum)
	}
	translatetest.Feed(s, event("message_delta", `"delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":7,"cache_read_input_tokens":4}`), event("message_stop", ""))
	if _, err := s.Close(nil, nil); err != nil {
		t.Fatal(err)
	}
	if sum := s.Summary(); sum.UpstreamID != "msg_9" || sum.Finish != "length" || sum.NativeFinish != "max_tokens" ||
		sum.Usage.Total != 14 || sum.Usage.Cached != 4 || !sum.Text || sum.Err != nil {
		t.Errorf("summary %+v", sum)
	}
}

func TestAMessageWithoutBoundsFails(t *testing.T) {
	blocks, calls, cites := "", "", ""
	for i := range translate.MaxItems + 1 {
		n := strconv.Itoa(i)
		blocks += blockStart(n, `{"type":"text","text":""}`)
		calls += blockStart(n, `{"type":"tool_use","id":"c`+n+`","name":"f","input":{}}`)
		cites += blockDelta("0", `{"type":"citations_delta","citation":{"url":"u","title":"t"}}`)
	}
	for name, wire := range map[string]string{"blocks": blocks, "calls": calls, "citations": cites} {
		out, err := stream(plainOriginal(t), wire+ended, false, false)
		if e := translatetest.MustFail(t, err); e.Code != apierror.UpstreamError || !strings.Contains(e.Message, "too many") {
			t.Errorf("%s: %v", name, e)
		}
		if g, err := translatetest.CheckChunks(out); err != nil || g.Over != "error" {
			t.Errorf("%s: %s, %v", name, g.Over, err)
		}
	}
}

// A chat with functions has room for one call.
func TestASecondCallOfAFunctionFails(t *testing.T) {
	original := translated(t, withField(`"functions":[{"name":"f"}]`), forModel(plainModel)).original
	call := func(n string) string { return `{"type":"tool_use","id":"c` + n + `","name":"f","input":{}}` }
	_, _, whole := result(original, `{"type":"message","content":[`+call("0")+`,`+call("1")+`],"stop_reason":"tool_use"}`, false)
	out, streamed := stream(original, started+blockStart("0", call("0"))+blockStart("1", call("1"))+ended, false, false)
	for _, err := range []error{whole, streamed} {
		if e := translatetest.MustFail(t, err); !strings.Contains(e.Message, "several calls") {
			t.Errorf("%v in %s", e, out)
		}
	}
}

func TestAWholeMessageThatIsNoneFails(t *testing.T) {
	for _, body := range []string{
		`{"type":"error","error":{"type":"overloaded_error","message":"canary"}}`, `{"content":{}}`, `nonsense`, ``, `{}`, `[]`,
		`{"content":[{"type":"hologram canary"}]}`, `{"content":[7]}`, `{"content":[{"type":"tool_use","id":"c","input":{}}]}`,
		`{"content":[],"stop_reason":"pause_turn"}`,
	} {
		out, sum, err := result(plainOriginal(t), body, false)
		if e := translatetest.MustFail(t, err); e.HTTPStatus() < 500 || sum.Err == nil || strings.Contains(e.Message, "canary") {
			t.Errorf("%s: %v, %s", body, err, out)
		}
	}
}

// A whole message and the same message in events are one completion.
func TestEventsAddUpToTheWhole(t *testing.T) {
	for _, name := range []string{"stream-text", "stream-thoughts", "stream-calls", "stream-refusal", "stream-length"} {
		wire := translatetest.ReadGolden(t, name).File("stream.txt")
		out, err := stream(plainOriginal(t), wire, false, false)
		if err != nil {
			t.Fatal(err)
		}
		g, err := translatetest.CheckChunks(out)
		if err != nil {
			t.Fatal(err)
		}
		whole, _, err := result(plainOriginal(t), assemble(t, wire), false)
		if err != nil {
			t.Fatal(err)
		}
		want := translatetest.ReadCompletion(t, whole)
		for _, calls := range [][]map[string]string{want.Calls, g.Calls} {
			for _, c := range calls {
				c["arguments"] = strings.ReplaceAll(c["arguments"], " ", "")
			}
		}
		if name == "stream-length" { // a whole message has no broken arguments
			g.Calls[0]["arguments"] = "{}"
		}
		if want.String() != g.String() {
			t.Errorf("%s: in events %s\nwhole %s", name, g, want)
		}
	}
}

// assemble puts the message of a stream together, as Anthropic's SDKs do.
func assemble(t *testing.T, wire string) string {
	var content []map[string]any
	partial := ""
	message := map[string]any{"type": "message"}
	for block := range strings.SplitSeq(wire, "\n\n") {
		_, data, _ := strings.Cut(block, "data: ")
		var e struct {
			Type  string
			Block map[string]any `json:"content_block"`
			Delta map[string]any
		}
		if data == "" {
			continue
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "content_block_start":
			content, partial = append(content, e.Block), ""
		case "content_block_delta":
			last := content[len(content)-1]
			for _, key := range []string{"text", "thinking", "signature"} {
				if piece, ok := e.Delta[key].(string); ok {
					before, _ := last[key].(string)
					last[key] = before + piece
				}
			}
			if piece, ok := e.Delta["partial_json"].(string); ok {
				partial += piece
				var input any
				if json.Unmarshal([]byte(partial), &input) == nil {
					last["input"] = input
				}
			}
		case "message_delta":
			for key, value := range e.Delta {
				message[key] = value
			}
		}
	}
	message["content"] = content
	out, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if content == nil {
		return strings.Replace(string(out), `"content":null`, `"content":[]`, 1)
	}
	return string(out)
}

// A guardrail replaces the text of an event, and the caller gets the new one.
func TestAReplacedTextIsTheOneThatIsSent(t *testing.T) {
	s := plainStream(t)
	var wire openai.Events
	var out []byte
	for _, piece := range []string{"secret one", "secret two", "secret three"} {
		e := wire.Next([]byte("content_block_delta"), []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+piece+`"}}`))
		start := strings.Index(string(e.Data), `"secret`)
		e.Set(openai.VarText, openai.Variable{Start: start, End: start + len(piece) + 2, New: []byte(`"***"`)})
		out = s.Data(out, e)
	}
	if strings.Contains(string(out), "secret") || jsontest.Count(t, out, `{"content":"***"}`) != 3 {
		t.Errorf("got %s", out)
	}
}

func TestAFailureOfTheFamilysStreamEndsTheStream(t *testing.T) {
	translatetest.CheckFailing(t, func(family openai.DeltaStream) openai.Stream {
		return chatonmessages.NewStream(plainOriginal(t), translatetest.NewCall(), family)
	}, textDelta("a"))
}
