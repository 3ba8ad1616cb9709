package openai

import "github.com/gatehouse-proxy/gatehouse/internal/apierror"

// Level is a place in a chat completion where members are judged.
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

// Shape is what a family asks of chat answers beyond what every client needs.
// The zero Shape is the first family's. A Shape is shared by calls and not
// changed; what differs by call is in the fields marked so.
type Shape struct {
	// NotNull are the members that may be absent but not null, by level.
	NotNull [levels][]string

	// Present are the top-level members that a whole result must have, as null
	// where the provider gave none.
	Present []string

	// Native asks for finish_reason in every choice, and for the provider's
	// word beside it as native_finish_reason.
	Native bool

	// Reasoning asks that reasoning_content, as many providers call it, is
	// also there as `reasoning`.
	Reasoning bool

	// By call: FixedID stands in place of the provider's id, if not "".
	FixedID string

	// By call: Provider is given as `provider`, if not "".
	Provider string

	// By call: Usage appends the family's usage object to dst, built from the
	// provider's. A family that has one always shows usage. Without it the
	// provider's object is shown as it came, in a stream if asked for.
	Usage func(dst, usage []byte, u Usage) []byte

	// Failure appends the members of the chunk that ends a failed stream,
	// with a leading comma; id, object, created and model are there already.
	// Without it the stream ends with [AppendStreamError].
	Failure func(dst []byte, e *apierror.Error) []byte
}

func (s *Shape) notNull(at Level, key []byte) bool {
	for _, k := range s.NotNull[at] {
		if k == string(key) {
			return true
		}
	}
	return false
}
