// Package translatetest has what the tests of the translations use: a provider's stream fed to a
// client's as the gateway does, golden files, and the manual's tables of fields.
package translatetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// NewCall is the call of every test. The word canary is its secret.
func NewCall() openai.Call {
	return openai.Call{
		Model: "fake/echo", ID: "gen-1", Created: 1700000001, Provider: "fake", RequestID: "req_1",
		Redact: func(s string) string { return strings.ReplaceAll(s, "canary", "[redacted]") },
	}
}

// MustNotHold fails the test if what a translation keeps for the answer holds the body of the
// request.
func MustNotHold[T any](t *testing.T, body string, request func(b *jsonscan.Body) (T, error)) {
	t.Helper()
	data := []byte(body)
	held := weak.Make(&data[0])
	var b jsonscan.Body
	if err := b.Parse(data); err != nil {
		t.Fatal(err)
	}
	original, err := request(&b)
	if err != nil {
		t.Fatal(err)
	}
	b.Release()
	runtime.GC()
	if held.Value() != nil {
		t.Error("the body of the request is held")
	}
	runtime.KeepAlive(original)
}

// Drive feeds a provider's stream to a client's as the gateway does, and returns what the client
// gets.
func Drive(s openai.Stream, wire io.Reader) (string, error) {
	var events openai.Events
	return drive(s, wire, events.Next)
}

// DriveWhole is Drive, but every event is read as a whole, even if it repeats the one before.
func DriveWhole(s openai.Stream, wire io.Reader) (string, error) {
	return drive(s, wire, openai.NewEvent)
}

func drive(s openai.Stream, wire io.Reader, next func(name, data []byte) *openai.Event) (string, error) {
	events := sse.NewReader(wire, 4<<20)
	var out []byte
	var failure *apierror.Error
	for !s.Done() {
		event, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			failure = apierror.New(apierror.UpstreamError, "reading failed")
			break
		}
		out = s.Data(out, next(event.Name, event.Data))
	}
	if failure == nil {
		var err error
		if out, err = s.Close(out, nil); !errors.Is(err, openai.ErrCut) {
			return string(out), err
		}
		failure = apierror.New(apierror.UpstreamError, "provider \"fake\" broke off its answer").WithCause(err)
	}
	out, err := s.Close(out, failure)
	return string(out), err
}

// Pieces reads Text in pieces of the given sizes, which repeat.
type Pieces struct {
	Text  []byte
	Sizes []byte
	n     int
}

func (p *Pieces) Read(b []byte) (int, error) {
	if len(p.Text) == 0 {
		return 0, io.EOF
	}
	size := 1
	if len(p.Sizes) > 0 {
		size += int(p.Sizes[p.n%len(p.Sizes)] % 32)
		p.n++
	}
	n := copy(b, p.Text[:min(size, len(p.Text))])
	p.Text = p.Text[n:]
	return n, nil
}

// MustFail returns the error as the [*apierror.Error] that it must be.
func MustFail(t testing.TB, err error) *apierror.Error {
	t.Helper()
	var e *apierror.Error
	if !errors.As(err, &e) {
		t.Fatalf("no apierror.Error but %v", err)
	}
	return e
}

// MustRefuse checks that err refuses a request with status 400 by this field and code.
func MustRefuse(t testing.TB, body string, err error, param, code string) {
	t.Helper()
	if e := MustFail(t, err); e.Param != param || string(e.Code) != code || e.HTTPStatus() != 400 {
		t.Errorf("%s: %s, param %q, status %d", body, e, e.Param, e.HTTPStatus())
	}
}

// CheckSame checks that the client gets out of a provider's stream in whatever pieces it arrives,
// and whether or not events are read as ones that repeat others. stream makes the client's stream.
func CheckSame(t testing.TB, out, wire string, sizes []byte, stream func() openai.Stream) {
	t.Helper()
	if again, _ := Drive(stream(), &Pieces{Text: []byte(wire), Sizes: sizes}); again != out {
		t.Fatalf("in one piece %s\nin many      %s", out, again)
	}
	if again, _ := DriveWhole(stream(), strings.NewReader(wire)); again != out {
		t.Fatalf("with repeated events %s\nread whole           %s", out, again)
	}
}

// Values of a provider's chat stream.
const (
	Stop  = `"stop"`
	Null  = "null"
	Ended = "data: [DONE]\n\n"
)

// Chunk is one event of a provider's chat stream, with one choice.
func Chunk(delta, finish string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"echo","choices":[{"index":0,"delta":` +
		delta + `,"finish_reason":` + finish + "}]}\n\n"
}

// Deltas are chunks that have these deltas.
func Deltas(deltas ...string) (chunks []string) {
	for _, delta := range deltas {
		chunks = append(chunks, Chunk(delta, Null))
	}
	return chunks
}

// ChatEnds are ends of a provider's chat stream, good and bad.
var ChatEnds = []string{Chunk(`{}`, Stop), Chunk(`{}`, `"length"`), Ended, "", "data: {\n\n", "event: error\ndata: {}\n\n"}

// ReadEvents reads the events of a stream that was sent to a client, whose names are their types,
// and calls f for each.
func ReadEvents(out string, f func(event map[string]any) error) error {
	if !strings.HasSuffix(out, "\n\n") {
		return fmt.Errorf("the last event is not ended: %q", out)
	}
	for _, block := range strings.Split(strings.TrimSuffix(out, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(block, "\n")
		if !ok || !strings.HasPrefix(name, "event: ") || !strings.HasPrefix(data, "data: ") || strings.Contains(data, "\n") {
			return fmt.Errorf("not an event: %q", block)
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(data[len("data: "):]), &e); err != nil {
			return fmt.Errorf("%q: %w", data, err)
		}
		if e["type"] != name[len("event: "):] {
			return fmt.Errorf("event %q has type %q", name, e["type"])
		}
		if err := f(e); err != nil {
			return fmt.Errorf("%w\nat %s", err, block)
		}
	}
	return nil
}

// Words is a text of usual length in the history of an agent.
const Words = "The first line of a file, and the second, and so on to the end of it; what follows is of no use. "

// LongRequest returns a request as an agent sends it in the middle of its work, for benchmarks:
// head, forty rounds with their numbers, the last message, and twelve tools with their numbers.
func LongRequest(head, round, last, tool string) string {
	var body strings.Builder
	body.WriteString(head)
	for i := range 40 {
		fmt.Fprintf(&body, round, i)
	}
	body.WriteString(last + `,"tools":[`)
	for i := range 12 {
		fmt.Fprintf(&body, tool+",", i)
	}
	return strings.TrimSuffix(body.String(), ",") + "]}"
}
