package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// soakEnd is how an answer ended for its client.
type soakEnd uint8

const (
	endNone    soakEnd = iota // no answer
	endWhole                  // an answer, or a stream with its end
	endRefused                // an error with a status
	endEvent                  // an error within a stream
	endCut                    // it was interrupted
	soakEnds
)

var soakEndNames = [soakEnds]string{"no answer", "whole", "refused", "error event", "cut"}

// Further facts about a call, in soakNote.seen: how often it has arrived at the gateway, and flags.
const (
	seenEntered  = 1 << 0 // a count of 8 bits
	seenArrived  = 1 << 8 // at the provider
	seenPanicked = 1 << 9
	seenOver     = 1 << 10 // the client has noted everything
)

// soakNote is what is known of a call. The client's goroutine writes it until seenOver; the reader
// of the records does so afterwards.
type soakNote struct {
	seen   atomic.Uint32
	kind   int16
	status int16
	end    soakEnd
	left   bool
	leaked bool
	rows   uint8
	word   string // error.code of the OpenAI API, error_type of the OpenRouter API
	code   string // of the record
}

// soakMark identifies a call: it is in its X-Client-Request-Id and in the user's text.
const soakMark = "soak-"

// call makes call n and notes what the client saw.
func (s *soak) call(n int) {
	note := &s.notes[n]
	kind := s.kindOf(n)
	c := &soakCall{n: n, rng: rand.New(rand.NewPCG(*soakSeed, ^uint64(n)))}
	c.path = pickOf(c, harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter)
	c.text = "say hello"
	s.kinds[kind].make(c)
	note.kind = int16(kind)
	defer note.seen.Or(seenOver)

	longest := harness.WaitLimit
	if c.upload == uploadStalls { // http.Transport waits for it even if the connection has closed
		longest = soakStall
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), longest)
	defer cancel()
	r := s.request(ctx, c)
	switch c.disconnect {
	case disconnectAtProvider:
		arrived := make(chan struct{})
		s.waiting.Store(n, arrived)
		defer s.waiting.Delete(n)
		go func() {
			select {
			case <-arrived:
				cancel()
			case <-ctx.Done():
			}
		}()
	case disconnectLater:
		timer := time.AfterFunc(c.after, cancel)
		defer timer.Stop()
	}
	resp, err := s.h.Client.For(r).Do(r)
	if err != nil {
		note.left = c.disconnect != disconnectNever && errors.Is(err, context.Canceled)
		if !note.left && c.panics == "" {
			s.unanswered(r, err)
		}
		return
	}
	defer func() { _ = resp.Body.Close() }()
	note.status = int16(resp.StatusCode)
	if c.disconnect == disconnectMid {
		_, err = io.ReadFull(resp.Body, make([]byte, 100))
		cancel()
		if err == nil {
			note.end, note.left = endCut, true
			return
		}
	}
	body, err := io.ReadAll(resp.Body)
	note.left = note.left || c.disconnect != disconnectNever && errors.Is(err, context.Canceled)
	note.leaked = c.absent != "" && bytes.Contains(body, []byte(c.absent))
	note.end, note.word = s.ended(c.path, resp, body, err)
}

// unanswered counts why a call got no answer: a server that shuts down drops requests that arrive
// at that moment.
func (s *soak) unanswered(r *http.Request, err error) {
	why := "other: " + err.Error()
	switch text := err.Error(); {
	case strings.Contains(text, "closed idle connection"), strings.Contains(text, "closed network connection"), strings.Contains(text, "GOAWAY"):
		why = "closed while idle"
	case errors.Is(err, context.DeadlineExceeded):
		why = "no answer in time"
	case errors.Is(err, io.EOF):
		why = "closed"
	case errors.Is(err, syscall.ECONNRESET):
		why = "reset"
	}
	s.drops.Lock()
	defer s.drops.Unlock()
	if s.dropped == nil {
		s.dropped = map[string]int{}
	}
	s.dropped[r.URL.Scheme+" "+why]++
}

// request is the HTTP request of a call.
func (s *soak) request(ctx context.Context, c *soakCall) *http.Request {
	body := c.raw
	if body == "" {
		more := c.more
		if c.stream {
			more += harness.Streaming
		}
		field, said := "messages", `[{"role":"user","content":"`+c.text+" "+soakMark+strconv.Itoa(c.n)+`"}]`
		if strings.HasSuffix(c.path, "/responses") {
			field = "input"
		}
		body = `{"model":"` + c.model + `","` + field + `":` + said + more + `}`
	}
	var reader io.Reader = strings.NewReader(body)
	if c.upload == uploadStalls {
		reader = &stalledBody{ctx: ctx, first: strings.NewReader(body[:len(body)/2]), closed: make(chan struct{})}
	}
	origin := s.h.Client.Origin
	if s.h.Client.Secure != "" && c.n%4 == 3 { // HTTP/2
		origin = s.h.Client.Secure
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, origin+c.path, reader)
	if err != nil {
		panic(err) // the test wrote every part of it
	}
	switch {
	case c.upload == uploadStalls:
		r.ContentLength = int64(len(body))
	case c.unannounced:
		r.ContentLength = -1
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+harness.Secret(c.key))
	r.Header.Set("X-Client-Request-Id", soakMark+strconv.Itoa(c.n))
	if c.panics != "" {
		r.Header.Set(soakPanicHeader, c.panics)
	}
	return r
}

// soakStall is longer than the gateway waits for a body.
const soakStall = 6 * time.Second

// stalledBody is a body of which the second half never comes.
type stalledBody struct {
	ctx    context.Context
	first  io.Reader
	closed chan struct{}
	once   sync.Once
}

func (b *stalledBody) Read(p []byte) (int, error) {
	if n, err := b.first.Read(p); err == nil {
		return n, nil
	}
	select {
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	case <-b.closed:
		return 0, io.ErrClosedPipe
	}
}

func (b *stalledBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// ended returns how an answer ended, and the name of its error.
func (s *soak) ended(path string, resp *http.Response, body []byte, err error) (soakEnd, string) {
	var e struct {
		Error struct {
			Code     any
			Metadata struct {
				Type string `json:"error_type"`
			}
		}
		Code any // of a Responses event
	}
	name := func(text []byte) string {
		if json.Unmarshal(text, &e) != nil {
			return "?"
		}
		if word, ok := e.Error.Code.(string); ok {
			return s.words.of(word)
		}
		return s.words.of(e.Error.Metadata.Type)
	}
	switch {
	case resp.StatusCode != http.StatusOK && err == nil:
		return endRefused, name(body)
	case err != nil:
		return endCut, ""
	case !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"):
		return endWhole, ""
	case bytes.Contains(body, []byte("data: [DONE]")), bytes.Contains(body, []byte("event: response.completed")), bytes.Contains(body, []byte("event: response.incomplete")):
		return endWhole, ""
	}
	at := bytes.LastIndex(body, []byte("data: "))
	if at < 0 {
		return endCut, ""
	}
	return endEvent, name(body[at+len("data: "):])
}

// soakWords keeps each of the few error words once.
type soakWords struct {
	mu   sync.Mutex
	once map[string]string
}

func (w *soakWords) of(word string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.once[word]; ok {
		return known
	}
	if w.once == nil {
		w.once = map[string]string{}
	}
	word = strings.Clone(word)
	w.once[word] = word
	return word
}

// markIn returns the number of the call whose mark is in a text, -1 for none.
func markIn(text string) int {
	_, rest, ok := strings.Cut(text, soakMark)
	if !ok {
		return -1
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(rest[:end])
	if err != nil {
		return -1
	}
	return n
}
