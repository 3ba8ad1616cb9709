package messagesonchat_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chunks"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

func newStream(t testing.TB) *chunks.Stream {
	return messagesonchat.NewStream(originalOf(t, thinkingRequest), translatetest.NewCall(), messageID)
}

func feed(s *chunks.Stream, wire string) string {
	var out []byte
	var events openai.Events
	for _, event := range strings.Split(strings.TrimSuffix(wire, "\n\n"), "\n\n") {
		out = s.Data(out, events.Next(nil, []byte(strings.TrimPrefix(event, "data: "))))
	}
	return string(out)
}

func TestAnEventIsSentAsSoonAsItsChunkComes(t *testing.T) {
	s := newStream(t)
	if out := feed(s, translatetest.Chunk(`{"role":"assistant","content":""}`, translatetest.Null)); out != "" {
		t.Errorf("without content the client got %s, so no other provider can answer", out)
	}
	if out := feed(s, translatetest.Chunk(`{"content":"hello"}`, translatetest.Null)); strings.Count(out, "event: ") != 3 || !jsontest.Has(t, out, `{"text":"hello"}`) {
		t.Errorf("text gave %s", out)
	}
	if out := feed(s, translatetest.Chunk(`{"content":" you"}`, translatetest.Null)); strings.Count(out, "event: ") != 1 {
		t.Errorf("more text gave %s", out)
	}
	begin := `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`
	if out := feed(s, translatetest.Chunk(begin, translatetest.Null)); strings.Count(out, "event: ") != 3 {
		t.Errorf("a call gave %s", out)
	}
	// Providers send calls one after the other, and the second must not wait for the end.
	feed(s, translatetest.Chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`, translatetest.Null))
	begin = strings.NewReplacer(`"index":0`, `"index":1`, `"a"`, `"b"`).Replace(begin)
	if out := feed(s, translatetest.Chunk(begin, translatetest.Null)); strings.Count(out, "event: ") != 3 || !jsontest.Has(t, out, `{"id":"b"}`) {
		t.Errorf("a second call gave %s", out)
	}
	feed(s, translatetest.Chunk(`{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}`, translatetest.Null))
	if out := feed(s, translatetest.Chunk(`{}`, translatetest.Stop)); out != "" {
		t.Errorf("the finish reason gave %s, before usage can have come", out)
	}
}

func TestAStreamEndsOnce(t *testing.T) {
	failure := apierror.New(apierror.UpstreamTimeout, "the provider was silent for too long")
	for name, wire := range map[string]string{
		"whole":  translatetest.Chunk(`{"content":"a"}`, translatetest.Stop) + translatetest.Ended,
		"failed": translatetest.Chunk(`{"content":"a"}`, translatetest.Null) + `data: {"error":{"message":"no"}}` + "\n\n",
		"cut":    translatetest.Chunk(`{"content":"a"}`, translatetest.Null),
	} {
		s := newStream(t)
		out := feed(s, wire)
		for range 3 {
			more, _ := s.Close(nil, nil)
			out += string(more)
		}
		for range 3 {
			more, _ := s.Close(nil, failure)
			out += string(more)
		}
		out += feed(s, translatetest.Chunk(`{"content":"late"}`, translatetest.Null))
		if _, err := accumulate(out); err != nil || !s.Done() {
			t.Errorf("%s: %v, done %v: %s", name, err, s.Done(), out)
		}
	}
}

func TestACutAnswerIsLeftToItsCaller(t *testing.T) {
	s := newStream(t)
	feed(s, translatetest.Chunk(`{"content":"a"}`, translatetest.Null))
	out, err := s.Close(nil, nil)
	if !errors.Is(err, openai.ErrCut) || len(out) > 0 {
		t.Errorf("%v, %s", err, out)
	}
}

func TestTheSummaryIsOfTheProvidersAnswer(t *testing.T) {
	s := newStream(t)
	feed(s, translatetest.Chunk(`{"content":"a"}`, `"max_tokens"`)+`data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`+"\n\n")
	if _, err := s.Close(nil, nil); err != nil {
		t.Fatal(err)
	}
	sum := s.Summary()
	if sum.UpstreamID != "c1" || sum.Finish != "length" || sum.NativeFinish != "max_tokens" || sum.Usage.Total != 5 || !sum.Text || sum.Err != nil {
		t.Errorf("summary %+v", sum)
	}
}

func TestBrokenArgumentsAreAFailureInTheSummary(t *testing.T) {
	s := newStream(t)
	feed(s, translatetest.Chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{]"}}]}`, `"tool_calls"`)+translatetest.Ended)
	out, err := s.Close(nil, nil)
	e := translatetest.MustFail(t, err)
	if sum := s.Summary(); sum.Err != e || sum.Finish != "error" || !strings.Contains(string(out), "event: error\n") {
		t.Errorf("%+v: %s", sum, out)
	}
}

func TestAProvidersSecretsStayInside(t *testing.T) {
	for _, wire := range []string{
		`data: {"error":{"message":"key canary is out of quota","code":"context_length_exceeded"}}` + "\n\n",
		translatetest.Chunk(`{"content":"a"}`, translatetest.Null) + `data: {"error":{"message":"key canary","type":"invalid_request_error"}}` + "\n\n",
	} {
		out, err := stream(originalOf(t, plainRequest), wire)
		if translatetest.MustFail(t, err); strings.Contains(out, "canary") || !strings.Contains(out, "[redacted]") {
			t.Errorf("the client gets %s", out)
		}
	}
}

