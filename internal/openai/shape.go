package openai

import "github.com/gatehouse-proxy/gatehouse/internal/apierror"

// Level is a level of a chat completion, by the object that has the members.
type Level int

// The levels, from the outside in.
const (
	AtTop      Level = iota
	AtChoice         // choices[]
	AtMessage        // .message or .delta
	AtCall           // .tool_calls[]
	AtFunction       // .function
	levels
)

// Shape is what an API requires of chat answers beyond what every client needs. The zero Shape is
// that of the OpenAI API.
type Shape struct {
	// NotNull are the members that may be absent but not null, by level.
	NotNull [levels][]string

	// Present are the top-level members that a whole result must have: null if the provider gave
	// none.
	Present []string

	// Text says that a choice has `text` instead of a message, as in the older API of completions.
	Text bool
	// Echo says that such a text begins with the prompt: it does not show that the model wrote something.
	Echo bool

	// Native requires finish_reason in every choice, and the provider's own reason beside it as
	// native_finish_reason.
	Native bool

	// Reasoning requires that reasoning_content, as many providers call it, is repeated as
	// `reasoning`.
	Reasoning bool

	// FixedID replaces the provider's id, unless it is "". It differs by call.
	FixedID string

	// Provider is the value of `provider`, "" for none. It differs by call.
	Provider string

	// Usage appends the API's usage object to dst, made from the provider's. It may differ by call.
	// With it usage is always sent. Without it the provider's object is sent unchanged, in a stream
	// only if the caller asked for it.
	Usage func(dst, usage []byte, u Usage) []byte

	// Failure appends the members of the chunk that ends a failed stream, behind id, object, created
	// and model, with a leading comma. Without it the stream ends with [AppendStreamError].
	Failure func(dst []byte, e *apierror.Error) []byte

	// Metadata returns the object `openrouter_metadata` of a whole result and of the last chunk of a
	// stream, nil for none. Optional. It differs by call.
	Metadata func() []byte
}

func (s *Shape) maxChoices() int {
	if s.Text {
		return MaxTexts
	}
	return maxChoices
}

func (s *Shape) notNull(at Level, key []byte) bool {
	for _, k := range s.NotNull[at] {
		if k == string(key) {
			return true
		}
	}
	return false
}
