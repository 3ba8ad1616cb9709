package chatonresponses_test

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
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
)

func plainStream(t testing.TB) *chatonresponses.Stream {
	original := plainOriginal(t)
	return newStream(original, false, false)
}

var (
	messageAdded = event("output_item.added", `"output_index":0,"item":{"type":"message","id":"msg_1","content":[]}`)
	ends         = event("completed", completed)
)

func TestAChunkIsToldAsSoonAsItsEventComes(t *testing.T) {
	s := plainStream(t)
	if out := translatetest.Feed(s, event("created", opened), event("in_progress", opened)); out != "" {
		t.Errorf("a response that may still fail gave %s", out)
	}
	if out := translatetest.Feed(s, messageAdded); strings.Count(out, "data: ") != 1 || !jsontest.Has(t, out, `{"role":"assistant"}`) {
		t.Errorf("the item gave %s", out)
	}
	if out := translatetest.Feed(s, textDelta("hello")); strings.Count(out, "data: ") != 1 || !jsontest.Has(t, out, `{"content":"hello"}`) {
		t.Errorf("text gave %s", out)
	}
	if out := translatetest.Feed(s, ends); strings.Count(out, "data: ") != 1 || strings.Contains(out, "[DONE]") || !s.Done() {
		t.Errorf("the end gave %s", out)
	}
	if out, err := s.Close(nil, nil); err != nil || string(out) != "data: [DONE]\n\n" {
		t.Errorf("closing gave %s, %v", out, err)
	}
}

func TestAChatStreamEndsOnce(t *testing.T) {
	translatetest.CheckEndsOnce(t, func() openai.Stream { return plainStream(t) }, textDelta("late"), map[string]string{
		"whole":  event("created", opened) + textDelta("a") + ends,
		"failed": event("created", opened) + textDelta("a") + event("failed", `"response":{}`),
		"cut":    event("created", opened) + textDelta("a"),
		"empty":  "",
	})
}

func TestACutResponseIsLeftToItsCallerToTell(t *testing.T) {
	s := plainStream(t)
	translatetest.Feed(s, event("created", opened), textDelta("a"))
	if out, err := s.Close(nil, nil); !errors.Is(err, openai.ErrCut) || len(out) > 0 {
		t.Errorf("%v, %s", err, out)
	}
}

func TestTheChatSummaryIsOfTheProvidersResponse(t *testing.T) {
	s := plainStream(t)
	translatetest.Feed(s, event("created", opened), textDelta("a"),
		event("incomplete", strings.Replace(completed, `"completed"`, `"incomplete","incomplete_details":{"reason":"max_output_tokens"}`, 1)))
	if _, err := s.Close(nil, nil); err != nil {
		t.Fatal(err)
	}
	if sum := s.Summary(); sum.UpstreamID != "resp_9" || sum.Finish != "length" || sum.NativeFinish != "max_output_tokens" ||
		sum.Usage.Total != 5 || !sum.Text || sum.Err != nil {
		t.Errorf("summary %+v", sum)
	}
}

func TestOnlyKeptResponsesHaveOwners(t *testing.T) {
	for body, want := range map[string]int{plainRequest: 0, withField(`"store":true`): 2} {
		original := translated(t, body).original
		ids := 0
		call := translatetest.NewCall()
		call.OnID = func(openai.Kind, string) { ids++ }
		s := chatonresponses.NewStream(original, call, openai.NewChatStream(translatetest.NewCall()))
		translatetest.Feed(s, event("created", opened), messageAdded)
		if ids != want {
			t.Errorf("%s: %d ids had an owner, want %d", body, ids, want)
		}
	}
}

