package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

const pictureUsage = `{"input_tokens":5,"output_tokens":272,"total_tokens":277,"input_tokens_details":{"text_tokens":5,"image_tokens":0}}`

// play gives events to a stream of pictures, and ends it.
func play(s *openai.ImageStream, failure *apierror.Error, events ...string) (string, error) {
	var out []byte
	for _, text := range events {
		name, data, named := strings.Cut(text, " {")
		if !named {
			name, data = "", text
		} else {
			data = "{" + data
		}
		e := openai.NewEvent([]byte(name), []byte(data))
		out = s.Data(out, e)
		e.Release()
	}
	out, err := s.Close(out, failure)
	return string(out), err
}

func TestEventsOfPicturesPassAndAreCounted(t *testing.T) {
	partial, whole := `image_edit.partial_image {"type":"image_edit.partial_image","b64_json":"A"}`, `image_edit.completed {"type":"image_edit.completed","usage":`+pictureUsage+`}`
	wire := func(event string) string { return "event: " + strings.Replace(event, " ", "\ndata: ", 1) + "\n\n" }
	one := openai.Usage{Prompt: 5, Completion: 272, Total: 277, Units: units.Counts{units.Images: 1, units.ImageOutput: 272}}
	two := openai.Usage{Prompt: 10, Completion: 544, Total: 554, Units: units.Counts{units.Images: 2, units.ImageOutput: 544}}
	for name, c := range map[string]struct {
		n      int64
		mark   bool
		events []string
		out    string
		usage  openai.Usage
		later  int
		err    error
	}{
		"one":             {1, false, []string{partial, whole}, wire(partial) + wire(whole), one, 0, nil},
		"two":             {2, false, []string{whole, whole}, wire(whole) + wire(whole), two, 0, nil},
		"one of two":      {2, false, []string{whole}, wire(whole), one, 1, nil},
		"with a mark":     {1, true, []string{`{"type":"image_generation.completed"}`, "[DONE]"}, "data: {\"type\":\"image_generation.completed\"}\n\ndata: [DONE]\n\n", openai.Usage{Units: units.Counts{units.Images: 1}}, 0, nil},
		"a mark too many": {1, false, []string{whole, "[DONE]"}, wire(whole), one, 0, nil},
		"cut":             {1, false, []string{partial}, wire(partial), openai.Usage{}, 1, openai.ErrCut},
	} {
		s := openai.NewImageStream(openai.Call{Provider: "acme"}, c.n, c.mark)
		out, err := play(s, nil, c.events...)
		if sum := s.Summary(); out != c.out || !errors.Is(err, c.err) || sum.Usage != c.usage || sum.Later != c.later || sum.HasUsage != (c.usage != openai.Usage{}) {
			t.Errorf("%s: %q, %v, %+v", name, out, err, sum)
		}
	}
}

func TestFailuresOfStreamsOfPictures(t *testing.T) {
	for name, c := range map[string]struct {
		event, message string
		failure        *apierror.Error
	}{
		"an event":      {`error {"type":"error","error":{"message":"no foxes","type":"invalid_request_error","code":"invalid_value"}}`, "no foxes", nil},
		"a bare error":  {`{"error":{"message":"no foxes","type":"invalid_request_error","code":"invalid_value"}}`, "no foxes", nil},
		"no JSON":       {`{"type":`, "not JSON", nil},
		"of the client": {`{"type":"image_generation.partial_image"}`, "blocked", apierror.New(apierror.GuardrailBlocked, "blocked")},
	} {
		s := openai.NewImageStream(openai.Call{Provider: "acme", Redact: func(s string) string { return s }}, 1, true)
		out, err := play(s, c.failure, c.event, `{"type":"image_generation.completed"}`)
		end := out[strings.LastIndex(strings.TrimSuffix(out, "\n\n"), "data: "):]
		if c.failure != nil {
			if out2, again := s.Close(nil, nil); len(out2) > 0 || again == nil {
				t.Errorf("%s: a second end %q", name, out2)
			}
		}
		if err == nil || !jsontest.Has(t, end, `{"type":"error"}`) || len(jsontest.Values(t, end, "error")) != 1 || !strings.Contains(jsontest.String(t, end, "message"), c.message) || strings.Contains(out, "[DONE]") || s.Summary().Err == nil {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}

func TestAWholeAnswerWithPicturesBecomesEvents(t *testing.T) {
	body := `{"created":7,"size":"auto","data":[{"b64_json":"A"},{"b64_json":"B"}],"usage":` + pictureUsage + `}`
	out, sum, err := openai.ImageEvents("image_edit", "created_at")(nil, []byte(body), openai.Call{})
	want := "event: image_edit.completed\ndata: {\"type\":\"image_edit.completed\",\"created_at\":7,\"size\":\"auto\",\"b64_json\":\"A\"}\n\n" +
		"event: image_edit.completed\ndata: {\"type\":\"image_edit.completed\",\"created_at\":7,\"size\":\"auto\",\"b64_json\":\"B\",\"usage\":" + pictureUsage + "}\n\n"
	if err != nil || string(out) != want || sum.Usage.Units[units.Images] != 2 {
		t.Errorf("%s, %v", out, err)
	}
	if out, _, _ := openai.ImageEvents("image_generation", "created")(nil, []byte(body), openai.Call{}); !jsontest.Has(t, out, `{"type":"image_generation.completed","created":7}`) {
		t.Errorf("OpenRouter's: %s", out)
	}
	if _, _, err := openai.ImageEvents("image_edit", "created_at")(nil, []byte(`{"error":{"message":"x"}}`), openai.Call{}); err == nil {
		t.Error("an error is pictures")
	}
}