func TestAnAnswerWithoutBoundsFails(t *testing.T) {
	flip := translatetest.Chunk(`{"content":"a"}`, translatetest.Null) + translatetest.Chunk(`{"reasoning":"b"}`, translatetest.Null)
	many := strings.Repeat(flip, translate.MaxItems/2) + translatetest.Chunk(`{"content":"a"}`, translatetest.Null)
	calls := ""
	for i := range 600 {
		n := strconv.Itoa(i)
		calls += translatetest.Chunk(`{"tool_calls":[{"index":`+n+`,"id":"c`+n+`","function":{"name":"f","arguments":""}}]}`, translatetest.Null)
	}
	long := translatetest.Chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":\""}}]}`, translatetest.Null) +
		strings.Repeat(translatetest.Chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"`+strings.Repeat("a", 1<<20)+`"}}]}`, translatetest.Null), translate.MaxText>>20+1)
	waiting := translatetest.Chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`, translatetest.Null) +
		strings.Repeat(translatetest.Chunk(`{"content":"`+strings.Repeat("a", 1<<20)+`"}`, translatetest.Null), translate.MaxText>>20+1)
	for name, wire := range map[string]string{"blocks": many, "calls": calls, "arguments": long, "waiting": waiting} {
		out, err := stream(originalOf(t, thinkingRequest), wire+translatetest.Chunk(`{}`, translatetest.Stop)+translatetest.Ended)
		if e := translatetest.MustFail(t, err); e.Code != apierror.UpstreamError || !strings.Contains(e.Message, "too m") {
			t.Errorf("%s: %v", name, e)
		}
		if message, err := accumulate(out); message != nil || err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Text that the client has is not kept, so it needs no bound.
	text := strings.Repeat(translatetest.Chunk(`{"content":"`+strings.Repeat("a", 1<<20)+`"}`, translatetest.Null), translate.MaxText>>20+1)
	if _, err := stream(originalOf(t, plainRequest), text+translatetest.Chunk(`{}`, translatetest.Stop)+translatetest.Ended); err != nil {
		t.Errorf("a long text: %v", err)
	}
}

func TestAWholeAnswerThatIsNoneFails(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"no"}}`, `{"choices":[]}`, `nonsense`, ``,
		`{"choices":[{"message":{"content":7}}]}`,
		`{"choices":[{"message":{"audio":{"id":"a"}}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"id":"a"}]}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"[]"}}]}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"\"{}\""}}]}}]}`,
		`{"choices":[{"message":{"content":[{"type":"image"}]}}]}`,
		`{"choices":[{"message":{"content":"a"},"finish_reason":"error"}]}`,
	} {
		out, sum, err := messagesonchat.Result([]byte("before"), []byte(body), originalOf(t, plainRequest), translatetest.NewCall(), messageID)
		if translatetest.MustFail(t, err).HTTPStatus() < 500 || string(out) != "before" || sum.Err == nil {
			t.Errorf("%s: %v, %s", body, err, out)
		}
	}
}

// A whole answer and the same answer in pieces are one message.
func TestPiecesAddUpToTheWhole(t *testing.T) {
	original := originalOf(t, thinkingRequest)
	whole := `{"choices":[{"message":{"reasoning":"abc","content":"defg","tool_calls":[` +
		`{"id":"x:1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"y","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}],` +
		`"created":1700000000,"usage":{"prompt_tokens":1,"completion_tokens":1}}`
	out, _, err := messagesonchat.Result(nil, []byte(whole), original, translatetest.NewCall(), messageID)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	events, err := stream(original, translatetest.Chunk(`{"reasoning":"a"}`, translatetest.Null)+translatetest.Chunk(`{"reasoning":"bc"}`, translatetest.Null)+translatetest.Chunk(`{"content":"de"}`, translatetest.Null)+
		translatetest.Chunk(`{"content":"fg"}`, translatetest.Null)+
		translatetest.Chunk(`{"tool_calls":[{"index":0,"id":"x:1","function":{"name":"f","arguments":"{\"a"}}]}`, translatetest.Null)+
		translatetest.Chunk(`{"tool_calls":[{"index":1,"id":"y","function":{"name":"g","arguments":"{"}}]}`, translatetest.Null)+
		translatetest.Chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\":1}"}},{"index":1,"function":{"arguments":"}"}}]}`, `"tool_calls"`)+
		`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n\n"+translatetest.Ended)
	if err != nil {
		t.Fatal(err)
	}
	got, err := accumulate(events)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\npieces %v\nwhole  %v", err, got, want)
	}
}

func TestCallIDsAreLegalAndStayDifferent(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"call_1", "call:1", "call.1", "functions.x:0", "functions.x:1", "é", "ê", strings.Repeat("a", 65), strings.Repeat("a", 66), "toolu_01-B"} {
		quoted, _ := json.Marshal(id)
		body := `{"choices":[{"message":{"tool_calls":[{"id":` + string(quoted) + `,"function":{"name":"f","arguments":""}}]}}]}`
		for range 2 {
			out, _, err := messagesonchat.Result(nil, []byte(body), originalOf(t, plainRequest), translatetest.NewCall(), messageID)
			if err != nil {
				t.Fatal(err)
			}
			var m struct{ Content []struct{ ID string } }
			if err := json.Unmarshal(out, &m); err != nil {
				t.Fatal(err)
			}
			got := m.Content[0].ID
			if !legalID.MatchString(got) || len(got) > 64 || seen[got] != "" && seen[got] != id || legalID.MatchString(id) && len(id) <= 64 && got != id {
				t.Errorf("%s became %s, as did %s", id, got, seen[got])
			}
			seen[got] = id
		}
	}
}
