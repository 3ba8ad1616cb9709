// Package openai holds the wire shapes of the first SDK family: answers of chat completions and the
// Responses API, the model list and errors, as the OpenAI SDKs read them. Requests are in package
// request below it.
//
// Bytes go in and bytes come out; nothing here reads a clock or a socket. A
// body is never decoded whole: the members the gateway acts on are found, and
// edited in place, and every other byte passes as it came. What is repaired is
// what some SDK stumbles over; the reason stands where the repair is made.
//
//	out, sum, err := openai.ChatResult(nil, answer, call) // what the caller gets
//	stream := openai.NewChatStream(call)                  // the same, event by event
//
// The second family's chat answers differ in few places. Those are a [Shape],
// which package openrouter hands to [ShapedResult] and [NewShapedStream].
package openai

import (
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

const (
	// maxID bounds an id that a provider chose and that is kept for the
	// length of a stream; the longest known are under 100 bytes.
	maxID = 256

	// maxProviderText bounds provider text shown to a client, after
	// redaction.
	maxProviderText = 1024
)

// ErrCut says that a provider's stream ended before its answer did: no finish
// reason, no [DONE], no terminal event.
var ErrCut = errors.New("the provider's stream ended before the answer was complete")

// Call is what is known of a call before its provider answers.
type Call struct {
	Model        string // as the caller asked for it; answers name it
	ID           string // stands in for an id the provider leaves out
	Created      int64  // unix seconds, stands in for a missing or broken time
	Provider     string // named in failures
	IncludeUsage bool   // the caller asked for usage in its chat stream

	// Redact takes secrets out of provider text. Without it no provider text
	// is shown at all.
	Redact func(string) string

	// OnID is told every id of state that the provider's account now keeps,
	// before the bytes that name it are returned. Optional.
	OnID func(kind Kind, id string)
}

// Summary is what a call's record needs of an answer.
type Summary struct {
	UpstreamID   string // the provider's own id
	Finish       string // finish reason in the families' words
	NativeFinish string // the provider's word
	Usage        Usage
	HasUsage     bool
	Later        int             // events of the stream after the one with Usage
	Err          *apierror.Error // the provider's failure, as the caller was told

	// Text says that some text, reasoning or tool call was sent. For a whole Response it is
	// found out only where Usage has no completion.
	Text bool
}

// Stream turns the events of a provider's stream into those of a client. It
// is driven by one goroutine.
type Stream interface {
	// Data takes one event of the provider and appends to dst the whole events that the client must
	// get now, which may be none. The event is not kept. Nothing is appended after a failure.
	Data(dst []byte, e *Event) []byte

	// Done reports that nothing more is expected of the provider: it said
	// [DONE], sent its terminal event, or failed.
	Done() bool

	// Close ends the stream. With a nil failure the provider's body ended by
	// itself: a whole answer gets the end it still lacks, a part of one gets
	// nothing and ErrCut, and a stream that has failed before gives that
	// failure. A non-nil failure is told to the client in the family's form.
	// The client sees exactly one end; further calls append nothing.
	Close(dst []byte, failure *apierror.Error) ([]byte, error)

	// Summary is complete after Close, and as far as it goes before.
	Summary() Summary
}

// report tells of a stored id.
func (c *Call) report(kind Kind, id string) {
	if c.OnID != nil && id != "" {
		c.OnID(kind, id)
	}
}

// broken is the failure of a provider that answered nonsense.
func (c *Call) broken(reason string) *apierror.Error {
	e := apierror.New(apierror.UpstreamError, "provider %q %s", c.Provider, reason)
	e.Provider = c.Provider
	return e
}
