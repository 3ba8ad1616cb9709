package tests

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

type caddyfileDispenser = caddyfile.Dispenser

// The routes that take a model.
const (
	chatV1      = "/v1/chat/completions"
	chatRouter  = "/api/v1/chat/completions"
	responsesV1 = "/v1/responses"
	responsesOR = "/api/v1/responses"
)

// answer is a whole answer. err is a failure to read its body to the end.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
}

// request is a call: method GET without a body, else POST.
func (h *harness) request(path, key, body string) *http.Request {
	h.t.Helper()
	method, reader := http.MethodGet, io.Reader(nil)
	if body != "" {
		method, reader = http.MethodPost, strings.NewReader(body)
	}
	origin := h.origin
	if strings.HasPrefix(path, "http") {
		origin = ""
	}
	r, err := http.NewRequestWithContext(h.t.Context(), method, origin+path, reader)
	if err != nil {
		h.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+secretOf(key))
	}
	return r
}

func (h *harness) get(path, key string) answer { h.t.Helper(); return h.send(h.request(path, key, "")) }
func (h *harness) post(path, key, body string) answer {
	h.t.Helper()
	return h.send(h.request(path, key, body))
}

// send makes the call and reads the whole answer.
func (h *harness) send(r *http.Request) answer {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), waitLimit)
	defer cancel()
	resp, err := h.clientFor(r).Do(r.WithContext(ctx))
	if err != nil {
		h.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, body, err}
}

func (h *harness) clientFor(r *http.Request) *http.Client {
	if r.URL.Scheme == "https" {
		return h.http2
	}
	return h.http
}

// event is one server-sent event; comment is set for a block of comments.
type event struct {
	name, data, comment string
}

// stream is an answer that is read event by event.
type stream struct {
	t      *testing.T
	resp   *http.Response
	read   *bufio.Reader
	cancel context.CancelFunc
}

// open makes the call and returns as soon as the answer's header is there.
func (h *harness) open(r *http.Request) *stream {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), waitLimit)
	resp, err := h.clientFor(r).Do(r.WithContext(ctx))
	if err != nil {
		cancel()
		h.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	s := &stream{h.t, resp, bufio.NewReader(resp.Body), cancel}
	h.t.Cleanup(s.disconnect)
	return s
}

// disconnect ends the call like a client that goes away.
func (s *stream) disconnect() {
	s.cancel()
	_ = s.resp.Body.Close()
}

// next reads one event of any kind; the error is io.EOF at the end.
func (s *stream) next() (event, error) {
	var e event
	var data []string
	for some := false; ; some = true {
		line, err := s.read.ReadString('\n')
		if err != nil {
			if line != "" || some {
				err = io.ErrUnexpectedEOF
			}
			return e, err
		}
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			e.data = strings.Join(data, "\n")
			return e, nil
		case field == "":
			e.comment = value
		case field == "event":
			e.name = value
		case field == "data":
			data = append(data, value)
		}
	}
}

// mustNext returns the next event that is not a comment.
func (s *stream) mustNext() event {
	s.t.Helper()
	for {
		e, err := s.next()
		if err != nil {
			s.t.Fatal("reading the stream: ", err)
		}
		if e.comment == "" {
			return e
		}
	}
}

// rest reads to the end, and leaves out comments.
func (s *stream) rest() (events []event, err error) {
	for {
		e, err := s.next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		if e.comment == "" {
			events = append(events, e)
		}
	}
}

// chat is the body of a chat call.
func chat(model, more string) string {
	return `{"model":"` + model + `","messages":[{"role":"user","content":"say hello"}]` + more + `}`
}

// ask is the body of a Responses call.
func ask(model, more string) string {
	return `{"model":"` + model + `","input":"say hello"` + more + `}`
}

// bodyFor is the body that fits the route.
func bodyFor(path, model, more string) string {
	if strings.HasSuffix(path, "/responses") {
		return ask(model, more)
	}
	return chat(model, more)
}

const streaming = `,"stream":true`

func readAll(s *stream) ([]byte, error) { return io.ReadAll(s.read) }
