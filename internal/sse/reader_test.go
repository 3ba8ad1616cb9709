package sse_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

const bound = 1 << 16

// show renders an event so that tests can compare copies of it.
func show(event sse.Event) string {
	s := fmt.Sprintf("%q", event.Raw)
	if event.Name != nil {
		s += fmt.Sprintf(" name %q", event.Name)
	}
	if event.Data != nil {
		s += fmt.Sprintf(" data %q", event.Data)
	}
	if event.Comment {
		s += " comment"
	}
	return s
}

// all reads events up to the first error.
func all(r io.Reader, bound int) (events []string, err error) {
	reader := sse.NewReader(r, bound)
	for {
		event, err := reader.Next()
		if err != nil {
			return events, err
		}
		events = append(events, show(event))
	}
}

// source hands out one part a read, then err.
type source struct {
	parts []string
	err   error
}

func (s *source) Read(p []byte) (int, error) {
	if len(s.parts) == 0 {
		return 0, s.err
	}
	n := copy(p, s.parts[0])
	if s.parts[0] = s.parts[0][n:]; s.parts[0] == "" {
		s.parts = s.parts[1:]
	}
	return n, nil
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"blank lines only", "\n\r\n\r\r\n", nil},
		{"OpenAI API", "data: {\"a\":1}\n\ndata: [DONE]\n\n", []string{
			`"data: {\"a\":1}\n\n" data "{\"a\":1}"`, `"data: [DONE]\n\n" data "[DONE]"`}},
		{"named", "event: x.y\ndata: 1\n\n", []string{`"event: x.y\ndata: 1\n\n" name "x.y" data "1"`}},
		{"name last wins", "event: x\ndata: 1\nevent:y\n\n", []string{`"event: x\ndata: 1\nevent:y\n\n" name "y" data "1"`}},
		{"name alone", "event: x\n\n", []string{`"event: x\n\n" name "x"`}},
		{"no space", "data:1\n\n", []string{`"data:1\n\n" data "1"`}},
		{"one space is taken", "data:  1 \n\n", []string{`"data:  1 \n\n" data " 1 "`}},
		{"colons in the value", "data: a: b:c\n\n", []string{`"data: a: b:c\n\n" data "a: b:c"`}},
		{"tabs and other control bytes", "data:\ta\x00b\tc\x0bd\n\n", []string{`"data:\ta\x00b\tc\vd\n\n" data "\ta\x00b\tc\vd"`}},
		{"empty data", "data\n\ndata:\n\n", []string{`"data\n\n" data ""`, `"data:\n\n" data ""`}},
		{"several lines", "data: a\ndata\ndata: b\r\ndata:c\rdata: d\n\n", []string{
			`"data: a\ndata\ndata: b\r\ndata:c\rdata: d\n\n" data "a\n\nb\nc\nd"`}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{`"data: a\r\n\r\n" data "a"`, `"data: b\r\n\r\n" data "b"`}},
		{"CR", "data: a\r\rdata: b\r\r", []string{`"data: a\r\r" data "a"`, `"data: b\r\r" data "b"`}},
		{"LF behind CR", "data: a\r\r\ndata: b\n\r\n", []string{`"data: a\r\r" data "a"`, `"data: b\n\r\n" data "b"`}},
		{"blank lines between", "\n\n\r\ndata: a\n\n\n\r\r\ndata: b\n\n", []string{`"data: a\n\n" data "a"`, `"data: b\n\n" data "b"`}},
		{"heartbeat", ": OPENROUTER PROCESSING\n\n:\n\ndata: 1\n\n", []string{
			`": OPENROUTER PROCESSING\n\n" comment`, `":\n\n" comment`, `"data: 1\n\n" data "1"`}},
		{"comment in an event", ": x\ndata: 1\n\n", []string{`": x\ndata: 1\n\n" data "1"`}},
		{"id and retry", "id: 5\nretry: 10\ndata: 1\n\nid: 6\n\nretry: 1\n\n", []string{
			`"id: 5\nretry: 10\ndata: 1\n\n" data "1"`, `"id: 6\n\n"`, `"retry: 1\n\n"`}},
		{"names are exact", "Data: 1\n data: 2\ndata : 3\ndatax: 4\n\n", []string{`"Data: 1\n data: 2\ndata : 3\ndatax: 4\n\n"`}},
		{"byte order mark", "\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n", []string{
			`"data: 1\n\n" data "1"`, `"\ufeffdata: 2\n\n"`}},
		{"half a mark", "\xef\xbb", nil},
		{"unterminated line", "data: a\n\ndata: b", []string{`"data: a\n\n" data "a"`, `"data: b\n\n" data "b"`}},
		{"unterminated event", "event: x\ndata: b\n", []string{`"event: x\ndata: b\n\n" name "x" data "b"`}},
		{"unterminated behind CRLF", "data: b\r\n", []string{`"data: b\r\n\n" data "b"`}},
		{"unterminated behind CR", "data: b\r", []string{`"data: b\r\n\n" data "b"`}},
		{"ended by half a blank line", "data: b\r\n\r", []string{`"data: b\r\n\r" data "b"`}},
		{"unterminated without data", "data: a\n\nevent: x\n: y\ndat", []string{`"data: a\n\n" data "a"`}},
		{"wide runes", "data: 東京 é 😀\n\n", []string{`"data: 東京 é 😀\n\n" data "東京 é 😀"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once":             strings.NewReader(test.stream),
				"byte by byte":        iotest.OneByteReader(strings.NewReader(test.stream)),
				"with the last bytes": iotest.DataErrReader(strings.NewReader(test.stream)),
			} {
				if got, err := all(r, bound); err != io.EOF || !slices.Equal(got, test.want) {
					t.Errorf("%s:\n got %v, %v\nwant %v", how, got, err, test.want)
				}
			}
		})
	}
}

func TestSourceErrorComesBehindWholeEvents(t *testing.T) {
	for _, tail := range []string{"", "data: cut", "data: cut\n", "\xef"} {
		parts := []string{"data: 1\n\ndata: 2\n\n" + tail}
		events, err := all(&source{parts: parts, err: io.ErrUnexpectedEOF}, bound)
		if err != io.ErrUnexpectedEOF || len(events) != 2 {
			t.Errorf("tail %q: events %v, error %v", tail, events, err)
		}
	}
}

func TestErrorsAreFinal(t *testing.T) {
	reader := sse.NewReader(&source{err: io.ErrUnexpectedEOF}, bound)
	for range 2 {
		if _, err := reader.Next(); err != io.ErrUnexpectedEOF {
			t.Errorf("error %v", err)
		}
	}
	reader = sse.NewReader(strings.NewReader("data: long\n\ndata: 1\n\n"), 11)
	for range 2 {
		if _, err := reader.Next(); err != sse.ErrTooLong {
			t.Errorf("error %v", err)
		}
	}
	if reader.Buffered() {
		t.Error("the event that is too long counts as buffered")
	}
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

func TestSilentSourceIsGivenUp(t *testing.T) {
	if _, err := sse.NewReader(silent{}, bound).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v", err)
	}
}

func TestBoundIsExact(t *testing.T) {
	for _, size := range []int{10, 4000, 4094, 4095, 4096, 4097, 9000, 100_000} {
		for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n"} {
			event := "data: " + strings.Repeat("x", size-6-len(end)) + end
			stream := event + ": next\n\n"
			for how, wrap := range map[string]func(io.Reader) io.Reader{
				"at once": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader,
			} {
				if got, err := all(wrap(strings.NewReader(stream)), size); err != io.EOF || len(got) != 2 {
					t.Errorf("%d %q %s: %d events, error %v", size, end, how, len(got), err)
				}
				if got, err := all(wrap(strings.NewReader(stream)), size-1); err != sse.ErrTooLong || len(got) != 0 {
					t.Errorf("%d %q %s, bound below: %d events, error %v", size, end, how, len(got), err)
				}
			}
		}
	}
}

func TestEndlessLineIsCutOffAtTheBound(t *testing.T) {
	read := 0
	endless := readFunc(func(p []byte) (int, error) {
		for i := range p {
			p[i] = 'x'
		}
		read += len(p)
		return len(p), nil
	})
	if _, err := all(endless, 1000); err != sse.ErrTooLong {
		t.Errorf("error %v", err)
	}
	if read > 2000 {
		t.Errorf("%d bytes were read for a bound of 1000", read)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func TestBlankLinesAreNoEvent(t *testing.T) {
	// A provider may hold a stream open with bare line ends.
	stream := strings.Repeat("\n", 5*bound) + "data: 1\n\n"
	if got, err := all(strings.NewReader(stream), 100); err != io.EOF || len(got) != 1 {
		t.Errorf("events %v, error %v", got, err)
	}
}

func TestLongLineInSmallReads(t *testing.T) {
	line := "data: " + strings.Repeat("long ", 200_000)
	got, err := all(iotest.HalfReader(strings.NewReader(line+"\n\ndata: 1\n\n")), 2<<20)
	if err != io.EOF || len(got) != 2 || len(got[0]) < len(line) || got[1] != `"data: 1\n\n" data "1"` {
		t.Errorf("%d events, error %v", len(got), err)
	}
}

func TestEventIsOutBeforeTheNextByte(t *testing.T) {
	for _, ends := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		reads := 0
		reader := sse.NewReader(readFunc(func(p []byte) (int, error) {
			reads++
			return copy(p, "data: 1"+ends), nil
		}), bound)
		if event, err := reader.Next(); err != nil || string(event.Data) != "1" || reads != 1 {
			t.Errorf("%q: %s, %v after %d reads", ends, show(event), err, reads)
		}
	}
}

func TestBufferedLooksAtWholeEventsOnly(t *testing.T) {
	stream := &source{parts: []string{"data: 1\n\ndata: 2\ndata: 3\n\ndata: 4\ndata: 5\n\ndata: 6\n", "\n"}, err: io.EOF}
	reader := sse.NewReader(stream, bound)
	if reader.Buffered() {
		t.Error("buffered before the first read")
	}
	for i, want := range []struct {
		data     string
		buffered bool
	}{{"1", true}, {"2\n3", true}, {"4\n5", false}, {"6", false}} {
		event, err := reader.Next()
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := reader.Buffered(); got != want.buffered {
				t.Errorf("event %d: Buffered is %t", i, got)
			}
		}
		if string(event.Data) != want.data {
			t.Errorf("event %d: data %q after Buffered, want %q", i, event.Data, want.data)
		}
	}
}
