package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func respond(typ string, n, response string) string {
	return typ + `|{"type":"` + typ + `","sequence_number":` + n + `,"response":` + response + `}`
}

const (
	begun = `{"id":"resp_1","object":"response","created_at":17,"status":"in_progress","error":null,"model":"echo","instructions":"be brief","output":[],"usage":null}`
	ended = `{"id":"resp_1","object":"response","created_at":17,"status":"completed","error":null,"model":"echo","output":[{"id":"msg_1"}],` +
		`"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":1,"cache_write_tokens":2},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":7}}`
	added = `response.output_item.added|{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message"}}`
	delta = `response.output_text.delta|{"type":"response.output_text.delta","sequence_number":2,"delta":"model","item_id":"msg_1"}`
)

func TestTrap12ResponsesEventsPassButForTheModel(t *testing.T) {
	s := openai.NewResponsesStream(newCall())
	out := feed(s, "keepalive|{\"type\":\"keepalive\",\"sequence_number\":0}", respond("response.created", "0", begun), added, delta, respond("response.completed", "3", ended), "[DONE]")
	want := ""
	for _, e := range []string{respond("response.created", "0", begun), added, delta, respond("response.completed", "3", ended)} {
		name, data, _ := strings.Cut(e, "|")
		want += "event: " + name + "\ndata: " + strings.Replace(data, `"model":"echo"`, `"model":"fake/echo"`, 1) + "\n\n"
	}
	if out != want {
		t.Fatalf("got  %s\nwant %s", out, want)
	}
	if !s.Done() || finish(t, s) != "" {
		t.Fatal("the terminal event is the end")
	}
	if sum := s.Summary(); sum.UpstreamID != "resp_1" || sum.Finish != "stop" || !sum.Text || sum.Err != nil ||
		sum.Usage != (openai.Usage{Prompt: 3, Completion: 4, Total: 7, Cached: 1, CacheWrite: 2, Reasoning: 1}) {
		t.Fatalf("%+v", sum)
	}
}

func TestStoredIDsAreToldBeforeTheClientSeesThem(t *testing.T) {
	call := newCall()
	var ids []string
	call.OnID = func(kind openai.Kind, id string) { ids = append(ids, string(kind)+" "+id) }
	s := openai.NewResponsesStream(call)
	feed(s, respond("response.created", "0", begun))
	if strings.Join(ids, ",") != "response resp_1" {
		t.Fatalf("%q", ids)
	}
	feed(s, respond("response.in_progress", "1", begun), added)
	if strings.Join(ids, ",") != "response resp_1,item msg_1" {
		t.Fatalf("%q", ids)
	}
	ids = nil
	body := strings.Replace(ended, `"id":"msg_1"`, `"id":"ci_1","container_id":"cntr_1"`, 1)
	if _, _, err := openai.ResponsesResult(nil, []byte(body), call); err != nil {
		t.Fatal(err)
	}
	if strings.Join(ids, ",") != "response resp_1,item ci_1,container cntr_1" {
		t.Fatalf("%q", ids)
	}
}

func TestTheResponseIDStaysTheFirst(t *testing.T) {
	s := openai.NewResponsesStream(newCall())
	out := feed(s, respond("response.created", "0", begun), respond("response.completed", "1", strings.Replace(ended, "resp_1", "resp_2", 1)))
	if strings.Contains(out, "resp_2") {
		t.Fatal(out)
	}
}

func TestACutResponsesStreamFailsInBothForms(t *testing.T) {
	s := openai.NewResponsesStream(newCall())
	feed(s, respond("response.created", "0", begun), added, delta)
	if out, err := s.Close(nil, nil); !errors.Is(err, openai.ErrCut) || len(out) > 0 {
		t.Fatalf("%q %v", out, err)
	}
	text, _ := s.Close(nil, apierror.New(apierror.UpstreamError, "cut"))
	if !strings.HasPrefix(string(text), "event: response.failed\ndata: ") || !strings.Contains(string(text), "\n\nevent: error\ndata: ") {
		t.Fatalf("%s", text)
	}
	out := payloads(t, string(text))
	same(t, out[0], `{"type":"response.failed","sequence_number":3,"response":{"id":"resp_1","object":"response","created_at":17,"status":"failed",`+
		`"error":{"code":"server_error","message":"cut"},"model":"fake/echo","instructions":"be brief","output":[],"usage":null}}`)
	same(t, out[1], `{"type":"error","sequence_number":4,"code":"upstream_error","message":"cut","param":null,`+
		`"error":{"message":"cut","type":"server_error","param":null,"code":"upstream_error"}}`)
	if again, err := s.Close(nil, nil); len(again) > 0 || err == nil {
		t.Fatalf("a second end: %q %v", again, err)
	}
}

func TestAFailureBeforeAnyResponseHasAWholeObject(t *testing.T) {
	s := openai.NewResponsesStream(newCall())
	text, _ := s.Close(nil, apierror.New(apierror.UpstreamRateLimited, "slow"))
	v := decode(t, payloads(t, string(text))[0])["response"].(map[string]any)
	for _, key := range []string{"id", "object", "created_at", "error", "incomplete_details", "instructions", "model", "tools", "output",
		"parallel_tool_calls", "metadata", "tool_choice", "temperature", "top_p"} {
		if _, ok := v[key]; !ok {
			t.Errorf("%s is missing", key)
		}
	}
	if v["error"].(map[string]any)["code"] != "rate_limit_exceeded" || v["id"] != "gen-1" {
		t.Errorf("%v", v)
	}
}

