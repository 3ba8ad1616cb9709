package responsesonchat_test

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
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chunks"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

func newStream(t testing.TB) *chunks.Stream {
	return responsesonchat.NewStream(originalOf(t, plainRequest), translatetest.NewCall(), counter{})
}

func feed(s *chunks.Stream, wire string) string {
	var out []byte
	var events openai.Events
	for _, event := range strings.Split(strings.TrimSuffix(wire, "\n\n"), "\n\n") {
		out = s.Data(out, events.Next(nil, []byte(strings.TrimPrefix(event, "data: "))))
	}
	return string(out)
}

func TestAnEventIsToldAsSoonAsItsChunkComes(t *testing.T) {
	s := newStream(t)
	first := feed(s, translatetest.Chunk(`{"role":"assistant","content":""}`, translatetest.Null))
	if strings.Count(first, "event: ") != 2 || !strings.Contains(first, "event: response.in_progress\n") {
		t.Errorf("the first chunk gave %s", first)
	}
	if out := feed(s, translatetest.Chunk(`{"content":"hello"}`, translatetest.Null)); strings.Count(out, "event: ") != 3 || !jsontest.Has(t, out, `{"delta":"hello"}`) {
		t.Errorf("text gave %s", out)
	}
	if out := feed(s, translatetest.Chunk(`{"content":" you"}`, translatetest.Null)); strings.Count(out, "event: ") != 1 {
		t.Errorf("more text gave %s", out)
	}
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
			out += feed(s, translatetest.Chunk(`{"content":"late"}`, translatetest.Null))
		}
		if n := terminals(out); n != 1 {
			t.Errorf("%s: %d ends in %s", name, n, out)
		}
		if _, err := checkEvents(out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !s.Done() {
			t.Errorf("%s: expects more", name)
		}
	}
}

func TestAnEndThatOnlyItsCallerKnowsIsToldInFull(t *testing.T) {
	s := newStream(t)
	out := feed(s, translatetest.Chunk(`{"content":"a"}`, translatetest.Null))
	rest, err := s.Close(nil, apierror.New(apierror.UpstreamTimeout, "the provider was silent for too long"))
	if translatetest.MustFail(t, err).Code != apierror.UpstreamTimeout {
		t.Errorf("error %v", err)
	}
	if terminal, err := checkEvents(out + string(rest)); err != nil || terminal != "response.failed" {
		t.Errorf("%s, %v", terminal, err)
	}
	for _, part := range []string{`"code":"upstream_timeout"`, `"code":"server_error"`, `"text":"a"`, `"status":"incomplete"`} {
		if !strings.Contains(string(rest), part) {
			t.Errorf("no %s in %s", part, rest)
		}
	}
	if sum := s.Summary(); sum.Err == nil || sum.Finish != "error" || !sum.Text {
		t.Errorf("summary %+v", sum)
	}
}

func TestACutAnswerIsLeftToItsCallerToTell(t *testing.T) {
	s := newStream(t)
	feed(s, translatetest.Chunk(`{"content":"a"}`, translatetest.Null))
	out, err := s.Close(nil, nil)
	if !errors.Is(err, openai.ErrCut) || len(out) > 0 {
		t.Errorf("%v, %s", err, out)
	}
}

