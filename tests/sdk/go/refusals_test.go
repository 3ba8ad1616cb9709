package sdkgo_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
)

// refusedCall is a call of tests/sdk/refusals.json as the driver made it. Its fields are described
// in tests/sdk/run.
type refusedCall struct {
	Name, API, Secret, Requests string
	Model, Text                 string
	Status, Tokens, Before      int
	Streamed, Hold              bool
	Code, Type, Param, Limit    string
	Hidden, Inside              string
	Message                     []string
	Headers                     map[string]string
	Waits                       []float64
	Key                         string
	KeyName                     string `json:"key_name"`
}

// Every status is one type of this SDK, with its default retries. Another type is for errors inside
// a stream.
func TestChatOnlyRefusals(t *testing.T)            { refusals(t, "chat", false) }
func TestChatStreamsOnlyRefusals(t *testing.T)     { refusals(t, "chat", true) }
func TestResponsesOnlyRefusals(t *testing.T)       { refusals(t, "responses", false) }
func TestResponseStreamsOnlyRefusals(t *testing.T) { refusals(t, "responses", true) }

func refusals(t *testing.T, api string, streamed bool) {
	text, err := os.ReadFile(env(t, "GATEWAY_CALLS"))
	if err != nil {
		t.Fatal(err)
	}
	var calls []refusedCall
	if err := json.Unmarshal(text, &calls); err != nil {
		t.Fatal(err)
	}
	for _, call := range calls {
		if call.API != api || call.Streamed != streamed {
			continue
		}
		t.Run(call.Name, func(t *testing.T) {
			var unknown float64
			if call.Key == "none" {
				unknown = unauthenticated(t)
			}
			if call.Hold {
				holdStream(t, call)
			}
			o := call.perform(t)
			if o.err != nil {
				o.describe(t, call)
			}
			o.check(t, call, unknown)
		})
	}
}

// outcome is the result of a call: message and header are the error's.
type outcome struct {
	err      error
	message  string
	header   http.Header
	text     strings.Builder // of a stream, before the error
	answered int             // calls, including earlier ones
	waits    []float64       // the requested seconds between requests
	took     time.Duration
}

func (c refusedCall) perform(t *testing.T) *outcome {
	o := new(outcome)
	gateway := openai.NewClient(
		option.WithBaseURL(env(t, "GATEWAY_ORIGIN")+"/v1"),
		option.WithAPIKey(c.Secret),
		option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			if r.Header.Get("X-Stainless-Retry-Count") != "0" {
				o.waits = append(o.waits, waitOf(o.header))
			}
			res, err := next(r)
			if err == nil {
				o.header = res.Header.Clone()
				if c.Requests != "answered" && res.StatusCode >= 400 && res.Header.Get("Retry-After") != "" {
					res.Header.Set("Retry-After-Ms", "1") // the test need not wait
				}
			}
			return res, err
		}))
	for range c.Before {
		if err := c.once(t, gateway, o); err != nil {
			t.Fatalf("a call before: %v", err)
		}
	}
	// A limit of a second is met unless the machine pauses between two calls.
	tries := 1
	if c.Before > 0 {
		tries = 3
	}
	began := time.Now()
	for ; tries > 0 && o.err == nil && len(o.waits) == 0; tries-- {
		o.err = c.once(t, gateway, o)
	}
	o.took = time.Since(began)
	return o
}

// once makes the call and reads a stream to its end.
func (c refusedCall) once(t *testing.T, gateway openai.Client, o *outcome) (err error) {
	o.text.Reset()
	defer func() {
		if err == nil {
			o.answered++
		}
	}()
	if c.API == "chat" {
		params := ask(c.Model, c.Text)
		if c.Tokens > 0 {
			params.MaxCompletionTokens = openai.Int(int64(c.Tokens))
		}
		if !c.Streamed {
			_, err = gateway.Chat.Completions.New(ctx(t), params)
			return err
		}
		stream := gateway.Chat.Completions.NewStreaming(ctx(t), params)
		defer stream.Close()
		for stream.Next() {
			o.text.WriteString(stream.Current().Choices[0].Delta.Content)
		}
		return stream.Err()
	}
	params := input(c.Model, c.Text)
	if c.Tokens > 0 {
		params.MaxOutputTokens = openai.Int(int64(c.Tokens))
	}
	if !c.Streamed {
		_, err = gateway.Responses.New(ctx(t), params)
		return err
	}
	stream := gateway.Responses.NewStreaming(ctx(t), params)
	defer stream.Close()
	for stream.Next() {
		if e, ok := stream.Current().AsAny().(responses.ResponseTextDeltaEvent); ok {
			o.text.WriteString(e.Delta)
		}
	}
	return stream.Err()
}

// describe checks what this SDK returned.
func (o *outcome) describe(t *testing.T, c refusedCall) {
	var inStream *ssestream.StreamError
	if c.Inside != "" {
		if !errors.As(o.err, &inStream) {
			t.Fatalf("error is %T %v, want *ssestream.StreamError", o.err, o.err)
		}
		t.Logf("%T %v", inStream, inStream)
		var event struct{ Error openai.Error }
		if err := json.Unmarshal(inStream.Event.Data, &event); err != nil || event.Error.Code != c.Code || event.Error.Type != c.Type {
			t.Errorf("event %s: %v", inStream.Event.Data, err)
		}
		o.message = event.Error.Message
		o.header = nil
		return
	}
	refused(t, o.err, c.Status, c.Code)
	var e *openai.Error
	if !errors.As(o.err, &e) {
		return
	}
	t.Logf("%T %d %s %s", e, e.StatusCode, e.Code, e.Message)
	if e.Type != c.Type || e.Param != c.param() {
		t.Errorf("type %q, param %q, want %q, %q", e.Type, e.Param, c.Type, c.param())
	}
	if id := e.Response.Header.Get("X-Request-Id"); id == "" || id != o.header.Get("X-Request-Id") {
		t.Errorf("request id %q", id)
	}
	o.message = e.Message
}

func (c refusedCall) param() string {
	switch {
	case c.Param != "OUTPUT":
		return c.Param
	case c.API == "chat":
		return "max_completion_tokens"
	}
	return "max_output_tokens"
}

// waitOf is how long the SDK would have waited after such an answer.
func waitOf(h http.Header) float64 {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return ms / 1000
	}
	seconds, _ := strconv.ParseFloat(h.Get("Retry-After"), 64)
	return seconds
}
