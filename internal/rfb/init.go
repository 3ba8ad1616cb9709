package rfb

import (
	"encoding/binary"
	"fmt"
)

// Init is a ServerInit message (RFC 6143, section 7.3.2).
type Init struct {
	Width  uint16   `json:"width"` // in pixels
	Height uint16   `json:"height"`
	Format [16]byte `json:"format"` // PIXEL_FORMAT (section 7.4), as on the wire
	Name   string   `json:"name"`   // of the desktop, at most MaxName bytes of any kind
}

// Append appends the message to dst.
func (i Init) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, i.Width)
	dst = binary.BigEndian.AppendUint16(dst, i.Height)
	dst = append(dst, i.Format[:]...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(i.Name)))
	return append(dst, i.Name...)
}

// check refuses what no viewer can show.
func (i Init) check() error {
	if i.Width == 0 || i.Height == 0 {
		return fmt.Errorf("a desktop of %dx%d pixels", i.Width, i.Height)
	}
	return nil
}

func (w *wire) readInit() (Init, error) {
	const step = "reading the workstation's ServerInit"
	var i Init
	b, err := w.read(step, 4+len(i.Format))
	if err != nil {
		return i, err
	}
	i.Width = binary.BigEndian.Uint16(b)
	i.Height = binary.BigEndian.Uint16(b[2:])
	copy(i.Format[:], b[4:])
	if err := i.check(); err != nil {
		return i, &Error{Kind: KindGarbage, Step: step, Err: err}
	}
	i.Name, err = w.readText("reading the name of the desktop", MaxName)
	return i, err
}
