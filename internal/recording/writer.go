package recording

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"filippo.io/age"
)

const (
	// maxQueue bounds what a session has for a disk that is slow.
	maxQueue = 1 << 20
	// maxWait is how long in all a full queue waits for the disk before that has caught up. Without it a
	// burst ends a recording where the flush gets no processor for 10 ms.
	maxWait = time.Second
	// flushEvery is how long a frame waits to be written: what a crash loses.
	flushEvery = time.Second
	// flushAt is how many bytes wait for no longer than the disk takes.
	flushAt = 64 << 10
	// closeWait is how long Close waits for the disk.
	closeWait = 5 * time.Second
	// maxKept is the largest buffer that a quiet session keeps.
	maxKept = 4 << 10
	// maxFrameHead is the longest head of a frame.
	maxFrameHead = 1 + 2*binary.MaxVarintLen64
)

// Input is what is kept of what the viewer sends.
type Input uint8

// Levels of input, each with what the one before has.
const (
	InputNone Input = iota
	InputPointer
	InputKeys // also passwords that are typed
)

// Options of a [Writer].
type Options struct {
	Recipients []age.Recipient // who can read it, at least one
	Input      Input
	Now        func() time.Time // default: time.Now
	// Failed is called at most once, in a goroutine of its own, when the recording ends because it
	// cannot be written, or not fast enough.
	Failed func(error)
	// Closed is called once, when the file is closed. The error is what Failed was called with.
	Closed func(End, error)
}

// Writer writes one recording. Its methods may be called at the same time. Up to 1 MiB waits for the disk.
// Then Server waits, for at most a second until the disk has caught up; after that the recording ends.
// Methods other than Server and Close do not wait. On a nil Writer all do nothing.
type Writer struct {
	options Options
	out     chunks // is used by the one flush
	done    chan struct{}
	room    chan struct{} // has an element when the queue may have got room

	mu       sync.Mutex // guards the following
	pending  []byte     // frames that are not written
	spare    []byte     // the other buffer
	last     time.Time  // of a frame
	end      End
	flushing bool
	closed   bool // no frame follows
	err      error
	timer    *time.Timer
	patience time.Duration // what is left of maxWait
}

// NewWriter begins a recording: its head is written before it returns. It closes the file at the end,
// also when it fails.
func NewWriter(file io.WriteCloser, h Header, o Options) (*Writer, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	out, err := begin(file, h, o.Recipients)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("beginning a recording: %w", err)
	}
	w := &Writer{options: o, out: out, done: make(chan struct{}), room: make(chan struct{}, 1), last: h.Begun, patience: maxWait}
	w.timer = time.AfterFunc(flushEvery, w.flush)
	return w, nil
}

// Server adds bytes of the workstation.
func (w *Writer) Server(p []byte) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end.Bytes += int64(len(p))
	for w.patience > 0 && !w.fits(p) && !w.closed {
		w.wait()
	}
	w.add(KindServer, p)
}

// Sent adds a whole message that was sent to the workstation, if it is of a kind that is kept.
func (w *Writer) Sent(message []byte) {
	if w == nil {
		return
	}
	kind, data := kept(message)
	if kind == 0 || kind == KindPointer && w.options.Input < InputPointer || kind == KindKey && w.options.Input < InputKeys {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(kind, data)
}

// kept returns the frame for a message of the viewer (RFC 6143, section 7.5, and QEMU's key event), 0
// for others.
func kept(m []byte) (kind uint8, data []byte) {
	const setPixelFormat, setEncodings, keyEvent, pointerEvent, qemu = 0, 2, 4, 5, 255
	switch {
	case m[0] == setPixelFormat && len(m) == 20:
		return KindFormat, m[4:]
	case m[0] == setEncodings:
		return KindEncodings, m[4:]
	case m[0] == pointerEvent && len(m) == 7: // with more buttons, which a replay does not show
		return KindPointer, append([]byte{m[1] & 0x7f}, m[2:6]...)
	case m[0] == pointerEvent && len(m) == 6:
		return KindPointer, m[1:]
	case m[0] == keyEvent && len(m) == 8:
		return KindKey, append([]byte{m[1]}, m[4:8]...)
	case m[0] == qemu && m[1] == 0 && len(m) == 12:
		return KindKey, append([]byte{m[3]}, m[4:8]...)
	}
	return 0, nil
}

// Mark adds a moment to be found again. Of the text 1 KiB is kept.
func (w *Writer) Mark(kind, text string) {
	if w == nil {
		return
	}
	data, _ := json.Marshal(Mark{kind, text[:min(len(text), maxMark)]}) // of strings it has no error
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(KindMark, data)
}

// Abort ends the recording for a cause, as a disk that is full does.
func (w *Writer) Abort(cause error) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(cause)
}

// flush writes what waits, as one chunk. It is called by the timer, whose one goroutine it has.
func (w *Writer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.flushing {
		return
	}
	w.flushing = true
	for first := true; w.err == nil && (w.closed || first && len(w.pending) > 0 || len(w.pending) >= flushAt); first = false {
		frames, last := w.pending, w.closed
		w.pending, w.spare = w.spare[:0], nil
		w.wake()
		w.mu.Unlock()
		err := w.out.write(frames, last)
		w.mu.Lock()
		if w.spare = frames; cap(frames) > maxKept && len(frames) < flushAt {
			w.spare = nil
		}
		if err != nil {
			w.fail(err)
		}
		if last {
			break
		}
	}
	w.flushing = false
	if !w.closed {
		w.patience = maxWait
		if len(w.pending) > 0 {
			w.timer.Reset(flushEvery)
		}
		return
	}
	w.finish()
}

// finish closes the file; mu is held.
func (w *Writer) finish() {
	end, err := w.end, w.err
	w.flushing = true // nothing else waits to be written
	w.mu.Unlock()
	if failed := w.out.file.Close(); err == nil && failed != nil {
		err = failed
	}
	if w.options.Closed != nil {
		w.options.Closed(end, err)
	}
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	close(w.done)
}

// Close ends the recording for a reason, and returns why it is not whole. It waits at most 5 seconds
// for the disk. Only the first call has an effect.
func (w *Writer) Close(reason string) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	if !w.closed {
		w.end.Reason = reason
		data, _ := json.Marshal(w.end) // of a string and a number it has no error
		w.add(KindEnd, data)
		if w.closed = true; !w.flushing {
			w.timer.Reset(0)
		}
	}
	w.mu.Unlock()
	wait := time.NewTimer(closeWait)
	defer wait.Stop()
	select {
	case <-w.done:
	case <-wait.C:
		w.mu.Lock()
		w.fail(errStuck)
		w.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
