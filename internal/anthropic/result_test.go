package anthropic_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func TestAWholeAnswerPassesAsItCame(t *testing.T) {
	body := ` { "id":"msg_1", "type":"message","role":"assistant", "model" : "m",
		"content":[{"type":"thinking","thinking":"","signature":"abc"},{"type":"text","text":"model"}],
		"stop_reason":"tool_use","new":{"model":"m"},
		"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":20,"output_tokens":42,"service_tier":"standard"}}
`
	got, sum, err := anthropic.Result([]byte(">"), []byte(body), newCall())
	if want := ">" + strings.Replace(body, `"model" : "m"`, `"model" : "claude/m"`, 1); err != nil || string(got) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
	usage := openai.Usage{Prompt: 35, Completion: 42, Total: 77, Cached: 20, CacheWrite: 5}
	if sum.Usage != usage || !sum.HasUsage || !sum.Text || sum.UpstreamID != "msg_1" || sum.Finish != "tool_calls" || sum.NativeFinish != "tool_use" {
		t.Errorf("%+v", sum)
	}
}

func TestFinishReasons(t *testing.T) {
	for native, want := range map[string]string{
		"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "model_context_window_exceeded": "length",
		"tool_use": "tool_calls", "refusal": "content_filter", "pause_turn": "pause_turn", "new_reason": "new_reason",
	} {
		_, sum, err := anthropic.Result(nil, []byte(`{"content":[],"stop_reason":"`+native+`"}`), newCall())
		if err != nil || sum.Finish != want || sum.NativeFinish != native || sum.Text || sum.HasUsage {
			t.Errorf("%s: %v, %+v", native, err, sum)
		}
	}
}

func TestWhatIsNoMessageIsRefused(t *testing.T) {
	for body, want := range map[string]apierror.Code{
		`<html>`: apierror.UpstreamError, `{}`: apierror.UpstreamError, `{"content":null}`: apierror.UpstreamError, `{"choices":[]}`: apierror.UpstreamError,
		`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`:      apierror.UpstreamOverloaded,
		`{"type":"error","error":{"type":"invalid_request_error","message":"x"}}`: apierror.UpstreamRejected,
	} {
		got, sum, err := anthropic.Result([]byte(">"), []byte(body), newCall())
		if apierror.From(err).Code != want || string(got) != ">" || sum.Err == nil {
			t.Errorf("%s: %v, %s", body, err, got)
		}
	}
}

// Tokens that were used are paid for, also if the provider reports a failure beside them.
func TestUsageBesideAnErrorCounts(t *testing.T) {
	const body = `{"type":"error","error":{"type":"api_error","message":"x"},"usage":{"input_tokens":1009,"output_tokens":2003}}`
	_, whole, err := anthropic.Result(nil, []byte(body), newCall())
	s := anthropic.NewStream(newCall())
	s.Data(nil, openai.NewEvent([]byte("error"), []byte(body)))
	for _, sum := range []openai.Summary{whole, s.Summary()} {
		if err == nil || sum.Err == nil || !sum.HasUsage || sum.Usage.Prompt != 1009 || sum.Usage.Completion != 2003 {
			t.Errorf("%+v, %v", sum, err)
		}
	}
}

