package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func TestOnlyTheModelOfAGoodResultIsChanged(t *testing.T) {
	in := `{"id":"c1", "object":"chat.completion","created":17,"model":"echo-2024","choices":[{"index":0,"message":{"role":"assistant","content":"hi","refusal":null,"x":1},"logprobs":null,"finish_reason":"stop"}],"usage":` +
		`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":1},"completion_tokens_details":{"reasoning_tokens":1}},"y":null}`
	got, sum, err := openai.ChatResult([]byte("kept:"), []byte(in), newCall())
	if err != nil {
		t.Fatal(err)
	}
	if want := "kept:" + strings.Replace(in, "echo-2024", "fake/echo", 1); string(got) != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	want := openai.Summary{UpstreamID: "c1", Finish: "stop", NativeFinish: "stop", HasUsage: true, Text: true,
		Usage: openai.Usage{Prompt: 3, Completion: 2, Total: 5, Cached: 1, Reasoning: 1}}
	if sum != want {
		t.Fatalf("summary %+v", sum)
	}
}

func TestASloppyResultGetsTheRequiredKeys(t *testing.T) {
	got, sum, err := openai.ChatResult(nil, []byte(`{"error":null,"created":12.5,"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}}]}`), newCall())
	if err != nil {
		t.Fatal(err)
	}
	same(t, string(got), `{"id":"gen-1","object":"chat.completion","created":12,"model":"fake/echo","choices":[{"index":0,"finish_reason":"tool_calls","message":`+
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_gen-1_1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]}`)
	if sum.Finish != "tool_calls" || sum.HasUsage {
		t.Fatalf("%+v", sum)
	}
}

func TestNonsenseIsNoResult(t *testing.T) {
	for _, in := range []string{``, ` `, `null`, `[]`, `"x"`, `{}`, `{"choices":[]}`, `{"choices":"x"}`, `{"choices":[1]}`, `{"choices":[{}]}`,
		`{"choices":[{"message":"x"}]}`, `<html>canary</html>`, `{"choices":[{"message":{}}]`, `{"error":{"message":"canary","code":500}}`,
		`{"choices":[{"message":{"content":"x"},"finish_reason":"error"}]}`} {
		got, sum, err := openai.ChatResult([]byte("kept"), []byte(in), newCall())
		var e *apierror.Error
		if !errors.As(err, &e) || e.Code != apierror.UpstreamError || e.HTTPStatus() != 502 || e.Provider != "fake" || sum.Err != e {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if string(got) != "kept" || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %s %v", in, got, err)
		}
	}
}

func TestAnErrorBodyWithStatus200KeepsItsMeaning(t *testing.T) {
	_, _, err := openai.ChatResult(nil, []byte(`{"error":{"message":"the prompt is too long, canary","code":"context_length_exceeded","param":"messages"}}`), newCall())
	e := apierror.From(err)
	if e.Code != apierror.ContextLengthExceeded || e.Param != "messages" || !strings.Contains(e.Message, "too long, [redacted]") {
		t.Fatalf("%+v", e)
	}
}

func TestRepeatedAndEscapedKeysCannotShowAnotherModel(t *testing.T) {
	got, _, err := openai.ChatResult(nil, []byte(`{"model":"a","m\u006fdel":"b","id":"1","id":"2","choices":[{"message":{"role":"user"}}],"\u0065rror":null}`), newCall())
	if err != nil {
		t.Fatal(err)
	}
	v := decode(t, string(got))
	if v["model"] != "fake/echo" || v["id"] != "2" || strings.Contains(string(got), `"a"`) || strings.Contains(string(got), "rror") {
		t.Fatalf("%s", got)
	}
	if !jsontest.Has(t, got, `{"role":"assistant"}`) {
		t.Fatalf("role: %s", got)
	}
}

func TestStoredAudioIsReported(t *testing.T) {
	call := newCall()
	var ids []string
	call.OnID = func(kind openai.Kind, id string) { ids = append(ids, string(kind)+" "+id) }
	if _, _, err := openai.ChatResult(nil, []byte(`{"choices":[{"message":{"content":null,"audio":{"id":"audio_1","data":""}}}]}`), call); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 1 || ids[0] != "audio audio_1" {
		t.Fatalf("%q", ids)
	}
}
