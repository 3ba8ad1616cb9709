// Package openai holds the wire shapes of the OpenAI API: answers of chat completions and the
// Responses API, the model list and errors, as the OpenAI SDKs read them. Requests are in package
// request below it.
//
// Bytes go in and bytes come out; nothing here reads a clock or a socket. A body is never decoded
// whole: the members that the gateway acts on are found and edited, and every other byte passes as
// it came. What is repaired is what some SDK fails on; each repair gives its reason.
//
//	out, sum, err := openai.ChatResult(nil, answer, call) // a whole answer
//	stream := openai.NewChatStream(call)                  // a streamed one
//	for … {
//		event := events.Next(name, data) // of an openai.Events: walked once, edited on its way
//		out = stream.Data(out, event)
//		event.Release()
//	}
//
// A translation reads the repaired answer instead of its text: [ChatStream.Read],
// [ResponsesStream.Read].
//
// Chat answers of the OpenRouter API differ in few places. Package openrouter describes them by a
// [Shape], for [ShapedResult] and [NewShapedStream]. Answers of the Messages API are in package
// anthropic, which has the same [Call], [Stream] and [Usage].
package openai

import (
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxID bounds an id from a provider that is kept as long as the stream; the longest known are
	// under 100 bytes.
	maxID = 256

	// maxProviderText bounds the text of a provider that a client gets, after redaction.
	maxProviderText = 1024
)

// ErrCut means that a provider's stream ended before its answer did: without finish reason, [DONE]
// or terminal event.
var ErrCut = errors.New("the provider's stream ended before the answer was complete")

// Call is what is known of a call before its provider answers.
type Call struct {
	Model        string // as the caller asked for it; answers name it
	ID           string // replaces an id that the provider leaves out
	Created      int64  // unix seconds, replaces a missing or broken time
	Provider     string // named in failures
	RequestID    string // the gateway's, in errors of Anthropic's form
	IncludeUsage bool   // the caller asked for usage in its chat stream
	StopSequence string // that ended the answer, if a translation found it before

	// Estimate returns what was used up to now, for an answer that ends before its provider reports
	// it. Optional.
	Estimate func() Usage

	// Redact takes secrets out of a provider's text. Without it clients get no such text.
	Redact func(string) string

	// OnID gets every id of state that the provider's account now keeps, before the bytes with the
	// id are returned. Optional.
	OnID func(kind Kind, id string)

	// OnSealed gets each part of the answer that only this model at this account can read when it
	// comes back: encrypted reasoning, or the signature of thinking. It gets it before the bytes with
	// it are returned. Optional.
	OnSealed func(content string)

	// ResponseDefaults are what a response object gets for the members that it lacks. Optional.
	ResponseDefaults []Default

	// Metadata returns the object `openrouter_metadata` at the end of an answer, as JSON. Optional.
	Metadata func() []byte
}

// Default is a member that the SDKs of a family require, and its value, as JSON, where the provider
// has none.
type Default struct{ Key, Value string }

// MetadataKey is the member of an answer that has what Metadata returns.
const MetadataKey = "openrouter_metadata"

// Summary is what a call's record needs of an answer.
type Summary struct {
	UpstreamID   string // the provider's own id
	Finish       string // finish reason as OpenAI calls it
	NativeFinish string // the provider's word
	Finished     int64  // choices of a stream that have come to their end
	StopSequence string // the stop sequence that ended the answer, if a translation found it
	Usage        Usage
	HasUsage     bool
	Later        int             // events of the stream after the one with Usage
	Err          *apierror.Error // the provider's failure, as the caller got it

	// Text reports whether some text, reasoning or tool call was sent. For a whole Response it is
	// determined only if Usage has no completion.
	Text bool
}

// Stream turns the events of a provider's stream into those of a client. One goroutine uses it.
type Stream interface {
	// Data takes one event of the provider and appends to dst the whole events that the client must
	// get now, which may be none. The event is not kept. Nothing is appended after a failure.
	Data(dst []byte, e *Event) []byte

	// Done reports whether nothing more is expected of the provider: it sent [DONE] or its terminal
	// event, or failed.
	Done() bool

	// Close ends the stream. With a nil failure the provider's body ended by itself: a whole answer
	// gets the end it still lacks, a part of one gets nothing and ErrCut, and a stream that failed
	// before returns that failure. The client gets any other failure in the form of its API. It
	// gets exactly one end; further calls append nothing.
	Close(dst []byte, failure *apierror.Error) ([]byte, error)

	// Summary is complete after Close.
	Summary() Summary
}

// CloseStream is Close for a [Stream] whose answer is not whole, or that has ended. Failed is the failure
// that ended it before; fail ends it with another.
func CloseStream(dst []byte, ended bool, failed, failure *apierror.Error, fail func(dst []byte, e *apierror.Error) []byte) ([]byte, error) {
	switch {
	case ended && failed != nil:
		return dst, failed
	case ended:
		return dst, nil
	case failure == nil:
		return dst, ErrCut
	}
	return fail(dst, failure), failure
}

// Report passes on the id of stored state.
func (c *Call) Report(kind Kind, id string) {
	if c.OnID != nil && id != "" {
		c.OnID(kind, id)
	}
}

// ReportSealed passes on a sealed part, given as JSON.
func (c *Call) ReportSealed(value []byte) {
	if c.OnSealed == nil {
		return
	}
	if content, ok := jsonscan.String(value); ok && content != "" {
		c.OnSealed(content)
	}
}

// Broken returns the failure of a provider whose answer makes no sense.
func (c *Call) Broken(reason string) *apierror.Error {
	e := apierror.New(apierror.UpstreamError, "provider %q %s", c.Provider, reason)
	e.Provider = c.Provider
	return e
}

// Fault returns the failure that a provider reports inside an answer that began with 200.
func (c *Call) Fault(pe ProviderError) *apierror.Error {
	return Fault(pe.streamStatus(), 0, pe, c.Redact, c.Provider)
}