func TestAStreamIsWholeWhenEveryChoiceIs(t *testing.T) {
	second := `data: {"choices":[{"index":1,"delta":{"content":"b"}}]}` + "\n\n"
	out, err := stream(originalOf(t, plainRequest), translatetest.Chunk(`{"content":"a"}`, translatetest.Null)+second+translatetest.Chunk(`{}`, translatetest.Stop))
	if terminal, bad := checkEvents(out); bad != nil || terminal != "response.failed" || err == nil {
		t.Errorf("%s, %v, %v", terminal, bad, err)
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

func TestTheServiceTierIsTheLastThatTheProviderNamed(t *testing.T) {
	tier := func(tier, delta string) string {
		return strings.Replace(translatetest.Chunk(delta, translatetest.Null), `"model"`, `"service_tier":"`+tier+`","model"`, 1)
	}
	wire := strings.Repeat(tier("a", `{"content":"x"}`), 2) + tier("b", `{}`) + tier("a", `{"content":"x"}`) + translatetest.Ended
	out, err := stream(originalOf(t, plainRequest), wire)
	_, last, _ := strings.Cut(out, "event: response.completed\n")
	if err != nil || !jsontest.Has(t, last, `{"service_tier":"a"}`) || !jsontest.Has(t, last, `{"text":"xxx"}`) {
		t.Errorf("%v, %s", err, last)
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

func TestALineOfAMegabyte(t *testing.T) {
	text := strings.Repeat("é\\n", 1<<18)
	out, err := stream(originalOf(t, plainRequest), translatetest.Chunk(`{"content":"`+text+`"}`, translatetest.Stop)+translatetest.Ended)
	if err != nil {
		t.Fatal(err)
	}
	if terminal, err := checkEvents(out); err != nil || terminal != "response.completed" {
		t.Errorf("%s, %v", terminal, err)
	}
}

func TestAnAnswerWithoutBoundsFails(t *testing.T) {
	flip := translatetest.Chunk(`{"content":"a"}`, translatetest.Null) + translatetest.Chunk(`{"reasoning":"b"}`, translatetest.Null)
	many := strings.Repeat(flip, translate.MaxItems/2)
	call := func(i int) string {
		return `{"index":` + strconv.Itoa(i) + `,"id":"c` + strconv.Itoa(i) + `","function":{"name":"f","arguments":""}}`
	}
	calls := ""
	for i := range 600 {
		calls += translatetest.Chunk(`{"tool_calls":[`+call(i)+`]}`, translatetest.Null)
	}
	long := strings.Repeat(translatetest.Chunk(`{"content":"`+strings.Repeat("a", 1<<20)+`"}`, translatetest.Null), translate.MaxText>>20+1)
	for name, wire := range map[string]string{"items": many, "calls": calls, "text": long} {
		out, err := stream(originalOf(t, plainRequest), wire+translatetest.Chunk(`{}`, translatetest.Stop)+translatetest.Ended)
		if e := translatetest.MustFail(t, err); e.Code != apierror.UpstreamError || !strings.Contains(e.Message, "too m") {
			t.Errorf("%s: %v", name, e)
		}
		if n := terminals(out); n != 1 || strings.Contains(out, "response.completed") {
			t.Errorf("%s: %d ends", name, n)
		}
	}
}

func TestAWholeAnswerThatIsNoneFails(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"no"}}`, `{"choices":[]}`, `nonsense`, ``,
		`{"choices":[{"message":{"content":7}}]}`,
		`{"choices":[{"message":{"audio":{"id":"a"}}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"id":"a"}]}}]}`,
		`{"choices":[{"message":{"content":[{"type":"image"}]}}]}`,
		`{"choices":[{"message":{"content":"a"},"finish_reason":"error"}]}`,
	} {
		out, sum, err := responsesonchat.Result([]byte("before"), []byte(body), originalOf(t, plainRequest), translatetest.NewCall(), counter{})
		if translatetest.MustFail(t, err).HTTPStatus() < 500 || string(out) != "before" || sum.Err == nil {
			t.Errorf("%s: %v, %s", body, err, out)
		}
	}
}

// A whole answer and the same answer in pieces are one response.
func TestPiecesAddUpToTheWhole(t *testing.T) {
	original := originalOf(t, plainRequest)
	whole := `{"choices":[{"message":{"reasoning":"abc","content":"defg","refusal":"hi","tool_calls":[` +
		`{"id":"x","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"y","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}],` +
		`"created":1700000000,"usage":{"prompt_tokens":1,"completion_tokens":1}}`
	want, _, err := responsesonchat.Result(nil, []byte(whole), original, translatetest.NewCall(), counter{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := stream(original, translatetest.Chunk(`{"reasoning":"a"}`, translatetest.Null)+translatetest.Chunk(`{"reasoning":"bc"}`, translatetest.Null)+translatetest.Chunk(`{"content":"de"}`, translatetest.Null)+
		translatetest.Chunk(`{"content":"fg"}`, translatetest.Null)+translatetest.Chunk(`{"refusal":"h"}`, translatetest.Null)+translatetest.Chunk(`{"refusal":"i"}`, translatetest.Null)+
		translatetest.Chunk(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a"}}]}`, translatetest.Null)+
		translatetest.Chunk(`{"tool_calls":[{"index":1,"id":"y","function":{"name":"g","arguments":"{"}}]}`, translatetest.Null)+
		translatetest.Chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\":1}"}},{"index":1,"function":{"arguments":"}"}}]}`, `"tool_calls"`)+
		`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n\n"+translatetest.Ended)
	if err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(out, "event: response.completed\ndata: ")
	var event struct{ Response json.RawMessage }
	if err := json.Unmarshal([]byte(last), &event); err != nil || string(event.Response) != string(want) {
		t.Errorf("%v\npieces %s\nwhole  %s", err, event.Response, want)
	}
}
