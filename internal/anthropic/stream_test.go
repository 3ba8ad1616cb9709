package anthropic_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func newCall() openai.Call {
	return openai.Call{
		Model: "claude/m", ID: "gen-1", Provider: "claude", RequestID: "req_1",
		Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") },
	}
}

const begin = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":20,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":3},"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

`

const end = `event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"output_tokens":42,"output_tokens_details":{"thinking_tokens":7}}}

event: message_stop
data: {"type":"message_stop"}

`

func text(s string) string {
	return "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" + s + "\"}}\n\n"
}

// run sends the events of a provider through a stream and ends it as a call does.
func run(s openai.Stream, body string) (string, error) {
	var out []byte
	var events openai.Events
	reader := sse.NewReader(strings.NewReader(body), 1<<20)
	defer reader.Release()
	for !s.Done() {
		event, err := reader.Next()
		if err != nil {
			break
		}
		if event.Comment {
			continue
		}
		e := events.Next(event.Name, event.Data)
		out = s.Data(out, e)
		e.Release()
	}
	out, err := s.Close(out, nil)
	if errors.Is(err, openai.ErrCut) {
		out, _ = s.Close(out, apierror.New(apierror.UpstreamError, "cut"))
	}
	return string(out), err
}

func TestAStreamPassesAsItCame(t *testing.T) {
	body := begin + text("Hel") + text(`lo \"x\"`) + "event: ping\ndata: {\"type\": \"ping\"}\n\n" + text("!") +
		"event: new_event\ndata: {\"type\":\"new_event\",\"x\":1}\n\n" + end
	s := anthropic.NewStream(newCall())
	got, err := run(s, body)
	if want := strings.Replace(body, `"model":"m"`, `"model":"claude/m"`, 1); err != nil || got != want {
		t.Fatalf("%v, got\n%s\nwant\n%s", err, got, want)
	}
	sum := s.Summary()
	want := openai.Usage{Prompt: 35, Completion: 42, Total: 77, Cached: 20, CacheWrite: 5, CacheWriteHour: 3, CacheSplit: true, Reasoning: 7}
	if sum.Usage != want || !sum.HasUsage || sum.Later != 1 || !sum.Text || sum.UpstreamID != "msg_1" || sum.Finish != "length" || sum.NativeFinish != "max_tokens" || sum.Err != nil {
		t.Errorf("%+v", sum)
	}
}

// SDKs tell events apart by their names, which some servers leave out, and fail without usage.
func TestAStreamIsRepairedForSDKs(t *testing.T) {
	got, err := run(anthropic.NewStream(newCall()), `data: {"type":"message_start","message":{"id":"msg_1","content":[]}}

data: {"type":"content_block_delta","index":0,
data: "delta":{"type":"text_delta","text":"hi"}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":null}

data: {"type":"message_stop"}

`)
	want := `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","content":[],"model":"claude/m","usage":{"input_tokens":0,"output_tokens":0}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0, "delta":{"type":"text_delta","text":"hi"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"output_tokens":0}}

event: message_stop
data: {"type":"message_stop"}

`
	if err != nil || got != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
}

// SDKs overwrite the usage of message_start by that of message_delta.
func TestARepairedUsageKeepsWhatWasReported(t *testing.T) {
	got, _ := run(anthropic.NewStream(newCall()), `data: {"type":"message_start","message":{"content":[],"usage":{"input_tokens":7,"output_tokens":1}}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

`)
	if want := `"stop_reason":"end_turn"},"usage":{"input_tokens":7,"output_tokens":1}}`; !strings.Contains(got, want) {
		t.Errorf("got %s", got)
	}
}

func TestAStreamThatIsCutNeverLooksWhole(t *testing.T) {
	whole := begin + text("Hello") + end
	for cut := 0; cut < len(whole)-len("\n\n"); cut++ {
		s := anthropic.NewStream(newCall())
		got, err := run(s, whole[:cut])
		if err == nil || strings.Contains(got, "message_stop") || s.Summary().Err == nil {
			t.Fatalf("cut at %d: %v, %s", cut, err, got)
		}
		last := got[strings.LastIndex(got, "event: "):]
		if !strings.HasPrefix(last, "event: error\n") || !jsontest.Has(t, last, `{"type":"error"}`) || !jsontest.Has(t, last, `{"type":"api_error"}`) {
			t.Fatalf("cut at %d: %s", cut, got)
		}
	}
}

func TestFailuresInsideAStream(t *testing.T) {
	for _, c := range []struct{ body, code, has string }{
		{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
			"upstream_overloaded", `"error":{"type":"overloaded_error","message":"provider \"claude\" is overloaded"`},
		{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"org acme\"}}\n\n", "upstream_rate_limited", `"type":"rate_limit_error"`},
		{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"hunter2\"}}\n\n", "upstream_error", `"type":"api_error"`},
		{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"bad hunter2\"}}\n\n",
			"upstream_rejected", `"error":{"type":"invalid_request_error","message":"bad ***"`},
		{"data: {\"type\":\"error\",\"error\":{\"type\":\"timeout_error\",\"message\":\"late\"}}\n\n", "upstream_error", `"type":"api_error"`},
		{"event: error\ndata: {\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}\n\n", "upstream_overloaded", `"type":"overloaded_error"`},
		{"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n", "upstream_error", "began its message twice"},
		{"data: nonsense\n\n", "upstream_error", "what is not JSON"},
	} {
		s := anthropic.NewStream(newCall())
		got, err := run(s, begin+text("Hel")+c.body+end)
		if e := apierror.From(err); string(e.Code) != c.code || !strings.Contains(got, c.has) || strings.Contains(got, "message_stop") || s.Summary().Err == nil {
			t.Errorf("%s: %v, %s", c.body, err, got)
		}
		if !strings.HasPrefix(got, strings.Replace(begin, `"m"`, `"claude/m"`, 1)+text("Hel")+"event: error\n") {
			t.Errorf("%s: %s", c.body, got)
		}
	}
}

