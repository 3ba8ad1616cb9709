package modelcall

import (
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

const (
	// tokensPerSecond is how fast a provider is assumed to generate while nothing comes from it:
	// faster than most large models.
	tokensPerSecond = 200

	// thinkingPause is a pause after which a provider is assumed to think. Shorter ones lie between
	// any two pieces of an answer.
	thinkingPause = time.Second
)

// meter measures a provider's answer: the usage that it reports, and for an answer without usage how
// much has come.
type meter struct {
	sent         time.Time // when the request was sent; again on a new connection, the second time
	requestBytes int64

	events   int64         // events with a piece of the answer
	written  int64         // bytes of text in them
	whole    int64         // bytes of an answer that is not streamed
	silent   time.Duration // pauses, with the one before the answer
	text     bool          // the answer has some text
	live     bool          // what was asked went over a socket
	unbilled bool          // the provider refused or failed before it said anything

	heard    int64 // milliseconds of sound in the answer
	usage    openai.Usage
	reported bool // usage is the provider's
	later    int  // events after the one with usage
	last     bool // usage came in an event that was refused and is the last
}

// waited notes how long nothing came from the provider.
func (m *meter) waited(pause time.Duration) {
	if pause >= thinkingPause {
		m.silent += pause
	}
}

// answered notes the status of the answer. Only 200 is billed.
func (m *meter) answered(status int) { m.unbilled = status != http.StatusOK }

// markUnbilled notes that the provider failed, by its own word or with an empty answer, before it
// said anything. As with another status than 200, nothing is billed.
func (m *meter) markUnbilled() { m.unbilled = true }

// event notes an event of the stream. Only events with a piece of the answer count.
func (m *meter) event(e *openai.Event) {
	if openai.IsPiece(e.Name, e.Data) {
		m.events++
		m.written += int64(openai.TextBytes(e))
	}
}

// wholeAnswer notes the size of an answer that is not streamed, in bytes.
func (m *meter) wholeAnswer(bytes int) { m.whole = int64(bytes) }

// received reports whether an event with a piece of the answer has come.
func (m *meter) received() bool { return m.events > 0 }

// summarize notes the usage that the answer reported, also if it ended badly: tokens that were used
// are paid for.
func (m *meter) summarize(s openai.Summary) {
	m.text = m.text || s.Text
	if s.HasUsage && !m.last {
		m.usage, m.reported, m.later = s.Usage, true, s.Later
	}
}

// lastEvent notes the usage in an event that no client gets, because a guardrail refused it. Usage reads
// it, nil for [openai.EventUsage].
func (m *meter) lastEvent(data []byte, usage func([]byte) (openai.Usage, bool)) {
	m.text = true
	if usage == nil {
		usage = openai.EventUsage
	}
	if u, ok := usage(data); ok {
		m.usage, m.reported, m.later, m.last = u, true, 0, true
	}
}

// completion estimates the completion tokens of that many choices. A stream has a token for each
// event, or one for each three bytes of text, whichever is more; a whole answer has one for each three
// bytes. While nothing came, hidden thoughts may have been generated: tokensPerSecond for each choice.
func (m *meter) completion(choices int64, now time.Time) int64 {
	if m.whole > 0 {
		return m.whole / leastBytesPerToken
	}
	silent := m.silent
	if m.events == 0 {
		silent = now.Sub(m.sent)
	}
	return max(m.events, m.written/leastBytesPerToken) + int64(silent.Seconds()*tokensPerSecond)*choices
}

// impossible reports whether the reported usage cannot be true: a prompt without tokens, or text
// without. A provider that failed before its first word may have used nothing, and one that is paid by
// the query counts no tokens.
func (m *meter) impossible() bool {
	return !m.unbilled && !m.usage.Units.Some() && (m.usage.Prompt == 0 || m.usage.Completion == 0 && m.text)
}
