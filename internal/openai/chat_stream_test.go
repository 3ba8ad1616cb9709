package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func TestOnlyTheModelOfAGoodChunkIsChanged(t *testing.T) {
	s := openai.NewChatStream(newCall())
	in := chunk(first, "null")
	got := feed(s, in)
	want := "data: " + strings.Replace(in, `"model":"echo"`, `"model":"fake/echo"`, 1) + "\n\n"
	if got != want {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	in = `{ "id":"c1","x":[1, {"y":null}],"object":"chat.completion.chunk","created":1,"model":"fake/echo","choices":[{"index":0,"delta":{"content":"a\u0062","new":{}}}]}`
	if got = feed(s, in); got != "data: "+in+"\n\n" {
		t.Fatalf("unknown fields or spelling were touched: %q", got)
	}
}

func TestTrap5NoErrorKeyInAChunk(t *testing.T) {
	for _, nothing := range []string{"null", "false", `""`, "{}"} {
		s := openai.NewChatStream(newCall())
		out := feed(s, `{"error":`+nothing+`,"id":"c1","choices":[{"index":0,"error":null,"delta":{"content":"x"}}]}`)
		if out == "" || strings.Contains(out, `"error"`) {
			t.Errorf("error %s: %q", nothing, out)
		}
	}
}

func TestTrap9ACutStreamNeverLooksWhole(t *testing.T) {
	s := openai.NewChatStream(newCall())
	feed(s, chunk(first, "null"), chunk(hello, "null"))
	out, err := s.Close(nil, nil)
	if !errors.Is(err, openai.ErrCut) || len(out) != 0 {
		t.Fatalf("got %q, %v", out, err)
	}
	out, _ = s.Close(nil, apierror.New(apierror.UpstreamError, "cut"))
	same(t, payloads(t, string(out))[0], `{"error":{"message":"cut","type":"server_error","param":null,"code":"upstream_error"}}`)
	if strings.Contains(string(out), "[DONE]") {
		t.Fatal("a failed stream was ended with [DONE]")
	}
	if out, _ = s.Close(nil, nil); len(out) != 0 {
		t.Fatalf("a second end: %q", out)
	}
	if s.Data(nil, openai.NewEvent(nil, []byte(chunk(hello, "null")))) != nil {
		t.Fatal("data after the end")
	}
}

func TestNothingAtAllIsACut(t *testing.T) {
	for _, events := range [][]string{nil, {"[DONE]"}, {"", " "}, {`{"choices":[]}`, "[DONE]"}, {`{"detail":"sorry"}`}} {
		s := openai.NewChatStream(newCall())
		if out := feed(s, events...); out != "" {
			t.Errorf("%q: sent %q", events, out)
		}
		if _, err := s.Close(nil, nil); !errors.Is(err, openai.ErrCut) {
			t.Errorf("%q: %v", events, err)
		}
	}
}

func TestWholeStreamsEndWithOneDone(t *testing.T) {
	for name, events := range map[string][]string{
		"as OpenAI":      {chunk(first, "null"), chunk(hello, `"stop"`), "[DONE]"},
		"no-done":        {chunk(first, "null"), chunk(hello, `"stop"`)},
		"done and more":  {chunk(first, `"stop"`), "[DONE]", "[DONE]", chunk(hello, "null")},
		"finish, then x": {chunk(first, `"stop"`), chunk(`{}`, "null"), "[DONE]"},
	} {
		s := openai.NewChatStream(newCall())
		out := feed(s, events...)
		if strings.Contains(out, "[DONE]") {
			t.Errorf("%s: [DONE] before the end is known", name)
		}
		if end := finish(t, s); end != "data: [DONE]\n\n" {
			t.Errorf("%s: end %q", name, end)
		}
		if s.Summary().Finish != "stop" || !s.Done() {
			t.Errorf("%s: summary %+v", name, s.Summary())
		}
	}
}

func TestAMissingFinishReasonIsGivenBeforeDone(t *testing.T) {
	s := openai.NewChatStream(newCall())
	feed(s, chunk(first, "null"), chunk(hello, "null"), "[DONE]")
	end := payloads(t, finish(t, s))
	if len(end) != 2 || end[1] != "[DONE]" {
		t.Fatalf("end %q", end)
	}
	same(t, end[0], `{"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"fake/echo","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
}

func TestTrap13UsageIsHiddenFromWhoDidNotAsk(t *testing.T) {
	s := openai.NewChatStream(newCall())
	out := feed(s,
		strings.Replace(chunk(first, "null"), `"model"`, `"usage":null,"model"`, 1),
		strings.Replace(chunk(hello, `"stop"`), `"model"`, `"usage":`+usage+`,"model"`, 1),
		`{"id":"c1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":7}}`, "[DONE]") + finish(t, s)
	if strings.Contains(out, "usage") || jsontest.Has(t, out, `{"choices":[]}`) {
		t.Fatalf("usage is shown: %s", out)
	}
	if u := s.Summary().Usage; u.Completion != 7 || u.Total != 10 || !s.Summary().HasUsage {
		t.Fatalf("the last usage does not count: %+v", u)
	}
}

func TestUsageAskedForComesOnceAndLast(t *testing.T) {
	cumulative := `{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}`
	for name, events := range map[string][]string{
		"as OpenAI": {chunk(first, `"stop"`), `{"id":"c1","object":"chat.completion.chunk","created":5,"model":"echo","choices":[],"usage":` + usage + `}`},
		"inline":    {strings.Replace(chunk(first, `"stop"`), `"model"`, `"usage":`+usage+`,"model"`, 1)},
		"in each": {strings.Replace(chunk(first, "null"), `"model"`, `"usage":`+cumulative+`,"model"`, 1),
			strings.Replace(chunk(hello, `"stop"`), `"model"`, `"usage":`+usage+`,"model"`, 1)},
	} {
		call := newCall()
		call.IncludeUsage = true
		s := openai.NewChatStream(call)
		for _, p := range payloads(t, feed(s, append(events, "[DONE]")...)) {
			if v, ok := decode(t, p)["usage"]; ok && v != nil {
				t.Errorf("%s: early usage %s", name, p)
			}
		}
		end := payloads(t, finish(t, s))
		if len(end) != 2 {
			t.Fatalf("%s: end %q", name, end)
		}
		v := decode(t, end[0])
		if len(v["choices"].([]any)) != 0 || v["usage"].(map[string]any)["completion_tokens"] != 2.0 || v["id"] != "c1" {
			t.Errorf("%s: %s", name, end[0])
		}
	}
}

func TestSloppyChunksAreRepaired(t *testing.T) {
	s := openai.NewChatStream(newCall())
	out := payloads(t, feed(s, `{"choices":[{"delta":{"content":"a"}}]}`,
		`{"id":"later","created":1700000000.25,"choices":[{"finish_reason":""}]}`))
	same(t, out[0], `{"id":"gen-1","object":"chat.completion.chunk","created":1700000001,"model":"fake/echo","choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}`)
	same(t, out[1], `{"id":"gen-1","object":"chat.completion.chunk","created":1700000001,"model":"fake/echo","choices":[{"index":0,"delta":{},"finish_reason":null}]}`)
	if id := s.Summary().UpstreamID; id != "later" {
		t.Errorf("upstream id %q", id)
	}
}

func TestFloatTimesBecomeWhole(t *testing.T) {
	s := openai.NewChatStream(newCall())
	out := feed(s, `{"created":1700000000.75,"choices":[{"index":0,"delta":{}}]}`, `{"created":1.7e9,"choices":[{"index":0,"delta":{}}]}`)
	if jsontest.Count(t, out, `{"created":1700000000}`) != 2 {
		t.Fatal(out)
	}
}

func TestTheIDStaysTheFirst(t *testing.T) {
	s := openai.NewChatStream(newCall())
	out := feed(s, chunk(first, "null"), strings.Replace(chunk(hello, "null"), `"c1"`, `"c2"`, 1))
	if strings.Contains(out, "c2") || jsontest.Count(t, out, `{"id":"c1"}`) != 2 {
		t.Fatal(out)
	}
}

func TestARepeatedRoleIsTakenOut(t *testing.T) {
	s := openai.NewChatStream(newCall())
	out := feed(s, chunk(first, "null"), chunk(`{"role":"assistant","content":"x"}`, "null"), chunk(`{"content":"y","role":null}`, "null"))
	if strings.Count(out, "role") != 1 || !jsontest.Has(t, out, `{"delta":{"content":"x"}}`) || !jsontest.Has(t, out, `{"delta":{"content":"y"}}`) {
		t.Fatal(out)
	}
}

func TestFinishReasonsAreInTheFamilysWords(t *testing.T) {
	s := openai.NewChatStream(newCall())
	out := feed(s, chunk(first, `"eos"`))
	sum := s.Summary()
	if !jsontest.Has(t, out, `{"finish_reason":"stop"}`) || sum.Finish != "stop" || sum.NativeFinish != "eos" {
		t.Fatalf("%s %+v", out, sum)
	}
}

func TestAProvidersErrorInAStreamIsOursToTell(t *testing.T) {
	for _, in := range []string{
		`{"error":{"message":"canary broke","type":"server_error","code":"boom"}}`,
		`{"error":"canary"}`,
		`{"object":"error","message":"canary","code":500}`,
		`error|{"message":"canary"}`,
		strings.Replace(chunk(`{}`, "null"), `"delta"`, `"error":{"code":502,"message":"canary"},"delta"`, 1),
		chunk(`{}`, `"error"`),
		`{"choices":`,
		`not json canary`,
		`{"choices":[7]}`,
		`{"choices":[{"index":4096,"delta":{}}]}`,
	} {
		s := openai.NewChatStream(newCall())
		feed(s, chunk(first, "null"))
		out := feed(s, in, chunk(hello, `"stop"`), "[DONE]")
		got := payloads(t, out)
		if len(got) != 1 || strings.Contains(out, "canary") {
			t.Errorf("%s: %q", in, out)
			continue
		}
		same(t, `{"code":"`+decode(t, got[0])["error"].(map[string]any)["code"].(string)+`"}`, `{"code":"upstream_error"}`)
		if end, err := s.Close(nil, nil); len(end) != 0 || err == nil || s.Summary().Err == nil || s.Summary().Finish != "error" {
			t.Errorf("%s: end %q %v", in, end, err)
		}
	}
}

func TestAnErrorInAStreamKeepsItsMeaning(t *testing.T) {
	for in, want := range map[string]apierror.Code{
		`{"error":{"message":"slow down, canary","type":"requests","code":"rate_limit_exceeded"}}`: apierror.UpstreamRateLimited,
		`{"error":{"message":"x","code":429}}`:                                                     apierror.UpstreamRateLimited,
		`{"error":{"message":"x","code":"context_length_exceeded"}}`:                               apierror.ContextLengthExceeded,
		`{"error":{"message":"x","type":"insufficient_quota"}}`:                                    apierror.UpstreamQuota,
		`{"error":{"message":"x","type":"authentication_error"}}`:                                  apierror.UpstreamAuth,
		`{"error":{"message":"x","code":"content_filter"}}`:                                        apierror.ProviderContentPolicy,
	} {
		s := openai.NewChatStream(newCall())
		feed(s, in)
		if got := s.Summary().Err; got == nil || got.Code != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func TestDataOverSeveralLinesStaysOneEvent(t *testing.T) {
	s := openai.NewChatStream(newCall())
	out := feed(s, "{\"id\":\"c1\",\n\"choices\":\r\n[{\"index\":0,\n\"delta\":{}}]}")
	if len(payloads(t, out)) != 1 {
		t.Fatal(out)
	}
}