func TestAPartBeforeTheMessageIsRefused(t *testing.T) {
	for _, body := range []string{text("hi"), end, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"} {
		got, err := run(anthropic.NewStream(newCall()), body)
		if apierror.From(err).Code != apierror.UpstreamError || strings.Contains(got, "message_stop") {
			t.Errorf("%s: %v, %s", body, err, got)
		}
	}
	got, err := run(anthropic.NewStream(newCall()), "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: vendor\ndata: {\"type\":\"vendor\"}\n\n"+begin+end)
	if err != nil || !strings.HasPrefix(got, "event: ping\n") || jsontest.Events(t, got)[0] != `{"type":"ping"}` || strings.Contains(got, "vendor") || !jsontest.Has(t, jsontest.Events(t, got)[1], `{"type":"message_start"}`) {
		t.Errorf("%v, %s", err, got)
	}
}

// A failure before the first content can still become a status.
func TestTextIsSetByTheFirstContent(t *testing.T) {
	block := func(b string) string {
		return "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":" + b + "}\n\n"
	}
	delta := func(d string) string {
		return "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":" + d + "}\n\n"
	}
	for body, want := range map[string]bool{
		"":                                  false,
		block(`{"type":"text","text":""}`):  false,
		block(`{"type":"text","text":"x"}`): true,
		block(`{"type":"thinking","thinking":"","signature":""}`):                            false,
		block(`{"type":"tool_use","id":"t","name":"f","input":{}}`):                          true,
		block(`{"type":"redacted_thinking","data":"x"}`):                                     true,
		delta(`{"type":"text_delta","text":""}`):                                             false,
		delta(`{"type":"text_delta","text":"x"}`):                                            true,
		delta(`{"type":"thinking_delta","thinking":"x"}`):                                    true,
		delta(`{"type":"signature_delta","signature":"x"}`):                                  true,
		delta(`{"type":"input_json_delta","partial_json":"{"}`):                              true,
		"event: ping\ndata: {\"type\":\"ping\"}\n\n":                                         false,
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n": false,
	} {
		s := anthropic.NewStream(newCall())
		_, _ = run(s, strings.SplitAfterN(begin, "\n\n", 2)[0]+body)
		if s.Summary().Text != want {
			t.Errorf("%s: %v", body, !want)
		}
	}
}

func TestStateThatAProviderKeepsIsReported(t *testing.T) {
	var got []string
	call := newCall()
	call.OnID = func(kind openai.Kind, id string) { got = append(got, string(kind)+" "+id) }
	if _, err := run(anthropic.NewStream(call), begin+`event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"content":[{"type":"bash_code_execution_output","file_id":"file_1"},{"file_id":"file_2"}]}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","container":{"id":"container_1","expires_at":"x"}},"usage":{"output_tokens":4}}

`+end); err != nil || strings.Join(got, ", ") != "file file_1, file file_2, container container_1" {
		t.Errorf("%v, %q", err, got)
	}
	got = nil
	if _, _, err := anthropic.Result(nil, []byte(`{"type":"message","content":[{"type":"code_execution_tool_result","content":{"file_id":"file_3"}},{"type":"text","text":"\"file_id\":\"x\""}],"container":{"id":"c2"}}`), call); err != nil ||
		strings.Join(got, ", ") != "file file_3, container c2" {
		t.Errorf("%v, %q", err, got)
	}
}

// FuzzStream: whatever a provider sends, a stream without message_stop is a failure, the client gets
// one end, and no line of an event is broken.
func FuzzStream(f *testing.F) {
	f.Add(begin + text("a") + text("b") + end)
	f.Add(strings.ReplaceAll(begin+text("a")+end, "event: ", "x: "))
	f.Add("event: error\ndata: {\"type\":\"error\"}\n\n")
	f.Add(begin + "data: {\"type\":\"message\\u005fstop\"}\n\n")
	f.Add(begin + "data: {\"type\":\"a\\nb\"}\n\n" + end)
	f.Fuzz(func(t *testing.T, body string) {
		s := anthropic.NewStream(newCall())
		got, err := run(s, body)
		stops, errs := 0, 0
		reader := sse.NewReader(strings.NewReader(got), 1<<24)
		defer reader.Release()
		for {
			event, end := reader.Next()
			if end != nil {
				break
			}
			if stops+errs > 0 {
				t.Fatalf("an event after the end: %q", got)
			}
			switch string(event.Name) {
			case "message_stop":
				stops++
			case "error":
				errs++
			}
		}
		if (err == nil) != (stops == 1) || (err != nil) != (errs == 1) {
			t.Fatalf("%v: %d stops, %d errors in %q", err, stops, errs, got)
		}
	})
}
