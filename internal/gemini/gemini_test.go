package gemini_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

var call = openai.Call{Model: "g/m", Provider: "g", RequestID: "req_1", Redact: func(text string) string { return text }}

const answer = "{\n \"candidates\": [{\"content\": {\"parts\": [{\"text\": \"hi\"}]}, \"finishReason\": \"MAX_TOKENS\"}],\n" +
	` "usageMetadata": {"promptTokenCount": 150, "candidatesTokenCount": 10, "thoughtsTokenCount": 40, "cachedContentTokenCount": 100, "totalTokenCount": 200},` +
	"\n \"modelVersion\": \"m-001\", \"responseId\": \"r-1\"}"

func TestAnAnswerKeepsItsBytesButForTheModel(t *testing.T) {
	out, sum, err := gemini.Result([]byte(">"), []byte(answer), call)
	if want := ">" + strings.Replace(answer, "m-001", "g/m", 1); err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
	want := openai.Usage{Prompt: 150, Completion: 50, Total: 200, Cached: 100, Reasoning: 40}
	if sum.Usage != want || !sum.HasUsage || sum.Finish != "length" || sum.NativeFinish != "MAX_TOKENS" || sum.UpstreamID != "r-1" || !sum.Text {
		t.Errorf("%+v", sum)
	}
}

func TestWhatIsNoAnswerFails(t *testing.T) {
	for _, body := range []string{"", "[]", "nonsense", "{}", `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`} {
		if out, sum, err := gemini.Result([]byte(">"), []byte(body), call); err == nil || sum.Err == nil || string(out) != ">" {
			t.Errorf("%q: %s", body, out)
		}
	}
}

// Tokens that were used are paid for, also if the provider reports a failure beside them.
func TestUsageBesideAnErrorCounts(t *testing.T) {
	const body = `{"error":{"code":500,"message":"x","status":"INTERNAL"},"usageMetadata":{"promptTokenCount":1009,"candidatesTokenCount":2003,"totalTokenCount":3012}}`
	_, whole, _ := gemini.Result(nil, []byte(body), call)
	s := gemini.NewStream(call, 1)
	s.Data(nil, openai.NewEvent(nil, []byte(body)))
	for _, sum := range []openai.Summary{whole, s.Summary()} {
		if sum.Err == nil || !sum.HasUsage || sum.Usage.Prompt != 1009 || sum.Usage.Completion != 2003 {
			t.Errorf("%+v", sum)
		}
	}
}

// SDKs take a stream that is cut for a whole one: only a finishReason ends it well.
func TestAStreamEndsWellOrWithAnError(t *testing.T) {
	const text, end = `{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"modelVersion":"m-001"}`, `{"candidates":[{"finishReason":"STOP"}]}`
	for _, c := range []struct {
		events     []string
		out        string
		err        error
		candidates int64
	}{
		{[]string{text, end}, "data: " + strings.Replace(text, "m-001", "g/m", 1) + "\n\ndata: " + end + "\n\n", nil, 1},
		{[]string{`{"promptFeedback":{"blockReason":"SAFETY"}}`}, "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n", nil, 2},
		{[]string{end + " "}, "data: " + end + "\n\n", nil, 0},
		{[]string{text}, "", openai.ErrCut, 1},
		{[]string{text, end}, "", openai.ErrCut, 2},
		{[]string{text, `{"candidates":[{"finishReason":"STOP"},{"index":1,"finishReason":"SAFETY"}]}`}, "", nil, 2},
	} {
		s := gemini.NewStream(call, c.candidates)
		var out []byte
		for _, e := range c.events {
			out = s.Data(out, openai.NewEvent(nil, []byte(e)))
		}
		out, err := s.Close(out, nil)
		if !errors.Is(err, c.err) || c.out != "" && string(out) != c.out {
			t.Errorf("%v: %v: %s", c.events, err, out)
		}
	}
	s := gemini.NewStream(call, 1)
	out := s.Data(nil, openai.NewEvent(nil, []byte(`{"error":{"code":503,"message":"overloaded"}}`)))
	out = s.Data(out, openai.NewEvent(nil, []byte(end)))
	if !s.Done() || !jsontest.Has(t, out, `{"code":503}`) || strings.Count(string(out), "data: ") != 1 {
		t.Errorf("%s", out)
	}
}

// Google has no code for it: agents look for the words.
func TestAPromptThatIsTooLongIsRefusedInGooglesWords(t *testing.T) {
	const googles = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
	for said, want := range map[string]string{
		googles:                     googles,
		"Input is too long for it.": "The input token count exceeds the maximum number of tokens allowed: Input is too long for it.",
	} {
		var got struct {
			Error struct{ Message, Status string }
		}
		e := apierror.New(apierror.ContextLengthExceeded, "%s", said)
		if err := json.Unmarshal(gemini.AppendError(nil, e, "req_1"), &got); err != nil || got.Error.Message != want || got.Error.Status != "INVALID_ARGUMENT" {
			t.Errorf("%q: %v %+v", said, err, got)
		}
	}
}

func TestErrorsHaveGooglesShape(t *testing.T) {
	e := apierror.New(apierror.UpstreamRateLimited, "slow down").WithParam("contents")
	const want = `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"upstream_rate_limited","domain":"gatehouse","metadata":{"request_id":"req_1"}},` +
		`{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"contents"}]},` +
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}}`
	if got := gemini.AppendError(nil, e, "req_1"); string(got) != want {
		t.Errorf("%s", got)
	}
	for _, code := range apierror.Codes() {
		if e := apierror.New(code, ""); code != apierror.ClientGone && e.GoogleStatus() == "UNKNOWN" {
			t.Errorf("%s has no word of Google's", code)
		}
	}
}