func TestOddUsage(t *testing.T) {
	for usage, want := range map[string]openai.Usage{
		`{"input_tokens":3,"output_tokens":4}`:                                                                                    {Prompt: 3, Completion: 4, Total: 7},
		`{"input_tokens":0,"cache_read_input_tokens":9,"output_tokens":0}`:                                                        {Prompt: 9, Total: 9, Cached: 9},
		`{"input_tokens":3,"output_tokens":-4,"cache_read_input_tokens":null,"cache_creation":null}`:                              {Prompt: 3, Total: 3},
		`{"input_tokens":3,"output_tokens":4,"output_tokens_details":{"thinking_tokens":9}}`:                                      {Prompt: 3, Completion: 4, Total: 7, Reasoning: 4},
		`{"input_tokens":1e30,"output_tokens":4}`:                                                                                 {Completion: 4, Total: 4},
		`{"input_tokens":3,"cache_creation_input_tokens":2,"cache_creation":{"ephemeral_1h_input_tokens":9},"output_tokens":"x"}`: {Prompt: 5, Total: 5, CacheWrite: 2, CacheWriteHour: 2, CacheSplit: true},
	} {
		var u anthropic.Usage
		u.Read([]byte(usage))
		if got, known := u.OpenAI(); got != want || known != !strings.Contains(usage, "1e30") {
			t.Errorf("%s: %+v, %v", usage, got, known)
		}
	}
	var u anthropic.Usage
	u.Read([]byte(`{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":1}`))
	u.Read([]byte(`{"input_tokens":0,"output_tokens":20}`))
	if got, _ := u.OpenAI(); got != (openai.Usage{Prompt: 10, Completion: 20, Total: 30, Cached: 7}) {
		t.Errorf("%+v", got)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		e    *apierror.Error
		want string
	}{
		{apierror.New(apierror.ModelNotFound, `no "x"`).WithParam("model"),
			`{"type":"error","error":{"type":"not_found_error","message":"no \"x\"","details":{"error_code":"model_not_found","param":"model"}},"request_id":"req_1"}`},
		{apierror.New(apierror.BudgetExceeded, "used up"),
			`{"type":"error","error":{"type":"billing_error","message":"used up","details":{"error_code":"budget_exceeded"}},"request_id":"req_1"}`},
		{&apierror.Error{Code: apierror.UpstreamRejected, Message: "ours", Own: &apierror.Wording{Type: "new_error", Message: "theirs"}},
			`{"type":"error","error":{"type":"new_error","message":"theirs","details":{"error_code":"upstream_rejected"}},"request_id":"req_1"}`},
		{&apierror.Error{Code: apierror.UpstreamRejected, Message: "ours", Own: &apierror.Wording{}},
			`{"type":"error","error":{"type":"invalid_request_error","message":"ours","details":{"error_code":"upstream_rejected"}},"request_id":"req_1"}`},
		// Claude Code compacts a conversation when it reads these words.
		{&apierror.Error{Code: apierror.ContextLengthExceeded, Message: `provider "x" refused the request: maximum context length`},
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: provider \"x\" refused the request: maximum context length","details":{"error_code":"context_length_exceeded"}},"request_id":"req_1"}`},
		{&apierror.Error{Code: apierror.ContextLengthExceeded, Own: &apierror.Wording{Type: "invalid_request_error", Message: "Prompt is too long: 5 tokens > 4 maximum"}},
			`{"type":"error","error":{"type":"invalid_request_error","message":"Prompt is too long: 5 tokens > 4 maximum","details":{"error_code":"context_length_exceeded"}},"request_id":"req_1"}`},
		// It asks for a shorter output when it reads these.
		{&apierror.Error{Code: apierror.ContextLengthExceeded, Own: &apierror.Wording{Type: "invalid_request_error", Message: "input length and `max_tokens` exceed context limit: 5 + 2 > 6"}},
			"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 5 + 2 > 6\",\"details\":{\"error_code\":\"context_length_exceeded\"}},\"request_id\":\"req_1\"}"},
		// vLLM's Messages API
		{&apierror.Error{Code: apierror.ContextLengthExceeded, Own: &apierror.Wording{Type: "BadRequestError", Message: "maximum context length"}},
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: maximum context length","details":{"error_code":"context_length_exceeded"}},"request_id":"req_1"}`},
	} {
		if got := string(anthropic.AppendError(nil, c.e, "req_1")); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

func TestModelLists(t *testing.T) {
	m := anthropic.Model{ID: "a/m", DisplayName: "M", Created: 1770163200, ContextLength: 200000, MaxOutput: 64000}
	item := `{"type":"model","id":"a/m","display_name":"M","created_at":"2026-02-04T00:00:00Z","max_input_tokens":200000,"max_tokens":64000}`
	bare := `{"type":"model","id":"a/n","display_name":"N","created_at":"1970-01-01T00:00:00Z"}`
	for want, got := range map[string][]byte{
		item: anthropic.AppendModel(nil, m),
		`{"data":[` + item + `,` + bare + `],"has_more":true,"first_id":"a/m","last_id":"a/n"}`: anthropic.AppendModelList(nil, []anthropic.Model{m, {ID: "a/n", DisplayName: "N"}}, true),
		`{"data":[],"has_more":false,"first_id":null,"last_id":null}`:                           anthropic.AppendModelList(nil, nil, false),
	} {
		if string(got) != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
