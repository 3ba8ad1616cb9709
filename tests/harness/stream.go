package harness

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/described"
)

// Event is one server-sent event; Comment is set for a block of comments.
type Event struct {
	Name, Data, Comment string
}

// Stream is an answer that is read event by event.
type Stream struct {
	t        *testing.T
	Response *http.Response
	read     *bufio.Reader
	cancel   context.CancelFunc
}

// Disconnect ends the call like a client that goes away.
func (s *Stream) Disconnect() {
	s.cancel()
	_ = s.Response.Body.Close()
}

// Next reads one event of any kind; the error is io.EOF at the end.
func (s *Stream) Next() (Event, error) {
	var e Event
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
			e.Data = strings.Join(data, "\n")
			if err := described.StrictEvent(s.Response.Header, []byte(e.Data)); err != nil {
				s.t.Errorf("%s: %v: %.300s", s.Response.Request.URL, err, e.Data)
			}
			return e, nil
		case field == "":
			e.Comment = value
		case field == "event":
			e.Name = value
		case field == "data":
			data = append(data, value)
		}
	}
}

// MustNext returns the next event that is not a comment.
func (s *Stream) MustNext() Event {
	s.t.Helper()
	for {
		e, err := s.Next()
		if err != nil {
			s.t.Fatal("reading the stream: ", err)
		}
		if e.Comment == "" {
			return e
		}
	}
}

// Rest reads to the end, and leaves out comments.
func (s *Stream) Rest() (events []Event, err error) {
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		if e.Comment == "" {
			events = append(events, e)
		}
	}
}

// ReadAll reads what is left, as it is.
func (s *Stream) ReadAll() ([]byte, error) { return io.ReadAll(s.read) }

// Whole reports whether the end of a stream says that the answer is complete.
func Whole(events []Event) bool {
	for _, e := range events {
		if e.Data == "[DONE]" || e.Name == "response.completed" || e.Name == "response.incomplete" {
			return true
		}
	}
	return false
}

// Read reads some of an answer that is no stream of events.
func (s *Stream) Read(p []byte) (int, error) { return io.ReadFull(s.read, p) }
