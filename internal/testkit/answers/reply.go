// Package answers reads requests as a good provider does, and writes its answers, in the three APIs:
// chat completions, Responses and Messages. Fake providers of tests change what it writes.
package answers

import (
	"strconv"
	"strings"
	"time"
)

// Reply is what a model says, before it takes the shape of an API. Texts come in
// the pieces in which they are streamed.
type Reply struct {
	ID      string // ends the ids of the answer, its items and its calls
	Model   string
	Now     func() time.Time // clock of the end of a response
	Created int64            // unix seconds

	Reasoning []string // before the answer
	Text      []string
	Refusal   bool   // the text refuses to answer
	Calls     []Call // instead of Text
	Choices   int    // equal choices of a chat answer
	Finish    string // finish reason of chat: stop, length, tool_calls, content_filter

	Usage    Usage
	Settings Object // members of the request that a response object repeats

	MessageParts
}

// MessageParts is what only the Messages API shows.
type MessageParts struct {
	StopSequence    string   // that ended the text
	Redacted        bool     // the reasoning is encrypted
	ThinkingOmitted bool     // the reasoning is only signed
	Hosted          []Object // blocks of tools that ran at the provider, before Text
	Citations       []Object // of Text
}

// Call is a call of a tool. All calls of a reply have as many pieces.
type Call struct {
	Name      string
	Namespace string
	Custom    bool     // the arguments are free text, only in Responses
	Computer  bool     // the arguments are actions of the computer tool, only in Responses and not streamed
	Arguments []string // pieces
}

// Usage counts tokens. Output includes Reasoning. Input includes what was read
// from the cache, written to it for five minutes and for an hour.
type Usage struct {
	Input, Output, Reasoning int

	CacheRead, CacheWrite, CacheWriteHour int

	Searches int // on the web, in the Messages API
}

// Message is the reply as an answer of the Messages API.
func (r *Reply) Message() Object { return messageWriter{r}.whole() }

// MessageStream is the reply as events of the Messages API.
func (r *Reply) MessageStream() []Event { return messageWriter{r}.stream() }

func (r *Reply) text() string          { return strings.Join(r.Text, "") }
func (r *Reply) reasoningText() string { return strings.Join(r.Reasoning, "") }
func (c Call) arguments() string       { return strings.Join(c.Arguments, "") }

// pieces is how many pieces of text or of arguments the reply has.
func (r *Reply) pieces() int {
	if len(r.Calls) > 0 {
		return len(r.Calls) * len(r.Calls[0].Arguments)
	}
	return len(r.Text)
}

// piece is number i of them. The pieces of several calls take turns.
func (r *Reply) piece(i int) (call int, piece string) {
	if n := len(r.Calls); n > 0 {
		return i % n, r.Calls[i%n].Arguments[i/n]
	}
	return 0, r.Text[i]
}

// callID is the id of a call in one of the choices.
func (r *Reply) callID(choice, call int) string {
	id := "call_" + r.ID
	if n := choice*len(r.Calls) + call; n > 0 {
		id += "_" + strconv.Itoa(n)
	}
	return id
}
