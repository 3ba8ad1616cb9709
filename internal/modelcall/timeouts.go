package modelcall

import "time"

// Timeouts of a call. All but Call and FirstByte are positive.
type Timeouts struct {
	Body   time.Duration // for the request's body to arrive
	Header time.Duration // for the provider's answer to begin
	Idle   time.Duration // between two reads of the provider's answer
	// FirstByte is for a streamed answer to begin, and Call for the whole answer. 0: Header for the
	// one, no limit for the other.
	FirstByte, Call time.Duration
	// Commit is how long a stream may be silent at its start before the gateway answers 200 and
	// keeps the connection alive with comments.
	Commit time.Duration
	// Write is how long a client may take nothing of its answer.
	Write time.Duration
	// Heartbeat is the longest silence within a stream to the client.
	Heartbeat time.Duration
}

// DefaultTimeouts follow the SDKs, which wait 600 s for an answer.
var DefaultTimeouts = Timeouts{
	Body:      2 * time.Minute,
	Header:    10 * time.Minute,
	Idle:      5 * time.Minute,
	Write:     5 * time.Minute,
	Commit:    20 * time.Second,
	Heartbeat: 15 * time.Second,
}

const (
	// othersFirstByte is the time for a stream to begin where nothing else is configured and another
	// target can be asked: providers send the header of a stream before the model thinks.
	othersFirstByte = 30 * time.Second
	// othersWhole is the same for an answer in one piece, whose header comes when it is complete.
	othersWhole = 75 * time.Second
)

// waits are the time limits of one attempt.
type waits struct {
	stream, whole time.Duration // until an answer begins
	idle, call    time.Duration // call: 0 for none
	late          *time.Timer   // ends an answer that takes longer than call; nil for none
	over          time.Time     // when the last event of an answer that is whole had come; zero before
}

// endWait is how long usage and the end of a stream may take after the answer in it is whole.
const endWait = 2 * time.Second

// next is how long the next piece of an answer may take. Comments do not prolong the end.
func (w *waits) next(now time.Time) time.Duration {
	if w.over.IsZero() {
		return w.idle
	}
	return min(w.idle, endWait-now.Sub(w.over))
}

// of returns the time limits of an attempt at a target. Others says that another target can be asked
// instead.
func (t *Timeouts) of(at *target, others bool) waits {
	own := at.provider.TimeoutsOf(at.model.Name)
	w := waits{
		stream: first(own.FirstByte, t.FirstByte), whole: own.Whole,
		idle: first(own.Idle, t.Idle), call: first(own.Call, t.Call),
	}
	for _, d := range []struct {
		limit    *time.Duration
		ifOthers time.Duration
	}{{&w.stream, othersFirstByte}, {&w.whole, othersWhole}} {
		if *d.limit == 0 {
			*d.limit = t.Header
			if others {
				*d.limit = min(t.Header, d.ifOthers)
			}
		}
	}
	return w
}

// first returns the first duration that is set.
func first(a, b time.Duration) time.Duration {
	if a > 0 {
		return a
	}
	return b
}

// begin is how long an answer may take to begin.
func (w *waits) begin(stream bool) time.Duration {
	if stream {
		return w.stream
	}
	return w.whole
}
