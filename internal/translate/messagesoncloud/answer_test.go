package messagesoncloud_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/clouds"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesoncloud"
)

// chunk is a frame with an event of Anthropic's.
func chunk(event string) []byte {
	return payload(`{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(event)) + `","p":"abcdef"}`)
}

func payload(text string) []byte {
	return clouds.Frame(text, ":message-type", "event", ":event-type", "chunk", ":content-type", "application/json")
}

func exception(name, message string) []byte {
	return clouds.Frame(`{"message":"`+message+`"}`, ":message-type", "exception", ":exception-type", name)
}

var (
	start = chunk(`{"type":"message_start","message":{"id":"msg_1"}}`)
	delta = chunk(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"h\u00fc"}}`)
	stop  = chunk(`{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":1}}`)
)

// events are those of start, delta and stop.
const events = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"h\u00fc"}}

event: message_stop
data: {"type":"message_stop"}

`

func stream(r io.Reader) (string, error) {
	got, err := io.ReadAll(messagesoncloud.Bedrock.Answer(nil).Stream(r, translatetest.NewCall(), nil))
	return string(got), err
}

func TestFramesOfBedrockAreAnthropicsEvents(t *testing.T) {
	other := clouds.Frame(`{}`, ":message-type", "event", ":event-type", "new")
	wire := bytes.Join([][]byte{start, other, delta, stop}, nil)
	for name, r := range map[string]io.Reader{"whole": bytes.NewReader(wire), "bytes": iotest.OneByteReader(bytes.NewReader(wire)), "late end": iotest.DataErrReader(bytes.NewReader(wire))} {
		if got, err := stream(r); got != events || err != nil {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	for cut := range len(wire) - 1 {
		if got, err := stream(bytes.NewReader(wire[:cut])); !strings.HasPrefix(events, got) || got == events || err != nil {
			t.Fatalf("cut at %d: %v\n%s", cut, err, got)
		}
	}
}

func TestAnEventOfSeveralLinesIsOne(t *testing.T) {
	want := "event: ping\ndata: { \"type\":  \"ping\" }\n\n"
	if got, err := stream(bytes.NewReader(chunk("{\n\"type\":\r\n\"ping\"\n}"))); got != want || err != nil {
		t.Errorf("%v %q", err, got)
	}
}

func TestFailuresInAStreamAreErrors(t *testing.T) {
	broken := bytes.Clone(delta)
	broken[len(broken)-1] ^= 1
	for name, c := range map[string]struct {
		frame []byte
		shows string // behind the first event
		err   string
	}{
		"throttled":      {exception("throttlingException", "slow down"), `event: error` + "\n" + `data: {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}` + "\n\n", ""},
		"model error":    {exception("modelStreamErrorException", "oops"), `event: error` + "\n" + `data: {"type":"error","error":{"type":"api_error","message":"oops"}}` + "\n\n", ""},
		"an error frame": {clouds.Frame("", ":message-type", "error", ":error-code", "x", ":error-message", "oops"), `event: error` + "\n" + `data: {"type":"error","error":{"type":"api_error","message":"oops"}}` + "\n\n", ""},
		"checksum":       {broken, "", "cannot be read"},
		"half a payload": {payload(`{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(`{"type":"ping"`))), "", "not JSON"},
		"half an event":  {chunk(`{"type":"ping"`), "", "not JSON"},
		"no base64":      {payload(`{"bytes":"?"}`), "", "not in base64"},
		"no bytes":       {payload(`{}`), "", "not JSON"},
		"no type":        {chunk(`{"index":1}`), "", "without a type"},
		"a long type":    {chunk(`{"type":"` + strings.Repeat("a", 65) + `"}`), "", "without a type"},
		"two lines":      {chunk(`{"type":"ping\ndata: {}"}`), "", "without a type"},
	} {
		got, err := stream(bytes.NewReader(bytes.Join([][]byte{start, c.frame, stop}, nil)))
		want := events[:strings.Index(events, "event: content")] + c.shows
		if got != want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

func TestAnswersOfVertexAreAnthropics(t *testing.T) {
	a := messagesoncloud.Vertex.Answer(nil)
	got, err := io.ReadAll(a.Stream(strings.NewReader(events), translatetest.NewCall(), nil))
	if string(got) != events || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestRefusalsAreAnthropicsOrThePlatforms(t *testing.T) {
	google := func(int, http.Header, []byte) translate.Refusal { return translate.Refusal{Status: 599} }
	for name, c := range map[string]struct {
		answer *messagesoncloud.Answer
		body   string
		header string
		status int
		shows  string
	}{
		"anthropic's on Vertex":  {messagesoncloud.Vertex.Answer(google), `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, "", 529, "overloaded_error"},
		"google's":               {messagesoncloud.Vertex.Answer(google), `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`, "", 599, ""},
		"anthropic's on Bedrock": {messagesoncloud.Bedrock.Answer(nil), `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`, "", 529, "invalid_request_error"},
		"AWS'":                   {messagesoncloud.Bedrock.Answer(nil), `{"message":"slow"}`, "ThrottlingException:http://x/", 429, "rate_limit_error"},
	} {
		r := c.answer.Refusal(529, http.Header{"X-Amzn-Errortype": {c.header}}, []byte(c.body))
		if r.Status != c.status || !strings.Contains(string(r.Body), c.shows) {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
}

// A timeout and a client that has left are no fault of the provider's frames.
func TestWhyAStreamCannotBeReadIsNotTakenForABrokenFrame(t *testing.T) {
	silent := errors.New("the provider was silent")
	for _, cut := range []int{0, 3, 10, 40} { // between frames, and within one
		if _, err := stream(io.MultiReader(bytes.NewReader(start), bytes.NewReader(delta[:cut]), iotest.ErrReader(silent))); err != silent {
			t.Errorf("after %d bytes of a frame: %v", cut, err)
		}
	}
}

// FuzzEvents puts any text as an event into a frame that is right: what comes of it is that event,
// or an error.
func FuzzEvents(f *testing.F) {
	f.Add(`{"type":"ping"}`)
	f.Add(`{"type":"message_stop","amazon-bedrock-invocationMetrics":{},"a":1}`)
	f.Add(`{"type":"message_`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := stream(bytes.NewReader(chunk(text)))
		if err != nil {
			return
		}
		var event struct{ Type string }
		lines := strings.Split(got, "\n")
		if len(lines) != 4 || !strings.HasPrefix(lines[1], "data: ") || json.Unmarshal([]byte(lines[1][6:]), &event) != nil || lines[0] != "event: "+event.Type {
			t.Fatalf("%q: %q", text, got)
		}
	})
}
