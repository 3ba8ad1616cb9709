package testprovider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

func TestModelsAreListed(t *testing.T) {
	for i, m := range testprovider.Models() {
		if want := []string{"echo", "embed", "fail", "lorem", "slow"}[i]; m.ID != want || m.Description == "" {
			t.Errorf("model %d is %+v, want %q with a description", i, m, want)
		}
	}
}

func TestAnswersCarryTheHeadersOfOpenAI(t *testing.T) {
	resp := send(t, http.MethodPost, "/embeddings", `{"model":"embed","input":"x"}`)
	body := readAll(t, resp)
	for name, want := range map[string]string{
		"Content-Type": "application/json", "X-Request-Id": "req_1", "Openai-Processing-Ms": "0",
		"Openai-Version": "2020-10-01", "Openai-Organization": "test-provider",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if resp.ContentLength != int64(len(body)) {
		t.Errorf("content length %d of %d", resp.ContentLength, len(body))
	}
}

func TestMistakesAreAnsweredInOpenAIForm(t *testing.T) {
	const chat = "/chat/completions"
	for _, tt := range []struct{ name, method, path, body, want string }{
		{"unknown path", "POST", "/completions", "{}", "404 invalid_request_error null null"},
		{"wrong method", "GET", chat, "", "405 invalid_request_error method_not_allowed null"},
		{"empty body", "POST", chat, "", "400 invalid_request_error invalid_json null"},
		{"broken JSON", "POST", chat, `{"model":`, "400 invalid_request_error invalid_json null"},
		{"not an object", "POST", chat, `[]`, "400 invalid_request_error invalid_json null"},
		{"no model", "POST", chat, `{"messages":[]}`, "400 invalid_request_error missing_required_parameter model"},
		{"unknown model", "POST", chat, `{"model":"gpt"}`, "404 invalid_request_error model_not_found model"},
		{"wrong type", "POST", chat, `{"model":"echo","stream":"yes"}`, "400 invalid_request_error invalid_value stream"},
		{"no messages", "POST", chat, `{"model":"echo"}`, "400 invalid_request_error missing_required_parameter messages"},
		{"empty messages", "POST", chat, `{"model":"echo","messages":[]}`, "400 invalid_request_error invalid_value messages"},
		{"unknown role", "POST", chat, chatWith(`"messages":[{"role":"user"},{"role":"boss"}]`), "400 invalid_request_error invalid_value messages"},
		{"n too large", "POST", chat, chatWith(`"n":9`), "400 invalid_request_error invalid_value n"},
		{"no tokens", "POST", chat, chatWith(`"max_tokens":0`), "400 invalid_request_error invalid_value max_tokens"},
		{"five stops", "POST", chat, chatWith(`"stop":["a","b","c","d","e"]`), "400 invalid_request_error invalid_value stop"},
		{"unknown format", "POST", chat, chatWith(`"response_format":{"type":"xml"}`), "400 invalid_request_error invalid_value response_format"},
		{"impossible schema", "POST", chat, chatWith(`"response_format":{"type":"json_schema","json_schema":{"schema":false}}`), "400 invalid_request_error invalid_value response_format"},
		{"unknown choice", "POST", chat, chatWith(`"tool_choice":"maybe"`), "400 invalid_request_error invalid_value tool_choice"},
		{"required without tools", "POST", chat, chatWith(`"tool_choice":"required"`), "400 invalid_request_error invalid_value tool_choice"},
		{"tool without name", "POST", chat, chatWith(`"tools":[{"type":"function","function":{}}]`), "400 invalid_request_error missing_required_parameter tools[0].name"},
		{"failing model", "POST", chat, `{"model":"fail","messages":[{"role":"user"}]}`, "500 server_error null null"},
		{"embedding model", "POST", chat, `{"model":"embed","messages":[{"role":"user"}]}`, "400 invalid_request_error invalid_value model"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := refused(t, tt.method, tt.path, tt.body); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestWrongMethodNamesTheRightOne(t *testing.T) {
	if got := send(t, http.MethodGet, "/embeddings", "").Header.Get("Allow"); got != http.MethodPost {
		t.Errorf("allow: %q", got)
	}
}

func TestLongBodyIsRefused(t *testing.T) {
	const tooLong = 32<<20 + 1
	for _, known := range []int64{tooLong, -1} {
		body := &closeSpy{Reader: io.LimitReader(endless{}, tooLong)}
		req, _ := http.NewRequest(http.MethodPost, base+"/chat/completions", body)
		req.ContentLength = known
		resp, err := newTransport().RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusRequestEntityTooLarge || !body.closed {
			t.Errorf("length %d: %s, body closed: %v", known, resp.Status, body.closed)
		}
	}
}

// endless reads whatever the buffer held.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestBodyThatCannotBeReadFailsTheTripAndIsClosed(t *testing.T) {
	broken := errors.New("cable cut")
	body := &closeSpy{Reader: iotest.ErrReader(broken)}
	req, _ := http.NewRequest(http.MethodPost, base+"/chat/completions", body)
	if _, err := newTransport().RoundTrip(req); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if !body.closed {
		t.Error("the request body was left open")
	}
}

func TestEndedContextFailsTheTripAndClosesTheBody(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := &closeSpy{Reader: strings.NewReader("{}")}
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, base+"/embeddings", body)
	if _, err := newTransport().RoundTrip(req); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if !body.closed {
		t.Error("the request body was left open")
	}
}

type closeSpy struct {
	io.Reader
	closed bool
}

func (c *closeSpy) Close() error { c.closed = true; return nil }

func TestZeroTransportMakesIDsThatNeverRepeat(t *testing.T) {
	var zero testprovider.Transport
	seen := map[string]bool{}
	for range 100 {
		req, _ := http.NewRequest(http.MethodPost, base+"/embeddings", nil)
		resp, err := zero.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		id := resp.Header.Get("X-Request-Id")
		if !strings.HasPrefix(id, "req_") || len(id) < 24 || seen[id] {
			t.Fatalf("id %q is short or seen before", id)
		}
		seen[id] = true
	}
}
