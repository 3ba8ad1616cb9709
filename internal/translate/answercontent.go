package translate

import "strconv"

// Content takes the content of a provider's answer, piece by piece, in the order in which a model
// makes it. Who reads a provider's answer writes to it, and who writes an answer for a caller
// implements it. Pieces are JSON strings without their quotes; ids and names keep theirs. All are
// valid until the call returns.
type Content interface {
	// Begin comes before anything else; further calls do nothing. text says that the answer begins
	// with text.
	Begin(text bool)

	// Text takes text and the log probabilities of its tokens, as elements of a list.
	Text(piece, logprobs []byte)
	Refusal(piece []byte)

	// Reasoning takes a piece of reasoning, and an element of reasoning_details. Either may be nil.
	Reasoning(piece, detail []byte)
	Citation(c Citation)

	// BeginCall begins tool call n, which counts from 0. The id may be nil.
	BeginCall(n int, custom bool, id, name []byte)
	Arguments(n int, custom bool, piece []byte)
}

// NewCitation returns the citation of a URL, with quoted texts. It counts characters from the
// beginning of the message.
func NewCitation(url, title []byte, start, end int64) Citation {
	return Citation{URL: url, Title: title, Start: strconv.AppendInt(nil, start, 10), End: strconv.AppendInt(nil, end, 10)}
}
