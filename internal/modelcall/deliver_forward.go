package modelcall

import (
	"cmp"
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
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
func (d *streaming) forward(body io.Reader, w *wire.Wire) *apierror.Error {
	u, events := &d.attempt.upstream, &d.reader
	events.Reset(body, cmp.Or(w.MaxEvent, maxEvent))
	events.Memory = &u.memory
	defer events.Release()
	for took := false; !d.stream.Done(); { // an end is written in end: a failure may still become a status
		if !events.Buffered() || len(d.batch.bytes()) >= maxBatch {
			if failure := d.send(); failure != nil {
				return failure
			}
			if d.keeps != nil {
				if err := u.memory.hold(keptText, d.keeps.Kept()); err != nil {
					return apierror.From(err)
				}
			}
			if took && d.finished() { // after the write: the client may have taken long
				u.waits.over = u.deps.Now()
			}
			took = false
		}
		event, err := events.Next()
		if err == io.EOF {
			return d.endGuard()
		}
		if err != nil && u.endless() {
			return d.endWithout(w)
		}
		if err != nil {
			return brokenAnswer(d.attempt.provider(), err)
		}
		if event.Comment {
			continue
		}
		took = true
		u.request.Outcome.FirstEvent(u.deps.Now)
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
	return d.stream.Summary().Finished >= max(d.choices, 1)
}

// endWithout ends a whole answer whose provider does not end its stream.
func (d *streaming) endWithout(w *wire.Wire) *apierror.Error {
	if end := w.End; end.Name != nil {
		if refusal := d.take(d.events.Next(end.Name, end.Data)); refusal != nil {
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
	u, data := &d.attempt.upstream, event.Data
	u.meter.event(event)
	u.trace.answered(data)
	if d.guarded == nil {
		d.batch.set(d.stream.Data(d.batch.bytes(), event))
		return nil
	}
	events, verdict, err := d.guarded.Push(event)
	d.pass(events)
	switch {
	case err != nil:
		u.meter.lastEvent(data, d.usage)
		return askedProvider(d.attempt.provider()).Unreadable(err)
	case verdict != nil:
		u.meter.lastEvent(data, d.usage)
		return d.guard.Blocked(verdict)
	}
	return nil
}

// send writes the batch, unless the answer is held back.
func (d *streaming) send() *apierror.Error {
	if d.batch.buffer == nil || d.hold && !d.sent && !d.stream.Summary().Text && len(d.batch.bytes()) < maxHeld {
		return nil
	}
	d.commit()
	q := d.attempt.upstream.request
	q.WatchWrite()
	err := d.writer.send(d.batch.bytes())
	q.Watch.Stop()
	d.batch.written(err)
	if err != nil && !d.attempt.upstream.drains() {
		return request.ClientGone(err)
	}
	return nil
}

// endGuard adds what the guardrails held back to the batch, at the end of the provider's stream.
func (d *streaming) endGuard() *apierror.Error {
	if d.guarded == nil {
		return nil
	}
	events, verdict := d.guarded.Close()
	d.pass(events)
	if verdict != nil {
		return d.guard.Blocked(verdict)
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
		d.attempt.commit()
	}
}
