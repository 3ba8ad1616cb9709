package modelcall

import (
	"context"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
)

const (
	// MinAnswers is the least memory for providers' answers, in bytes: enough for any one of them. A
	// whole answer counts twice, because a converted copy of it exists for a moment, and so do an
	// event and the text that a translation keeps for the last event of a stream.
	MinAnswers = 256 << 20

	// freeAnswer is the largest buffer that does not count: most answers fit it, and cost nothing.
	freeAnswer = maxPooled

	// answersWait is how long an answer waits for memory. Most are gone within a second; those of slow
	// clients are not.
	answersWait = 5 * time.Second
)

// answerMemory is what an attempt holds of the memory for providers' answers. One goroutine uses it.
type answerMemory struct {
	of    *upstream
	all   *memory.Semaphore
	parts [answerParts]int // bytes that count
	held  int64
}

// The parts of an answer that are held. Each can change by itself.
const (
	wholeAnswer  = iota // an answer in one piece
	currentEvent        // the buffer of the event that is being read
	keptText            // what a translation repeats at the end of the stream
	answerParts
)

// hold makes size the bytes that one part of the answer holds, and waits until the process has
// memory for them. The error is 429 gateway_busy, or why the attempt ended meanwhile.
func (m *answerMemory) hold(part, size int) error {
	if size <= freeAnswer {
		size = 0
	}
	more := 2 * int64(size-m.parts[part])
	if more > 0 && !m.all.Wait(m.of.ctx, more, answersWait) {
		if err := context.Cause(m.of.ctx); err != nil {
			return m.of.failure(err)
		}
		e := apierror.New(apierror.GatewayBusy, "the gateway holds as many large answers as it can; try again shortly")
		e.RefusedBy = "gateway: answer_memory"
		return e
	}
	if more < 0 {
		m.all.Give(-more)
	}
	m.parts[part] = size
	m.held += more
	return nil
}

// Hold implements [sse.Memory].
func (m *answerMemory) Hold(size int) error { return m.hold(currentEvent, size) }

// release gives everything back.
func (m *answerMemory) release() {
	m.all.Give(m.held)
	m.held, m.parts = 0, [answerParts]int{}
}
