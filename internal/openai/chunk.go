package openai

// Chunk is what the repair knows of a chunk of a chat stream, or of a whole completion: what a
// translation reads instead of the text that a client of chat completions gets. Values are JSON
// and valid until the event is released.
type Chunk struct {
	// Repeats reports that the chunk differs from the one before in a text only, which is Text.
	// Then the chunk has no choices.
	Repeats bool
	Text    []byte

	// TextAt is where the text begins by which a chunk that repeats this one may differ, 0 for
	// none.
	TextAt int

	Created     int64 // unix seconds
	ServiceTier []byte
	Choices     []ChunkChoice
}

// ChunkChoice is a choice of a chunk, with its delta or message.
type ChunkChoice struct {
	Index    int64
	Logprobs []byte

	Content, Refusal            ChunkValue
	Reasoning, ReasoningContent ChunkValue
	ReasoningDetails            []byte
	Annotations                 []byte
	Calls                       []ChunkCall // elements of tool_calls
	Other                       []byte      // key of the first member with output of another kind
}

// ChunkCall is a tool call or a fragment of one. Fragments that are not the first have no id and
// no name.
type ChunkCall struct {
	Index     int64
	ID, Name  []byte
	Arguments ChunkValue
}

// ChunkValue is a value and where it begins in the event. It is empty for a member that is
// missing.
type ChunkValue struct {
	JSON []byte
	At   int
}

// reset empties the chunk and keeps its memory.
func (c *Chunk) reset() {
	clear(c.Choices)
	*c = Chunk{Choices: emptied(c.Choices, maxChoices)}
}
