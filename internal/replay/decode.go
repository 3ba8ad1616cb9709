package replay

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

// Reader reads a recording from its beginning: [recording.Reader].
type Reader interface {
	Header() recording.Header
	Next() (recording.Frame, error)
}

// Open opens a recording at its beginning. The caller closes it.
type Open func() (Reader, io.Closer, error)

// pass is one decoding of a recording, up to its end.
type pass struct {
	moment // where it is

	reader  Reader
	file    io.Closer
	moments *moments
	wait    func(at time.Duration) error // until a frame is due
	in      *bufio.Reader                // the workstation's bytes, read by pass.Read

	rest    []byte            // of the last frame
	between bool              // the next byte begins a message
	later   []recording.Frame // came within a message, and counts after it
}

// maxLater bounds the frames that came within one message of the workstation.
const maxLater = 4096

// source is where passes come from.
type source struct {
	open    Open
	moments moments
}

func newSource(open Open) *source { return &source{open, moments{every: momentEvery}} }

// begin begins a pass that comes to a time, which the caller closes: where an earlier pass was, or at the
// beginning.
func (s *source) begin(at time.Duration, wait func(time.Duration) error) (*pass, error) {
	reader, file, err := s.open()
	if err != nil {
		return nil, err
	}
	p := &pass{reader: reader, file: file, wait: wait, moments: &s.moments}
	p.in = bufio.NewReaderSize(p, 64<<10)
	if from, ok := s.moments.before(at); ok {
		p.moment = from
		p.decoder, err = from.resume()
		for n := 0; n < from.frames && err == nil; n++ {
			_, err = reader.Next()
		}
	} else {
		p.decoder, err = framebuffer.NewDecoder(reader.Header().Init)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return p, nil
}

func (p *pass) close() { _ = p.file.Close() }

// next decodes the next message of the workstation. The error is io.EOF at the end, what wait has
// returned, or says why nothing can be shown from here on.
func (p *pass) next() (framebuffer.Message, error) {
	if p.in.Buffered() == 0 && len(p.rest) == 0 {
		p.moments.keep(p)
	}
	p.between = true
	if _, err := p.in.Peek(1); err != nil {
		return framebuffer.Message{}, err
	}
	p.between = false
	message, err := p.decoder.Read(p.in)
	if c := p.decoder.Cursor(); message.Cursor && c.Placed && c.At != p.pointer.placed {
		p.pointer = pointer{c.At, true, c.At}
	}
	for _, f := range p.later {
		err = errors.Join(err, p.apply(f))
	}
	p.later = p.later[:0]
	return message, err
}

// Read returns bytes of the workstation when their frame is due. Frames of other kinds count from the
// next message on.
func (p *pass) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		f, err := p.reader.Next()
		if err == nil {
			err = p.wait(f.At)
		}
		if err != nil {
			return 0, err
		}
		p.at = f.At
		p.frames++
		switch {
		case f.Kind == recording.KindServer:
			p.rest = f.Data
			p.bytes += int64(len(f.Data))
		case p.between:
			err = p.apply(f)
		case len(p.later) < maxLater:
			f.Data = append([]byte(nil), f.Data...)
			p.later = append(p.later, f)
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// apply does what a frame says that is not of the workstation.
func (p *pass) apply(f recording.Frame) error {
	switch {
	case f.Kind == recording.KindFormat && len(f.Data) == len([16]byte{}):
		return p.decoder.SetFormat([16]byte(f.Data))
	case f.Kind == recording.KindPointer && len(f.Data) == 5:
		p.pointer.known = true
		p.pointer.Point = image.Pt(int(binary.BigEndian.Uint16(f.Data[1:])), int(binary.BigEndian.Uint16(f.Data[3:])))
	}
	return nil
}

// frame returns the picture of this moment. The pointer is not in the picture where the viewer drew it itself.
func (p *pass) frame() frame {
	f := frame{Picture: p.decoder.Picture()}
	if shape := p.decoder.Cursor().Shape; shape != nil && p.pointer.known {
		at := shape.Rect.Sub(shape.Rect.Min).Add(p.pointer.Point).Sub(p.decoder.Cursor().Hot)
		f.pointer = &image.RGBA{Pix: shape.Pix, Stride: shape.Stride, Rect: at}
	}
	return f
}

// errOpen is the end of what an open session has written.
var errOpen = fmt.Errorf("the session is open: %w", io.ErrUnexpectedEOF)

// broken is what a person reads of an error of reading or decoding, "" of the end.
func broken(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return ""
	case errors.Is(err, errOpen):
		return "The session is still open: this is what it has recorded so far. Load the page again for more."
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "The recording breaks off here: the gateway or its disk stopped while it was written."
	case errors.Is(err, recording.ErrDamaged):
		return "The file is damaged or was changed from here on."
	}
	return fmt.Sprintf("What the workstation has sent cannot be shown from here on: %v.", err)
}
