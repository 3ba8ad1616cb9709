package anthropic_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func wholeGolden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/whole/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func wholeCall() openai.Call {
	return openai.Call{Model: "fake/echo", ID: "gen-1", Provider: "fake", Redact: func(s string) string { return s }}
}

// streamedWhole feeds events to the stream of a client, as the provider would have sent them.
func streamedWhole(t testing.TB, events []byte) (string, openai.Summary, error) {
	t.Helper()
	s := anthropic.NewStream(wholeCall())
	reader := sse.NewReader(bytes.NewReader(events), 1<<20)
	defer reader.Release()
	var out []byte
	var wire openai.Events
	for !s.Done() {
		event, err := reader.Next()
		if err != nil {
			break
		}
		if event.Comment {
			continue
		}
		if !json.Valid(event.Data) {
			t.Fatalf("not JSON: %s", event.Data)
		}
		next := wire.Next(event.Name, event.Data)
		out = s.Data(out, next)
		next.Release()
	}
	out, err := s.Close(out, nil)
	return string(out), s.Summary(), err
}

func TestAWholeMessageBecomesEvents(t *testing.T) {
	events, sum, err := anthropic.Events([]byte(": first\n\n"), wholeGolden(t, "message.json"), wholeCall())
	if err != nil || !sum.HasUsage {
		t.Fatalf("%+v, %v", sum, err)
	}
	if string(events) != ": first\n\n"+string(wholeGolden(t, "message.events")) {
		t.Errorf("got\n%s", events)
	}
	out, got, err := streamedWhole(t, events)
	if err != nil || got.Finish != "tool_calls" || got.Usage.Prompt != 5 || got.Usage.Completion != 4 || !got.Text || !jsontest.Has(t, out, `{"model": "fake/echo"}`) {
		t.Errorf("%+v, %v\n%s", got, err, out)
	}
}

func TestABrokenMessageBecomesNoStream(t *testing.T) {
	body := bytes.TrimSpace(wholeGolden(t, "message.json"))
	for end := range body {
		if out, _, err := anthropic.Events(nil, body[:end], wholeCall()); err == nil || out != nil {
			t.Fatalf("the first %d bytes became a stream", end)
		}
	}
	for _, body := range []string{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, `{"content":["x"]}`, `{"content":{}}`, `{"choices":[]}`, `null`,
	} {
		if out, _, err := anthropic.Events(nil, []byte(body), wholeCall()); err == nil || out != nil {
			t.Errorf("%s became\n%s", body, out)
		}
	}
}

// FuzzWholeMessages takes any body for a message: it is refused, or becomes a whole stream of events.
func FuzzWholeMessages(f *testing.F) {
	f.Add(wholeGolden(f, "message.json"))
	f.Add([]byte(`{"content":[{"type":"text","text":1,"citations":{}},{"type":"tool_use","input":"x"}],"content":[{}],"usage":7,"stop_reason":7}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		events, _, err := anthropic.Events(nil, body, wholeCall())
		if err != nil {
			return
		}
		if !json.Valid(body) || !bytes.Equal(before, body) {
			t.Fatalf("a stream of %q", body)
		}
		if out, sum, err := streamedWhole(t, events); err != nil || sum.Err != nil {
			t.Fatalf("%v, %+v\n%s\n%s", err, sum, events, out)
		}
	})
}
