package replay

import (
	"context"
	"encoding/binary"
	"io"
	"time"
)

// export writes a recording as an fbs file, "FrameBuffer Stream", which players and
// converters to video read: rfbproxy began it, TightVNC's player and VLC have it.
//
//	12      "FBS 001.000\n"
//	blocks, each
//	u32       n
//	n         bytes of a server of RFB 3.3, up to three more so that the next begins at a multiple of 4
//	u32       milliseconds since the beginning
//
// The first update has the whole picture. Each message is a block of its own, as VLC has it; so is
// each step of the handshake, and the name of the desktop, which is the workstation's. Pixels are blue first, as players expect without
// looking. It returns nil when the recording breaks off: the file has what there is.
func export(ctx context.Context, w io.Writer, open Open) error {
	e := &fbs{w: w}
	source := newSource(open)
	pass, err := source.begin(0, func(at time.Duration) error {
		if at-e.at >= updateEvery {
			e.flush()
		}
		if e.err == nil {
			e.err = context.Cause(ctx)
		}
		return e.err
	})
	if err != nil {
		return err
	}
	defer pass.close()
	header := pass.reader.Header()
	e.pass, e.view = pass, newView(header.Init)
	e.view.encoder.blueFirst = true
	header.Init.Format, header.Init.Name = blueFirst, header.Workstation
	e.write([]byte("FBS 001.000\n"))
	e.block([]byte("RFB 003.003\n"))
	e.block([]byte{0, 0, 0, 1}) // security type None
	init := header.Init.Append(nil)
	name := len(header.Init.Name)
	e.block(init[:len(init)-name])
	e.block(init[len(init)-name:])
	for e.err == nil {
		message, err := pass.next()
		if err != nil {
			break
		}
		e.view.changed(message)
	}
	e.at = pass.at
	e.flush()
	return e.err
}

// fbs is an fbs file that is written.
type fbs struct {
	w    io.Writer
	pass *pass
	view view
	at   time.Duration // of the last block
	err  error

	buffer []byte
}

// flush writes what has changed.
func (e *fbs) flush() {
	e.at = e.pass.at
	for resized := true; resized; { // a new size comes alone
		size := e.view.size
		e.buffer = e.view.update(e.buffer[:0], e.pass.frame(), "")
		if resized = size != e.view.size; len(e.buffer) > 0 {
			e.block(e.buffer)
		}
	}
}

// block writes bytes of the server. An empty block has no time either.
func (e *fbs) block(data []byte) {
	if len(data) == 0 {
		return
	}
	block := binary.BigEndian.AppendUint32(make([]byte, 0, len(data)+11), uint32(len(data)))
	block = append(block, data...)
	block = append(block, make([]byte, -len(data)&3)...)
	e.write(binary.BigEndian.AppendUint32(block, uint32(e.at.Milliseconds())))
}

func (e *fbs) write(p []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(p)
	}
}