func TestAProvidersErrorEventEndsTheStream(t *testing.T) {
	for _, in := range []string{
		`error|{"type":"error","code":"server_error","message":"canary","param":null,"sequence_number":4}`,
		`error|{"type":"error","error":{"type":"x","message":"canary"},"sequence_number":4}`,
		`{"error":{"message":"canary"}}`,
		`response.output_text.delta|{"type":"response.output_text.delta","delta":`,
		`canary`,
	} {
		s := openai.NewResponsesStream(newCall())
		feed(s, respond("response.created", "0", begun))
		out := feed(s, in, delta, respond("response.completed", "9", ended))
		if got := payloads(t, out); len(got) != 2 || strings.Contains(out, "canary") || strings.Contains(out, "completed") {
			t.Errorf("%s: %s", in, out)
		}
		if s.Summary().Err == nil || !s.Done() {
			t.Errorf("%s: %+v", in, s.Summary())
		}
	}
}

func TestAProvidersFailedResponsePassesRedacted(t *testing.T) {
	s := openai.NewResponsesStream(newCall())
	out := feed(s, respond("response.failed", "1", `{"id":"resp_1","status":"failed","model":"echo","error":{"code":"server_error","message":"at canary"}}`))
	got := payloads(t, out)
	if len(got) != 1 {
		t.Fatal(out)
	}
	same(t, got[0], `{"type":"response.failed","sequence_number":1,"response":{"id":"resp_1","status":"failed","model":"fake/echo","error":{"code":"server_error","message":"at [redacted]"}}}`)
	if end, err := s.Close(nil, nil); len(end) > 0 || apierror.From(err).Code != apierror.UpstreamError {
		t.Fatalf("%q %v", end, err)
	}
}

func TestIncompleteIsAnEndLikeAnother(t *testing.T) {
	for reason, want := range map[string]string{"max_output_tokens": "length", "content_filter": "content_filter"} {
		s := openai.NewResponsesStream(newCall())
		feed(s, respond("response.incomplete", "1", `{"id":"r","status":"incomplete","incomplete_details":{"reason":"`+reason+`"}}`))
		finish(t, s)
		if got := s.Summary(); got.Finish != want || got.NativeFinish != reason {
			t.Errorf("%s: %+v", reason, got)
		}
	}
}

func TestResponsesResult(t *testing.T) {
	got, sum, err := openai.ResponsesResult([]byte("kept:"), []byte(ended), newCall())
	if err != nil || string(got) != "kept:"+strings.Replace(ended, `"model":"echo"`, `"model":"fake/echo"`, 1) {
		t.Fatalf("%s %v", got, err)
	}
	if sum.UpstreamID != "resp_1" || sum.Usage.Total != 7 || sum.Finish != "stop" {
		t.Fatalf("%+v", sum)
	}
	got, _, err = openai.ResponsesResult(nil, []byte(`{"output":[]}`), newCall())
	if err != nil {
		t.Fatal(err)
	}
	same(t, string(got), `{"output":[],"model":"fake/echo","object":"response","id":"gen-1","created_at":1700000001}`)
}

func TestNonsenseIsNoResponse(t *testing.T) {
	for _, in := range []string{``, `[]`, `{}`, `{"output":"x"}`, `{"error":{"message":"canary"}}`, `canary`} {
		got, sum, err := openai.ResponsesResult([]byte("kept"), []byte(in), newCall())
		if e := apierror.From(err); e.Code != apierror.UpstreamError || sum.Err != e || string(got) != "kept" || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %s %v", in, got, err)
		}
	}
}

// A response object that lacks what the SDKs of a family require has it in every event and at the end.
func TestResponsesHaveTheMembersOfTheFamily(t *testing.T) {
	c := newCall()
	c.ResponseDefaults = []openai.Default{{Key: "completed_at", Value: "null"}, {Key: "tools", Value: "[]"}, {Key: "output", Value: "[]"}}
	const added = `,"model":"fake/echo","object":"response","id":"gen-1","created_at":1700000001,"completed_at":null`
	got, _, err := openai.ResponsesResult(nil, []byte(`{"output":[1],"tools":null}`), c)
	if err != nil {
		t.Fatal(err)
	}
	same(t, string(got), `{"output":[1],"tools":[]`+added+`}`)

	s := openai.NewResponsesStream(c)
	same(t, payloads(t, feed(s, respond("response.created", "0", `{"tools":[7]}`)))[0],
		`{"type":"response.created","sequence_number":0,"response":{"tools":[7]`+added+`,"output":[]}}`)
	s = openai.NewResponsesStream(c)
	text, _ := s.Close(nil, apierror.New(apierror.UpstreamRateLimited, "slow"))
	if v := decode(t, payloads(t, string(text))[0])["response"].(map[string]any); len(v) != 17 {
		t.Errorf("a failed response has %v", v)
	}
}
