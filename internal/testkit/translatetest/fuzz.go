package translatetest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Requests is a translation of requests, as [Requests.Fuzz] drives it.
type Requests struct {
	// Accept is what the gateway checks before; nil for nothing.
	Accept func(b *jsonscan.Body) error

	// Translate translates a request with the options of this number.
	Translate func(body string, options byte) ([]byte, error)

	// Sent checks what is sent; nil for nothing but that it is an object of unambiguous keys.
	Sent func(t *testing.T, sent *jsonscan.Body, body string, options byte)
}

// Fuzz checks that a request is refused by the name of a field, or becomes a request of the other API, the
// same each time. The requests of the golden files are seeds, and so are others.
func (r Requests) Fuzz(f *testing.F, others ...string) {
	for i, body := range append(Seeds(f, "request.json"), others...) {
		f.Add(body, byte(i))
	}
	f.Fuzz(func(t *testing.T, body string, options byte) {
		var b, sent jsonscan.Body
		if b.Parse([]byte(body)) != nil || r.Accept != nil && r.Accept(&b) != nil {
			return
		}
		out, err := r.Translate(body, options)
		if err != nil {
			if e := MustFail(t, err); e.HTTPStatus() != 400 || e.Param == "" && !strings.Contains(body, `""`) {
				t.Fatalf("refused by %v, param %q", e, e.Param)
			}
			return
		}
		if err := sent.Parse(out); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if again, err := r.Translate(body, options); err != nil || string(again) != string(out) {
			t.Fatalf("%s\nis then %s %v", out, again, err)
		}
		if r.Sent != nil {
			r.Sent(t, &sent, body, options)
		}
	})
}

// Parsed returns a check of what is sent that reads it as the gateway reads a request of a caller.
func Parsed[T any](parse func(b *jsonscan.Body) (T, error)) func(*testing.T, *jsonscan.Body, string, byte) {
	return func(t *testing.T, sent *jsonscan.Body, _ string, _ byte) {
		t.Helper()
		if _, err := parse(sent); err != nil {
			t.Fatalf("%s: %v", sent.Data(), err)
		}
	}
}

// Accepted returns a check of a request that reads it as the gateway does.
func Accepted[T any](parse func(b *jsonscan.Body) (T, error)) func(*jsonscan.Body) error {
	return func(b *jsonscan.Body) error {
		_, err := parse(b)
		return err
	}
}

// Streams is a provider's stream for a client, as [Streams.Fuzz] and [Streams.FuzzMoves] drive it.
type Streams struct {
	// Check checks what a client gets of a stream, which arrives in pieces of these sizes.
	Check func(t *testing.T, wire string, sizes []byte, even bool)

	Head string   // what each stream of moves begins with
	Menu []string // the events that may come next
	Ends []string
}

// Fuzz checks streams of any bytes.
func (s Streams) Fuzz(f *testing.F) {
	for i, wire := range Seeds(f, "stream.txt") {
		f.Add(wire, []byte{0}, i%2 == 0)
	}
	f.Fuzz(s.Check)
}

// FuzzMoves checks any sequence of events of the menu, with any end. The last byte of a seed is its end.
func (s Streams) FuzzMoves(f *testing.F, seeds ...[]byte) {
	for _, seed := range seeds {
		f.Add(seed[:len(seed)-1], seed[len(seed)-1])
	}
	f.Fuzz(func(t *testing.T, moves []byte, end byte) {
		var wire strings.Builder
		wire.WriteString(s.Head)
		for _, move := range moves[:min(len(moves), 64)] {
			wire.WriteString(s.Menu[int(move)%len(s.Menu)])
		}
		wire.WriteString(s.Ends[int(end)%len(s.Ends)])
		s.Check(t, wire.String(), moves, end%2 == 0)
	})
}

// CheckEnd checks how a stream ended: as a success only if the provider's had one of the ends, unless it
// has escapes.
func CheckEnd(t *testing.T, wire string, failed bool, err error, ends ...string) {
	t.Helper()
	if failed != (err != nil) {
		t.Fatalf("failed: %v, error %v", failed, err)
	}
	for _, end := range append(ends, `\u`) {
		if strings.Contains(wire, end) {
			return
		}
	}
	if err == nil {
		t.Fatalf("success of a stream without an end: %s", wire)
	}
}

// CheckChat checks the chat stream that a client gets, and returns what it comes to.
func CheckChat(t *testing.T, out, wire string, err error, ends ...string) *Chat {
	t.Helper()
	chat, bad := CheckChunks(out)
	if bad != nil {
		t.Fatalf("%v\nin %s", bad, out)
	}
	CheckEnd(t, wire, chat.Over == "error", err, ends...)
	return chat
}

// FuzzResult checks that a whole answer is a chat completion, or a failure.
func FuzzResult(f *testing.F, result func(answer string, second bool) ([]byte, openai.Summary, error)) {
	for i, answer := range Seeds(f, "answer.json") {
		f.Add(answer, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, answer string, second bool) {
		out, sum, err := result(answer, second)
		if err != nil {
			if MustFail(t, err).HTTPStatus() < 400 || sum.Err == nil {
				t.Fatalf("%v, %+v", err, sum)
			}
			return
		}
		var completion struct {
			Choices []struct {
				Message      map[string]any
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(out, &completion); err != nil || len(completion.Choices) != 1 ||
			completion.Choices[0].FinishReason == "" || completion.Choices[0].Message["role"] != "assistant" {
			t.Fatalf("%v: %s", err, out)
		}
	})
}
