package sse

import (
	"io"
	"sync"
)

const (
	// waitBuffer is all that a stream holds while it waits: thousands of idle
	// ones are held at once. An event is hardly ever that short, so what
	// follows its first bytes is read into a proper buffer, and at once.
	waitBuffer = 64

	// firstBuffer is the buffer for events that are short, as nearly all are.
	// It is held only while they arrive, so it is large enough to take a burst
	// of them in one read: what is read together is written together.
	firstBuffer = 32 << 10

	// maxPooled is the largest buffer worth keeping for another stream.
	maxPooled = 64 << 10

	// leastRead is how much room a read is given where it can be had, so that
	// an event near the end of the buffer does not come in crumbs.
	leastRead = 512

	// maxEmptyReads is how often in a row a source may return neither bytes
	// nor an error, as in bufio.
	maxEmptyReads = 100

	// beyond is the room past the bound: a byte that shows an event to be too
	// long, or the two line ends that complete an unterminated one.
	beyond = 2
)

// Reader reads events from a stream.
type Reader struct {
	source io.Reader
	max    int
	err    error // from source; the events before it come first

	buf    []byte  // wait, or that of box, or one too long for the pool
	box    *[]byte // from buffers, nil for none
	start  int     // buf[:start] belongs to events handed out
	filled int     // buf[start:filled] is received and not handed out
	begun  bool
	block  block // of the event at start
	joined []byte
	wait   [waitBuffer]byte
}

// buffers are of 32 KiB, and longer ones that some event needed.
var buffers = sync.Pool{New: func() any { b := make([]byte, firstBuffer); return &b }}

// NewReader returns a Reader of r. An event longer than maxEvent bytes, blank
// line included, ends the stream with [ErrTooLong]. The buffer grows up
// to maxEvent as events need it; between events there is next to none.
func NewReader(r io.Reader, maxEvent int) *Reader {
	return &Reader{source: r, max: maxEvent}
}

// Next returns the next event, and io.EOF behind the last.
//
// A last event without its blank line is returned before io.EOF if it has a
// data line, for some providers end so. An error of the source other than
// io.EOF is returned as it is, behind all whole events; what had come of the
// next one is dropped, for it may be cut anywhere. An error is final.
func (r *Reader) Next() (Event, error) {
	for {
		whole := r.scan()
		if r.tooLong() {
			return Event{}, ErrTooLong
		}
		if whole {
			return r.take(), nil
		}
		if r.err == io.EOF && r.complete() {
			return r.take(), nil
		}
		if r.err != nil {
			return Event{}, r.err
		}
		r.fill()
	}
}

// Buffered reports whether another whole event is in the buffer, so that a
// writer need not flush yet. It does not read, and leaves the event that Next
// returned last as it is.
func (r *Reader) Buffered() bool { return r.scan() && !r.tooLong() }

// scan goes on with the event at start and reports whether it is whole.
func (r *Reader) scan() bool {
	if !r.begun && !r.skipMark() {
		return false
	}
	blank, whole := r.block.scan(r.buf[r.start:r.filled], r.err != nil)
	r.start += blank
	return whole
}

// skipMark drops a byte order mark at the start of the stream. It is false
// while more bytes are needed to tell.
func (r *Reader) skipMark() bool {
	const mark = "\xef\xbb\xbf"
	got := string(r.buf[:min(r.filled, len(mark))])
	if len(got) < len(mark) && got == mark[:len(got)] && r.err == nil {
		return false
	}
	if got == mark {
		r.start = len(mark)
	}
	r.begun = true
	return true
}

// tooLong reports whether the event at start is over the bound. Bytes past the
// bound prove it while the event is not whole: its end, even a CR that waits
// for its LF, can only lie behind them.
func (r *Reader) tooLong() bool {
	if r.block.end > 0 {
		return r.block.end > r.max
	}
	return r.begun && r.filled-r.start > r.max
}

// complete makes a whole event of what the stream ended with, if it has data.
func (r *Reader) complete() bool {
	event := r.buf[r.start:r.filled]
	if r.block.line < len(event) {
		r.block.read(event[r.block.line:], r.block.line)
	}
	if r.block.datas == 0 {
		return false
	}
	if event[len(event)-1] != '\n' {
		// Behind a CR, the first LF belongs to it.
		r.buf = append(r.buf[:r.filled], '\n')
		r.filled++
	}
	r.buf = append(r.buf[:r.filled], '\n')
	r.filled++
	r.block.end = r.filled - r.start
	return true
}

// take hands out the whole event at start.
func (r *Reader) take() Event {
	raw := r.buf[r.start : r.start+r.block.end : r.start+r.block.end]
	event := Event{Raw: raw, Comment: r.block.comments && !r.block.fields}
	if r.block.named {
		event.Name = r.block.name.of(raw)
	}
	switch r.block.datas {
	case 0:
	case 1:
		event.Data = r.block.data.of(raw)
	default:
		r.joined = appendJoined(r.joined[:0], raw)
		event.Data = r.joined
	}
	r.start += r.block.end
	r.block = block{}
	return event
}

// Release gives the buffer to other streams. It is for the end: the last event
// is no longer valid, and what was received and not handed out is gone. It is
// optional, and pays where streams are many and short.
func (r *Reader) Release() {
	r.start, r.filled, r.block = 0, 0, block{}
	if r.err == nil {
		r.err = io.EOF
	}
	r.idle()
}

// idle goes back to the small buffer.
func (r *Reader) idle() {
	if r.box != nil {
		buffers.Put(r.box)
		r.box = nil
	}
	r.buf = r.wait[:]
	if cap(r.joined) > firstBuffer {
		r.joined = nil
	}
}

// fill reads once, moving and growing the buffer where that needs it.
func (r *Reader) fill() {
	if r.start == r.filled {
		r.start, r.filled = 0, 0
		r.idle()
	} else {
		r.makeRoom()
	}
	for range maxEmptyReads {
		n, err := r.source.Read(r.buf[r.filled:])
		r.filled += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// makeRoom makes room for the rest of an event.
func (r *Reader) makeRoom() {
	if len(r.buf)-r.filled < leastRead && r.start > 0 {
		r.filled = copy(r.buf, r.buf[r.start:r.filled])
		r.start = 0
	}
	if size := min(max(2*len(r.buf), firstBuffer), r.max+beyond); len(r.buf)-r.filled < leastRead && len(r.buf) < size {
		r.grow(size)
	}
}

// grow makes the buffer one of at least size bytes.
func (r *Reader) grow(size int) {
	box := buffers.Get().(*[]byte)
	if len(*box) < size {
		*box = make([]byte, size)
	}
	copy(*box, r.buf[:r.filled])
	r.idle()
	r.buf = (*box)[:min(len(*box), r.max+beyond)]
	if len(*box) <= maxPooled {
		r.box = box
	}
}
