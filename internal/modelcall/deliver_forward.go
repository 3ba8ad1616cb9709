package modelcall

import (
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const (
	// maxEvent bounds one event of a provider, in bytes: an inline image has a few MB.
	maxEvent = 16 << 20
	// maxBatch is how many bytes of events that have already come are gathered for one write.
	maxBatch = 64 << 10
	// maxHeld bounds what of a stream is held until the first piece of the answer, in bytes.
	maxHeld = 1 << 20
)

// forward sends events of a provider's API until the stream is done. It returns why it stopped before that.
func (d *streaming) forward(body io.Reader, op provider.Operation) *apierror.Error {
	c, events := d.call, &d.reader
	events.Reset(body, maxEvent)
	events.Memory = &c.upstream.memory
	defer events.Release()
	for took := false; !d.stream.Done(); { // an end is written in end: a failure may still become a status
		if !events.Buffered() || len(d.batch.bytes()) >= maxBatch {
			if failure := d.send(); failure != nil {
				return failure
			}
			if d.keeps != nil {
				if err := c.upstream.memory.hold(keptText, d.keeps.Kept()); err != nil {
					return apierror.From(err)
				}
			}
			if took && d.finished() { // after the write: the client may have taken long
				c.upstream.waits.over = c.deps.Now()
			}
			took = false
		}
		event, err := events.Next()
		if err == io.EOF {
			return d.endGuard()
		}
		if err != nil && c.upstream.endless() {
			return d.endWithout(op)
		}
		if err != nil {
			return brokenAnswer(c.Record.Provider, err)
		}
		if event.Comment {
			continue
		}
		took = true
		c.firstToken(c.deps.Now)
		if refusal := d.take(d.events.Next(event.Name, event.Data)); refusal != nil {
			return refusal
		}
		if refusal := d.takeRepeated(); refusal != nil {
			return refusal
		}
	}
	d.ended = true
	return d.endGuard()
}

// finished reports whether the answer is whole: only usage and the end of the stream may follow.
func (d *streaming) finished() bool {
	return d.stream.Summary().Finished >= max(d.call.asked.Choices, 1)
}

// endWithout ends a whole answer whose provider does not end its stream.
func (d *streaming) endWithout(op provider.Operation) *apierror.Error {
	if op == provider.Messages {
		stop := []byte("message_stop")
		if refusal := d.take(d.events.Next(stop, []byte(`{"type":"message_stop"}`))); refusal != nil {
			return refusal
		}
	}
	return d.endGuard()
}

// takeRepeated takes the events that have come as long as each repeats the one before, straight from
// what was received.
func (d *streaming) takeRepeated() *apierror.Error {
	for received := d.reader.Received(); !d.stream.Done() && len(d.batch.bytes()) < maxBatch; {
		event, size := d.events.Repeated(received)
		if size == 0 {
			break
		}
		received = received[size:]
		d.reader.Skip(size)
		if refusal := d.take(event); refusal != nil {
			return refusal
		}
	}
	return nil
}

// take adds to the batch what the client gets for an event. After a refusal only the end may follow.
func (d *streaming) take(event *openai.Event) *apierror.Error {
	defer event.Release()
	meter, data := &d.call.meter, event.Data
	meter.event(event.Name, data)
	d.call.trace.answered(data)
	if d.guard == nil {
		d.batch.set(d.stream.Data(d.batch.bytes(), event))
		return nil
	}
	events, verdict, err := d.guard.Push(event)
	d.pass(events)
	switch {
	case err != nil:
		meter.lastEvent(data)
		return nonsense(d.call.Record.Provider, err)
	case verdict != nil:
		meter.lastEvent(data)
		return d.call.guard.blocked(verdict)
	}
	return nil
}

// send writes the batch, unless the answer is held back.
func (d *streaming) send() *apierror.Error {
	if d.batch.buffer == nil || d.hold && !d.sent && !d.stream.Summary().Text && len(d.batch.bytes()) < maxHeld {
		return nil
	}
	d.commit()
	d.call.watchWrite()
	err := d.writer.send(d.batch.bytes())
	d.call.watch.Stop()
	d.batch.written(err)
	if err != nil && !d.call.drains() {
		return clientGone(err)
	}
	return nil
}

// endGuard adds what the guardrails held back to the batch, at the end of the provider's stream.
func (d *streaming) endGuard() *apierror.Error {
	if d.guard == nil {
		return nil
	}
	events, verdict := d.guard.Close()
	d.pass(events)
	if verdict != nil {
		return d.call.guard.blocked(verdict)
	}
	return nil
}

func (d *streaming) pass(events []*openai.Event) {
	for _, e := range events {
		d.batch.set(d.stream.Data(d.batch.bytes(), e))
		e.Release() // also of one that was inserted
	}
}

// commit notes that the client gets this answer and no other.
func (d *streaming) commit() {
	if !d.sent && len(d.batch.bytes()) > 0 {
		d.sent = true
		d.attempts.commit()
	}
}
