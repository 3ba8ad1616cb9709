// Package testprovider is the built-in model provider of the dialect "test". It
// needs no network and no account: [Transport] is an [http.RoundTripper] that
// answers like an OpenAI-compatible provider under any base URL, so that a new
// gateway can be tried, and tested, on the very path that real providers take.
//
//	client := http.Client{Transport: &testprovider.Transport{}}
//	client.Post("http://test.invalid/v1/chat/completions", "application/json",
//		strings.NewReader(`{"model":"echo","messages":[{"role":"user","content":"hello"}]}`))
//
// It serves POST {base}/chat/completions, POST {base}/responses and, as
// Anthropic does, POST {base}/messages, these three streamed or not, POST
// {base}/messages/count_tokens, and POST {base}/embeddings, with these models:
//
//   - echo says "You said: " and the text of the last user message. Attached
//     images, sounds and files are counted: "You said: look (with 1 image)". Without
//     a text it says "You sent 1 image." or "You said nothing."
//   - embed makes embeddings, and nothing else.
//   - fail always fails: status 500, or, streamed, a body that breaks off after three words.
//   - lorem says the same 512 words to everybody, for load.
//   - slow is echo at one word every 200 ms; not streamed, it answers after the
//     time that all its words take.
//
// For all models: when tools are offered and tool_choice allows it, the reply is
// a call of the first (or the forced) function with a small example of its
// parameters. When the conversation ends with tool results, the reply is "The
// tool answered: " and the results, joined by "; ", even if a tool is forced, so
// that every tool loop ends. A JSON response format is answered with a small
// example of its schema, or with {"reply":"…"} if there is none.
//
// A token is a word with the white space before it, or 32 characters of a longer
// one. The input counts the texts and tool arguments of the whole conversation
// and no attachment; the output counts what was written. No model writes more
// than 16384 tokens.
//
// With thinking asked for in the Messages API, every model thinks
// [ThinkingText] and signs it. Thinking that comes back is not looked at.
//
// An embedding depends on the words of the input only: inputs with common words
// have similar ones.
//
// Limits: it keeps no state (previous_response_id and its like are refused), calls
// functions only, one a turn, and ignores sampling parameters.
package testprovider

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxBody is the longest request body that is read: enough for several images in
// base64, and a small part of the memory of any machine that runs a gateway.
const maxBody = 32 << 20

// Transport answers requests without a network. The zero value is ready. It may be
// used by several goroutines at once; its fields may not change meanwhile.
//
// Every mistake of the caller is an answer with the error body of OpenAI, or of
// Anthropic for the Messages API. RoundTrip
// itself only fails if the request's body cannot be read or its context ends.
type Transport struct {
	// Now is the clock for time stamps and the header openai-processing-ms.
	// Default: [time.Now].
	Now func() time.Time

	// NewID makes the ending of ids, which never repeats.
	// Default: 26 random characters from crypto/rand.
	NewID func() string
}

var _ http.RoundTripper = (*Transport)(nil)

// routes are found by the end of the path, because any base URL will do.
var routes = []struct {
	suffix, method string
	serve          func(*Transport, *http.Request) (answer, error)
}{
	{"/chat/completions", http.MethodPost, (*Transport).chat},
	{"/responses", http.MethodPost, (*Transport).responses},
	{"/embeddings", http.MethodPost, (*Transport).embeddings},
	{messagesPath, http.MethodPost, (*Transport).messages},
	{messagesPath + "/count_tokens", http.MethodPost, (*Transport).countTokens},
}

const messagesPath = "/messages"

// isMessages reports whether a request is of the Messages API.
func isMessages(req *http.Request) bool {
	return strings.HasSuffix(strings.TrimSuffix(req.URL.Path, "/count_tokens"), messagesPath)
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	start := t.now()
	header, id := http.Header{}, "req_"+t.newID()
	status := http.StatusOK
	a, err := t.route(req, header)
	refusal, refused := errors.AsType[*apiError](err)
	if err != nil && !refused {
		return nil, err
	}
	if refused {
		status, a = refusal.status, answer{body: refusal.body()}
	}
	if isMessages(req) {
		header.Set("Request-Id", id)
		header.Set("Anthropic-Organization-Id", "test-provider")
		if refused {
			a.body = MessagesError(status, refusal.message, id)
		}
	} else {
		header.Set("Openai-Organization", "test-provider")
		header.Set("Openai-Version", "2020-10-01")
		header.Set("X-Request-Id", id)
		header.Set("Openai-Processing-Ms", strconv.FormatInt(t.now().Sub(start).Milliseconds(), 10))
	}

	resp := &http.Response{
		Status:     fmt.Sprintf("%d %s", status, http.StatusText(status)),
		StatusCode: status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  header,
		Request: req,
	}
	if a.stream != nil {
		header.Set("Content-Type", "text/event-stream; charset=utf-8")
		header.Set("Cache-Control", "no-cache")
		resp.ContentLength = -1
		resp.Body = &streamBody{ctx: req.Context(), stream: a.stream, pace: a.pace, cut: a.cut, closed: make(chan struct{})}
		return resp, nil
	}
	body := append(Encode(a.body), '\n')
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	resp.ContentLength = int64(len(body))
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

func (t *Transport) route(req *http.Request, header http.Header) (answer, error) {
	for _, r := range routes {
		switch {
		case !strings.HasSuffix(req.URL.Path, r.suffix):
		case req.Method != r.method:
			header.Set("Allow", r.method)
			return answer{}, errMethod(req.Method, req.URL.Path)
		default:
			return r.serve(t, req)
		}
	}
	return answer{}, errURL(req.Method, req.URL.Path)
}

// readBody reads the whole body of a call.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, errJSON(io.ErrUnexpectedEOF)
	}
	if req.ContentLength > maxBody {
		return nil, errTooLarge(maxBody)
	}
	var body bytes.Buffer
	body.Grow(int(max(0, req.ContentLength)) + bytes.MinRead) // so that a known length is read without copies
	if _, err := body.ReadFrom(io.LimitReader(req.Body, maxBody+1)); err != nil {
		return nil, fmt.Errorf("reading the request body: %w", err)
	}
	if body.Len() > maxBody {
		return nil, errTooLarge(maxBody)
	}
	return body.Bytes(), nil
}

// wait waits for the words of a reply that is not streamed.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (t *Transport) now() time.Time {
	if t.Now != nil {
		return t.Now()
	}
	return time.Now()
}

func (t *Transport) newID() string {
	if t.NewID != nil {
		return t.NewID()
	}
	return strings.ToLower(rand.Text())
}
