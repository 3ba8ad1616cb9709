// Package translate holds what the translations between the APIs share: how a request is read and
// refused, what becomes of its fields, and the bounds of what a peer may send.
//
//   - [messagesonchat] serves a caller of the Messages API by a provider that has chat completions.
//   - [responsesonchat] serves a caller of the Responses API by a provider that only has chat completions.
//   - [chatonmessages] serves a caller of chat completions by a provider that only has the Messages API.
//   - [chatongemini] serves a caller of chat completions by a provider that has Google's generateContent.
//   - [chatonresponses] serves a caller of chat completions by a provider that only has the Responses
//     API.
//   - [embeddingsongemini] serves a caller of embeddings by a provider that has Google's.
//   - [embeddingsonbedrock] serves a caller of embeddings by models of Amazon Bedrock.
//
// A request of any API is read once, into a [conversation]: turns, tools and the choice among them,
// beside settings by their names in chat. Each target writes what it has. Answers of Responses and
// Messages callers become chat completions first. No direction knows another. Nothing here does
// I/O, reads a clock or invents an id; a translation gets what it needs handed in. A field of the
// request is kept, mapped, left out and named, ignored or refused by name, as the direction's table
// of fields and docs say: what would change the answer is never dropped silently.
//
// Answers pass through package openai first. It repairs a provider's oddities, words its failures
// and decides whether an answer is whole, by the same rules as without a translation. What remains
// for a direction is the change of shape.
//
// [messagesonchat]: github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat
// [responsesonchat]: github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat
// [chatongemini]: github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini
// [embeddingsonbedrock]:
// github.com/gatehouse-proxy/gatehouse/internal/translate/embeddingsonbedrock [embeddingsongemini]:
// github.com/gatehouse-proxy/gatehouse/internal/translate/embeddingsongemini [conversation]:
// github.com/gatehouse-proxy/gatehouse/internal/translate/conversation [chatonmessages]:
// github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages [chatonresponses]:
// github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses
package translate

import (
	"io"
	"time"
)

// Again sends the provider another request in the same attempt, and returns the body of its answer.
// The error is the caller's: a refusal, or a provider that cannot be reached.
type Again func(body []byte) (io.ReadCloser, error)

// Refusal is what a provider of another protocol refused, as OpenAI would have said it.
type Refusal struct {
	Status     int           // 401 for a wrong key, whatever the provider says
	RetryAfter time.Duration // 0: not said
	Body       []byte        // {"error": {"message", "type", "code"}}
	Repeat     []byte        // the request that is sent once instead; nil: none
}

const (
	// MaxMessages bounds the messages or input items of a request. The longest histories of agents
	// have some thousands; each costs a walk's result.
	MaxMessages = 1 << 14

	// MaxParts bounds the parts of one message; each costs a walk's result.
	MaxParts = 4096

	// MaxTools bounds the tools of a request, several times what OpenAI takes.
	MaxTools = 1024

	// MaxItems bounds the output items of an answer and the parts in them, taken together. Each
	// costs state until the end; models make a handful.
	MaxItems = 1024

	// MaxText bounds what is kept of an answer, in bytes of JSON. The longest outputs on the market
	// have about 1 MiB.
	MaxText = 16 << 20

	// MaxTier bounds a service tier in bytes of JSON; the longest known has 8 bytes.
	MaxTier = 64

	// MaxScratch is how many bytes of its buffers a stream keeps between two events: a stream that
	// is held for hours must not hold the memory of its longest chunk.
	MaxScratch = 16 << 10
)
