package gateway

import (
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

const (
	// tokensPerSecond is what a provider is taken to have generated while
	// nothing was heard of it: faster than most large models are.
	tokensPerSecond = 200

	// quiet is a pause after which a provider is taken to think: shorter ones
	// lie between any two pieces of an answer.
	quiet = time.Second

	// mostFrame is the longest frame that an event's text is taken to have, in bytes.
	mostFrame = 400

	// leastBytesPerToken is for text that is charged: some languages have three
	// bytes a token.
	leastBytesPerToken = 3
)

// seen is what arrived of an answer, for the estimate of one that told no usage.
type seen struct {
	sent     time.Time
	bytes    int64 // of the request
	events   int64
	data     int64         // bytes of all events
	smallest int64         // bytes of the smallest event
	whole    int64         // bytes of an answer that is not streamed
	silent   time.Duration // pauses, with the one before the answer
	said     bool          // it has some text
	refused  bool          // the provider answered with another status than 200
}

// Event notes an event of the provider's stream. Only those that carry a piece of
// the answer count.
func (c *Call) Event(name, data []byte) {
	c.FirstToken()
	if !openai.IsPiece(name, data) {
		return
	}
	n := int64(len(data))
	if c.seen.events == 0 || n < c.seen.smallest {
		c.seen.smallest = n
	}
	c.seen.events++
	c.seen.data += n
}

// Whole notes the size of an answer that is not streamed, in bytes.
func (c *Call) Whole(bytes int) { c.seen.whole = int64(bytes) }

// waited notes how long nothing came of the provider.
func (s *seen) waited(pause time.Duration) {
	if pause >= quiet {
		s.silent += pause
	}
}

// Heard tells whether an event with a piece of the answer has come.
func (c *Call) Heard() bool { return c.seen.events > 0 }

// SaidNothing notes that the provider failed, by its own word or with an empty
// answer, before it said anything: as with another status, nothing is billed.
func (c *Call) SaidNothing() { c.seen.refused = true }

// answeredWith notes the status of the provider's answer: one that is not 200
// is not billed.
func (s *seen) answeredWith(status int) { s.refused = status != http.StatusOK }

// completion is how many tokens what was seen may have been, of that many
// choices: of a stream a token an event, or one for each three bytes by which
// events exceed the frame that all have, whichever is more; of a whole answer
// one for each three bytes. While nothing came, hidden thoughts may have:
// tokensPerSecond for each choice.
//
// With token probabilities most of an event is not text, and an event is a token.
func (s *seen) completion(choices int64, now time.Time, logprobs bool) int64 {
	if s.whole > 0 {
		return s.whole / leastBytesPerToken
	}
	silent := s.silent
	if s.events == 0 {
		silent = now.Sub(s.sent)
	}
	text := (s.data - s.events*min(s.smallest, mostFrame)) / leastBytesPerToken
	if logprobs {
		text = 0
	}
	return max(s.events, text) + int64(silent.Seconds()*tokensPerSecond)*choices
}

// estimated is the usage of an answer that told none, or only that of its
// beginning. Under a hard budget images and stored state count as reserved, text
// a token for three bytes. It is never more than what was reserved.
func (c *Call) estimated() openai.Usage {
	q := &c.quota
	choices := max(q.demand.Choices, 1)
	prompt := q.input
	if prompt == 0 {
		prompt = (c.seen.bytes + bytesPerToken - 1) / bytesPerToken
	}
	completion := c.seen.completion(choices, c.gateway.now(), q.demand.Logprobs)
	if q.output > 0 {
		completion = min(completion, q.output*choices)
	}
	if q.bound.Prompt > 0 {
		prompt, completion = min(prompt, q.bound.Prompt), min(completion, q.bound.Completion)
	}
	completion = max(completion, c.usage.Completion)
	return openai.Usage{Prompt: max(prompt, c.usage.Prompt), Completion: completion, Total: prompt + completion}
}
