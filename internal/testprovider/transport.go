// Package testprovider is the built-in model provider of the dialect "test". It
// needs no network and no account: [Transport] is an [http.RoundTripper] that
// answers like an OpenAI-compatible provider under any base URL, so that a new
// gateway can be tried, and tested, on the very path that real providers take.
//
//	client := http.Client{Transport: &testprovider.Transport{}}
//	client.Post("http://test.invalid/v1/chat/completions", "application/json",
//		strings.NewReader(`{"model":"echo","messages":[{"role":"user","content":"hello"}]}`))
//
// It serves POST {base}/chat/completions, streamed or not, and POST {base}/embeddings;
// calls of other APIs are translated into chat completions, as for any such provider.
// These are its models:
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
// An embedding depends on the words of the input only: inputs with common words
// have similar ones.
//
// Limits: it calls functions only, one a turn, and ignores sampling parameters.
package testprovider

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
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
// Every mistake of the caller is an answer with the error body of OpenAI. RoundTrip
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

// routes are found by the end of the path, because any base URL will do. Each answers the body of a
// POST, with an object or with a *stream.
var routes = []struct {
	suffix string
	serve  func(*Transport, *http.Request, []byte) (any, error)
}{
	{"/chat/completions", (*Transport).chat},
	{"/embeddings", (*Transport).embeddings},
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
	header := http.Header{}
	header.Set("Openai-Organization", "test-provider")
	header.Set("Openai-Version", "2020-10-01")
	header.Set("X-Request-Id", "req_"+t.newID())

	status := http.StatusOK
	answer, err := t.route(req, header)
	if refusal, ok := errors.AsType[*apiError](err); ok {
		status, answer = refusal.status, errorAnswer{refusal}
	} else if err != nil {
		return nil, err
	}
	header.Set("Openai-Processing-Ms", strconv.FormatInt(t.now().Sub(start).Milliseconds(), 10))
	resp := &http.Response{
		Status:     fmt.Sprintf("%d %s", status, http.StatusText(status)),
		StatusCode: status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  header,
		Request: req,
	}
	if s, ok := answer.(*stream); ok {
		header.Set("Content-Type", "text/event-stream; charset=utf-8")
		header.Set("Cache-Control", "no-cache")
		resp.ContentLength, resp.Body = -1, s
		return resp, nil
	}
	body := append(encode(answer), '\n')
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	resp.ContentLength, resp.Body = int64(len(body)), io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

func (t *Transport) route(req *http.Request, header http.Header) (any, error) {
	for _, r := range routes {
		if !strings.HasSuffix(req.URL.Path, r.suffix) {
			continue
		}
		if req.Method != http.MethodPost {
			header.Set("Allow", http.MethodPost)
			return nil, refuse(http.StatusMethodNotAllowed, "method_not_allowed", "", "method %q is not allowed on %q", req.Method, req.URL.Path)
		}
		body, err := readBody(req)
		if err != nil {
			return nil, err
		}
		return r.serve(t, req, body)
	}
	return nil, refuse(http.StatusNotFound, "", "", "invalid URL (%s %s)", req.Method, req.URL.Path)
}

// readBody reads the whole body of a call.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, errJSON(io.ErrUnexpectedEOF)
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("reading the request body: %w", err)
	}
	if len(body) > maxBody {
		return nil, refuse(http.StatusRequestEntityTooLarge, "request_too_large", "", "the body is longer than %d bytes", maxBody)
	}
	return body, nil
}

// encode writes v, which always encodes, as JSON. The characters < > & stay as they are, as providers
// send them.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("testprovider: encoding: " + err.Error())
	}
	return b.Bytes()[:b.Len()-1] // without the line feed of Encode
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