func TestAResponseWithoutBoundsFails(t *testing.T) {
	items, parts, calls := "", "", ""
	for i := range translate.MaxItems + 1 {
		n := strconv.Itoa(i)
		items += event("output_item.added", `"output_index":`+n+`,"item":{"type":"reasoning"}`)
		parts += event("output_text.done", `"output_index":0,"content_index":`+n+`,"text":"a"`)
		calls += event("output_item.added", `"output_index":`+n+`,"item":{"type":"function_call","call_id":"c`+n+`","name":"f"}`)
	}
	original := plainOriginal(t)
	for name, wire := range map[string]string{"items": items, "parts": parts, "calls": calls} {
		out, err := stream(original, wire+ends, false, false)
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
	original := translated(t, withField(`"functions":[{"name":"f"}]`)).original
	answer := `{"id":"r","status":"completed","output":[{"type":"function_call","call_id":"a","name":"f","arguments":""},{"type":"function_call","call_id":"b","name":"f","arguments":""}]}`
	_, _, whole := result(original, answer, false)
	_, streamed := stream(original, event("completed", `"response":`+answer), false, false)
	for _, err := range []error{whole, streamed} {
		if e := translatetest.MustFail(t, err); !strings.Contains(e.Message, "several calls") {
			t.Error(e)
		}
	}
}

func TestAWholeResponseThatIsNoneFails(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"no"}}`, `{"output":{}}`, `nonsense`, ``,
		`{"output":[],"status":"failed","error":{"code":"server_error","message":"canary"}}`,
		`{"output":[],"status":"cancelled"}`, `{"output":[],"status":"queued"}`, `{"output":[],"status":"in_progress"}`,
		`{"output":[{"type":"image_generation_call","result":"x"}]}`, `{"output":[{"type":"what canary"}]}`, `{"output":[7]}`,
		`{"output":[{"type":"message","content":[{"type":"output_audio"}]}]}`,
		`{"output":[{"type":"function_call","call_id":"c"}]}`,
	} {
		original := plainOriginal(t)
		out, sum, err := result(original, body, false)
		if e := translatetest.MustFail(t, err); e.HTTPStatus() < 500 || sum.Err == nil || strings.Contains(e.Message, "canary") {
			t.Errorf("%s: %v, %s", body, err, out)
		}
	}
}

// A whole response and the same response in events are one completion.
func TestEventsAddUpToTheWhole(t *testing.T) {
	original := plainOriginal(t)
	for _, name := range []string{"stream-text-then-tools", "stream-reasoning", "stream-refusal", "stream-tool-calls", "stream-custom-call", "stream-items"} {
		wire := translatetest.ReadGolden(t, name).File("stream.txt")
		out, err := stream(original, wire, false, false)
		if err != nil {
			t.Fatal(err)
		}
		g, err := translatetest.CheckChunks(out)
		if err != nil {
			t.Fatal(err)
		}
		// The items as they were done are the output of the whole.
		output := ""
		for block := range strings.SplitSeq(wire, "\n\n") {
			if _, data, ok := strings.Cut(block, "event: response.output_item.done\ndata: "); ok {
				var e struct{ Item json.RawMessage }
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					t.Fatal(err)
				}
				output += "," + string(e.Item)
			}
		}
		if name == "stream-custom-call" {
			output = `,{"type":"custom_tool_call","id":"ctc_1","call_id":"call_1","name":"sql","input":"select 1"}`
		}
		whole, _, err := result(original, `{"status":"completed","output":[`+strings.TrimPrefix(output, ",")+`]}`, false)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := translatetest.ReadCompletion(t, whole).String(), g.String(); got != want {
			t.Errorf("%s: in events %s\nwhole %s", name, got, want)
		}
	}
}

// Half a character at the end of an item is replaced even if no event says that the item is done.
func TestHalfACharacterIsReplacedAtTheEnd(t *testing.T) {
	const half = `x\ud83d`
	call := event("output_item.added", `"output_index":0,"item":{"type":"function_call","call_id":"c","name":"f"}`)
	for name, c := range map[string]struct{ wire, want string }{
		"text":      {textDelta(`x\ud83d`), `"content":"\ufffd"`},
		"refusal":   {event("refusal.delta", `"output_index":0,"delta":"`+half+`"`) + event("refusal.done", `"output_index":0`), `"refusal":"\ufffd"`},
		"reasoning": {event("reasoning_text.delta", `"output_index":0,"delta":"`+half+`"`), `"reasoning_content":"\ufffd"`},
		"reasoning that is done": {event("reasoning_text.delta", `"output_index":0,"delta":"`+half+`"`) +
			event("reasoning_text.done", `"output_index":0`) + textDelta("a"), `"reasoning_content":"\ufffd"`},
		"arguments": {call + event("function_call_arguments.delta", `"output_index":0,"delta":"`+half+`"`), `"arguments":"\ufffd"`},
	} {
		out, err := stream(plainOriginal(t), c.wire+ends, false, false)
		if err != nil || strings.Count(out, c.want) != 1 || strings.Contains(out, "ud83d") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
}

func TestAnIndexThatIsNoneIsAbsent(t *testing.T) {
	out, err := stream(plainOriginal(t), event("output_text.delta", `"output_index":-1,"content_index":"x","delta":"a"`)+
		event("output_text.delta", `"output_index":1.5,"delta":"b"`)+ends, false, false)
	if g, bad := translatetest.CheckChunks(out); err != nil || bad != nil || g.Content != "ab" {
		t.Errorf("%v, %v: %s", err, bad, out)
	}
}

func TestANullMemberIsAbsent(t *testing.T) {
	out, err := stream(plainOriginal(t), event("output_text.delta", `"output_index":0,"response":null,"delta":"a"`)+ends, false, false)
	if g, bad := translatetest.CheckChunks(out); err != nil || bad != nil || g.Content != "a" {
		t.Errorf("%v, %v: %s", err, bad, out)
	}
}

func TestTheDoneEventHasTheInputOfACustomTool(t *testing.T) {
	out, err := stream(plainOriginal(t), event("output_item.added", `"output_index":0,"item":{"type":"custom_tool_call","call_id":"c","name":"f","input":""}`)+
		event("custom_tool_call_input.done", `"output_index":0,"input":"select 1"`)+ends, false, false)
	if g, bad := translatetest.CheckChunks(out); err != nil || bad != nil || len(g.Calls) != 1 || g.Calls[0]["arguments"] != "select 1" {
		t.Errorf("%v, %v: %s", err, bad, out)
	}
}

func TestAFailureOfTheFamilysStreamEndsTheStream(t *testing.T) {
	translatetest.CheckFailing(t, func(family openai.DeltaStream) openai.Stream {
		return chatonresponses.NewStream(plainOriginal(t), translatetest.NewCall(), family)
	}, textDelta("a"))
}
