// Package guardrail is what model calls and calls of tools know of guardrails: how texts are given
// to them, and what they say of them. Package judge has them, in builds with the feature.
//
//	set := guardrails.Of(key, models...)   // a [Set] of package policy, nil: nothing is judged
//	result, err := set.Request(ctx, body)  // before dispatch
//	result, err := set.Answer(ctx, answer) // a whole answer
//	stream := set.Stream(guardrail.Chat)   // an answer event by event
package guardrail

import (
	"context"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Guardrail is one as configured. It is safe for concurrent use.
type Guardrail interface {
	// Name is shown to callers.
	Name() string
}

// Set is the guardrails that apply to a call. It is safe for concurrent use.
type Set interface {
	// WholeOnly returns the name of a guardrail that can only judge whole answers, if there is one.
	// The caller must then refuse calls that ask for a stream.
	WholeOnly() (guardrail string, ok bool)
	// Request judges the body of a request, which [jsonscan.StrictAll] must have accepted. The
	// error is a [*LimitError], a [*HookLimitError], a [*WebhookError], or that of ctx.
	Request(ctx context.Context, body []byte) (Result, error)
	// JudgesAnswers reports whether any guardrail reads what providers answer.
	JudgesAnswers() bool
	// Answer judges a whole answer of a provider and empties its token probabilities. The error is
	// of the answer, or as that of Request.
	Answer(ctx context.Context, body []byte) (Result, error)
	// Stream returns a judge for one streamed answer, or nil if no rule reads answers. It must run
	// before any translation of the stream: an inserted event repeats the id of its tool call,
	// which some clients do not expect.
	Stream(w Wire) Stream
}

// Stream judges an answer event by event. It is not safe for concurrent use.
type Stream interface {
	// Push takes one event and returns the events to send now. They are valid until the next call,
	// and not longer than the event itself. A Verdict ends the stream: the events that come with it
	// must be sent, and nothing after them. The error also ends it: the provider's mistake.
	Push(event *openai.Event) ([]*openai.Event, *Verdict, error)
	// Close ends a stream whose last event did not, and returns the text that was held back. After
	// it, Push returns nothing.
	Close() ([]*openai.Event, *Verdict)
	// Redacted says what was taken out so far, each class of each guardrail once.
	Redacted() []Verdict
}

// Wire is the form of a stream.
type Wire uint8

// The wires.
const (
	Chat      Wire = iota // chat.completion.chunk objects, then [DONE]
	Responses             // the typed events of the Responses API
	Messages              // the events of the Messages API
	Generate              // Google's GenerateContentResponse objects
	Sound                 // events without text
)

// Result is the judgement of a body.
type Result struct {
	// Verdict refuses the body. It is nil if the body may pass.
	Verdict *Verdict

	// Body is what to send instead, nil if nothing was changed. Only changed strings differ from
	// the original; all other bytes are kept.
	Body []byte

	// Redacted says what was taken out, each class of each guardrail once.
	Redacted []Verdict

	// Unjudged are the guardrails that let the body pass because their webhook failed.
	Unjudged []string
}

// Verdict says that a text was refused or redacted: by which guardrail, and for which class of
// reason. It contains nothing of the text.
type Verdict struct {
	Guardrail string
	Class     string // "secret", "email", "card", "words", "pattern", or one of others
}

// Direction says which texts a guardrail reads: those of the caller (input), those of the model
// (output), or both.
type Direction uint8

// The directions.
const (
	Input Direction = 1 << iota
	Output
	Both = Input | Output
)

func (d Direction) String() string {
	switch d {
	case Input:
		return "input"
	case Output:
		return "output"
	case Both:
		return "both"
	}
	return fmt.Sprintf("direction %d", uint8(d))
}

// LimitError says that a body has more of something than is kept in memory to judge it. In a
// request it is the caller's mistake (413).
type LimitError struct {
	What string
}

func (e *LimitError) Error() string { return "the body has more " + e.What + " than a guardrail reads" }

// MaxHookTexts and MaxHookText bound what a webhook is sent: the number of texts, and the bytes of
// all of them. A larger body is refused.
const (
	MaxHookTexts = 10000
	MaxHookText  = 8 << 20
)

// WebhookError says that a webhook that must judge failed. It is not the caller's mistake and may
// be temporary (503).
type WebhookError struct {
	Guardrail string
	Err       error // for the log
}

func (e *WebhookError) Error() string {
	return fmt.Sprintf("webhook of guardrail %q: %v", e.Guardrail, e.Err)
}

func (e *WebhookError) Unwrap() error { return e.Err }

// HookLimitError says that a body exceeds [MaxHookTexts] or [MaxHookText], so that the webhook was
// not asked. In a request that is the caller's mistake (413), in an answer the provider's (502).
type HookLimitError struct {
	Guardrail string
	Direction Direction
}

func (e *HookLimitError) Error() string {
	return fmt.Sprintf("webhook of guardrail %q: the %v has more than %d texts or %d bytes of them", e.Guardrail, e.Direction, MaxHookTexts, MaxHookText)
}
