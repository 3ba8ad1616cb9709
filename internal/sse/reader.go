package sse

import (
	"io"
	"sync"
)

const (
	// waitBuffer is the only buffer of a stream while it waits: thousands of streams are idle at
	// once. Hardly any event is that short, so the rest is read into a larger buffer at once.
	waitBuffer = 64

	// firstBuffer is the size of the buffer for events of usual length. A stream has it only while
	// events arrive, so it is large enough for a burst of them in one read: events that are read
	// together are written together.
	firstBuffer = 32 << 10

	// maxPooled is the largest buffer worth keeping for another stream.
	maxPooled = 64 << 10

	// leastRead is how much space a read gets if possible, so that an event near the end of the
	// buffer does not need many small reads.
	leastRead = 512

	// maxEmptyReads is how often in a row a source may return neither bytes nor an error, as in
	// bufio.
	maxEmptyReads = 100

	// beyond is the space past the bound: a byte that shows an event to be too long, or the two
	// line ends that complete an unterminated one.
	beyond = 2
)

// Reader reads events from a stream.
type Reader struct {
	source io.Reader
	// Memory bounds large buffers; nil for no bound but that of an event.
	Memory Memory
	max    int
	err    error // from source; returned after the events before it

	buf    []byte  // wait, or that of box, or one too large for the pool
	box    *[]byte // from buffers, nil for none
	start  int     // buf[:start] belongs to returned events
	filled int     // buf[start:filled] is received and not returned
	begun  bool
	block  block // of the event at start
	joined []byte
	wait   [waitBuffer]byte
}

// Memory is what buffers above 64 KiB take their bytes from.
type Memory interface {
	// Hold makes size the bytes that the reader holds of it; 0 gives all back. It is called before a
	// buffer grows, and an error ends the stream.
	Hold(size int) error
}

// buffers has buffers of 32 KiB, and larger ones that an event needed.
var buffers = sync.Pool{New: func() any { b := make([]byte, firstBuffer); return &b }}

// NewReader returns a Reader of r. An event longer than maxEvent bytes, including its blank line,
// ends the stream with [ErrTooLong]. The buffer grows up to maxEvent if events need it; between
// events it is tiny.
func NewReader(r io.Reader, maxEvent int) *Reader {
	reader := new(Reader)
	reader.Reset(r, maxEvent)
	return reader
}

// Reset makes r, which was released or is new, what [NewReader] returns.
func (r *Reader) Reset(source io.Reader, maxEvent int) { *r = Reader{source: source, max: maxEvent} }

// Next returns the next event, and io.EOF after the last.
//
// A last event without its blank line is returned before io.EOF if it has a data line, because some
// providers end so. Any other error of the source is returned unchanged, after all whole events;
// the incomplete one is dropped, because it may be cut anywhere. An error is final.
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

// Buffered reports whether another whole event is in the buffer, so that a writer need not flush
// yet. It does not read, and does not change the event that Next returned last.
func (r *Reader) Buffered() bool { return r.scan() && !r.tooLong() }

// Received returns the bytes behind the last event that have come and that Next and Buffered have not
// looked at: nil if they have. It does not read. They are valid until the next call of another method.
func (r *Reader) Received() []byte {
	if !r.begun || r.block.seen > 0 {
		return nil
	}
	return r.buf[r.start:min(r.filled, r.start+r.max)]
}

// Skip drops the first n bytes of those that Received returned. They must be whole events.
func (r *Reader) Skip(n int) { r.start += n }

// scan continues with the event at start and reports whether it is whole.
func (r *Reader) scan() bool {
	if !r.begun && !r.skipMark() {
		return false
	}
	blank, whole := r.block.scan(r.buf[r.start:r.filled], r.err != nil)
	r.start += blank
	return whole
}

// skipMark drops a byte order mark at the start of the stream. It returns false while it needs more
// bytes to decide.
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

// tooLong reports whether the event at start is over the bound. Bytes past the bound prove it while
// the event is not whole: its end, even a CR that waits for its LF, can only come after them.
func (r *Reader) tooLong() bool {
	if r.block.end > 0 {
		return r.block.end > r.max
	}
	return r.begun && r.filled-r.start > r.max
}

// complete makes a whole event of the stream's last bytes, if they have data.
func (r *Reader) complete() bool {
	event := r.buf[r.start:r.filled]
	if r.block.line < len(event) {
		r.block.read(event[r.block.line:], r.block.line)
	}
	if r.block.datas == 0 {
		return false
	}
	if event[len(event)-1] != '\n' {
		// After a CR, the first LF belongs to it.
		r.buf = append(r.buf[:r.filled], '\n')
		r.filled++
	}
	r.buf = append(r.buf[:r.filled], '\n')
	r.filled++
	r.block.end = r.filled - r.start
	return true
}

// take returns the whole event at start.
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

// Release gives the buffer to other streams, at the end of this one. The last event is no longer
// valid, and received bytes that were not returned are lost. It is optional, and useful for many
// short streams.
func (r *Reader) Release() {
	r.start, r.filled, r.block = 0, 0, block{}
	if r.err == nil {
		r.err = io.EOF
	}
	r.idle()
}

// idle returns to the small buffer.
func (r *Reader) idle() {
	large := len(r.buf) > maxPooled
	r.drop()
	if large && r.Memory != nil {
		_ = r.Memory.Hold(0) // less does not fail
	}
}

// drop gives up the buffer for the small one.
func (r *Reader) drop() {
	if r.box != nil {
		buffers.Put(r.box)
		r.box = nil
	}
	r.buf = r.wait[:]
	if cap(r.joined) > firstBuffer {
		r.joined = nil
	}
}

// fill reads once. It moves and grows the buffer if necessary.
func (r *Reader) fill() {
	if r.start == r.filled {
		r.start, r.filled = 0, 0
		r.idle()
	} else {
		r.makeSpace()
	}
	if r.err != nil {
		return
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

// makeSpace makes space for the rest of an event.
func (r *Reader) makeSpace() {
	if len(r.buf)-r.filled < leastRead && r.start > 0 {
		r.filled = copy(r.buf, r.buf[r.start:r.filled])
		r.start = 0
	}
	if size := min(max(2*len(r.buf), firstBuffer), r.max+beyond); len(r.buf)-r.filled < leastRead && len(r.buf) < size {
		r.grow(size)
	}
}

// grow replaces the buffer by one of at least size bytes.
func (r *Reader) grow(size int) {
	if size > maxPooled && r.Memory != nil {
		if r.err = r.Memory.Hold(size); r.err != nil {
			return
		}
	}
	box := buffers.Get().(*[]byte)
	if len(*box) < size {
		*box = make([]byte, size)
	}
	copy(*box, r.buf[:r.filled])
	r.drop()
	r.buf = (*box)[:min(len(*box), r.max+beyond)]
	if len(*box) <= maxPooled {
		r.box = box
	}
}
