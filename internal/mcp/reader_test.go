package mcp

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func read(t *testing.T, contentType, body string, max int) *Reader {
	t.Helper()
	r, err := NewReader(http.Header{"Content-Type": {contentType}}, iotest.OneByteReader(strings.NewReader(body)), max)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Release)
	return r
}

func TestAnAnswerIsOneObjectOrAStream(t *testing.T) {
	whole := read(t, "application/json; charset=utf-8", `{"id":1}`, 8)
	if e, err := whole.Next(); err != nil || whole.Stream || string(e.Message) != `{"id":1}` || string(e.Raw) != `{"id":1}` {
		t.Errorf("%q, %v", e.Raw, err)
	}
	if _, err := whole.Next(); err != io.EOF {
		t.Errorf("after the object: %v", err)
	}
	stream := read(t, "Text/Event-Stream", ": ok\n\nid: 1\ndata:\n\nevent: message\ndata: {\"id\":1}\n\n", 100)
	for _, want := range []string{"", "", `{"id":1}`} {
		e, err := stream.Next()
		if err != nil || !stream.Stream || string(e.Message) != want || (want == "") != (e.Message == nil) {
			t.Errorf("%q: %q, %v", want, e.Raw, err)
		}
	}
	if _, err := stream.Next(); err != io.EOF {
		t.Errorf("after the stream: %v", err)
	}
}

// Clients read no data of events with another name than message, but their other fields.
func TestOtherEventsKeepAllButTheirData(t *testing.T) {
	const prime, closing = "event: prime\nid: 7\ndata: \n\n", "event: close\nretry: 10\n\n"
	r := read(t, "text/event-stream", prime+"event: ping\ndata: 2026-11-24\nid: 8\n\nevent: message\ndata: {}\n\n"+closing, 100)
	for _, want := range []Event{{Raw: []byte(prime)}, {Raw: []byte("event: ping\nid: 8\ndata: \n\n")}, {Message: []byte("{}")}, {Raw: []byte(closing)}} {
		e, err := r.Next()
		if err != nil || string(e.Message) != string(want.Message) || want.Raw != nil && string(e.Raw) != string(want.Raw) {
			t.Errorf("%q with %q, %v, want %q", e.Raw, e.Message, err, want.Raw)
		}
	}
	if e, err := r.Next(); err != io.EOF {
		t.Errorf("%q, %v", e.Raw, err)
	}
}

func TestAWriterNeedNotFlushBetweenEventsThatCameTogether(t *testing.T) {
	const events = "data: {}\n\ndata: {}\n\n"
	r, _ := NewReader(http.Header{"Content-Type": {"text/event-stream"}}, strings.NewReader(events), 100)
	for _, want := range []bool{true, false} {
		if _, err := r.Next(); err != nil || r.Buffered() != want {
			t.Errorf("buffered %v, %v", r.Buffered(), err)
		}
	}
	whole := read(t, "application/json", `{}`, 2)
	if _, err := whole.Next(); err != nil || whole.Buffered() {
		t.Errorf("an object is all there is: %v", err)
	}
}

func TestOtherContentTypesAreNoAnswer(t *testing.T) {
	for _, contentType := range []string{"", "text/html", "application/jsonx", "text/event-stream2"} {
		if _, err := NewReader(http.Header{"Content-Type": {contentType}}, nil, 1); !errors.Is(err, ErrContentType) {
			t.Errorf("%q: %v", contentType, err)
		}
	}
}

func TestAnEventKeepsItsIDWithAnotherMessage(t *testing.T) {
	stream := read(t, "text/event-stream", "id: 7\r\nretry: 5\r\ndata: {\"a\":\r\ndata: 1}\r\nevent: message\r\n\r\n", 100)
	e, err := stream.Next()
	if err != nil {
		t.Fatal(err)
	}
	want := "id: 7\nretry: 5\nevent: message\ndata: {\"b\":\ndata: 2}\n\n"
	if got := string(e.AppendWith(nil, []byte("{\"b\":\r\n2}"))); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	whole := read(t, "application/json", `{}`, 2)
	e, _ = whole.Next()
	if got := string(e.AppendWith(nil, []byte(`{"b":2}`))); got != `{"b":2}` {
		t.Errorf("%q", got)
	}
}

// held is memory of so many bytes.
type held int

var errFull = errors.New("no memory")

func (h held) Hold(size int) error {
	if size > int(h) {
		return errFull
	}
	return nil
}

func TestAMessageIsBounded(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 100<<10) + `"}`
	for _, test := range []struct {
		max, memory int
		want        error
	}{
		{len(long) + 20, 1 << 20, nil}, // an event has a little more than its message
		{len(long) - 1, 1 << 20, ErrTooLong},
		{len(long) + 20, 80 << 10, errFull},
	} {
		for contentType, body := range map[string]string{"application/json": long, "text/event-stream": "data: " + long + "\n\n"} {
			r := read(t, contentType, body, test.max)
			r.Memory = held(test.memory)
			if _, err := r.Next(); !errors.Is(err, test.want) {
				t.Errorf("%s of at most %d in %d: %v, want %v", contentType, test.max, test.memory, err, test.want)
			}
		}
	}
	if _, err := read(t, "application/json", long, len(long)).Next(); err != nil {
		t.Errorf("a message of exactly the bound: %v", err)
	}
}

func TestABrokenAnswerIsTheSourcesError(t *testing.T) {
	broken := errors.New("broken")
	for _, contentType := range []string{"application/json", "text/event-stream"} {
		body := io.MultiReader(strings.NewReader(`data: {"id"`), iotest.ErrReader(broken))
		r, _ := NewReader(http.Header{"Content-Type": {contentType}}, body, 100)
		if _, err := r.Next(); !errors.Is(err, broken) {
			t.Errorf("%s: %v", contentType, err)
		}
	}
}
