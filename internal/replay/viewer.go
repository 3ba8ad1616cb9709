package replay

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// event is a message of the viewer that the player acts on: an order, or else that it asks for an update.
type event struct {
	order *order
	whole bool // the update has the whole picture
}

// Messages of viewers (RFC 6143, section 7.5). The page's orders come as text for the clipboard.
const (
	setPixelFormat = 0 // 3 bytes, PIXEL_FORMAT
	setEncodings   = 2 // 1 byte, u16 n, n times s32
	updateRequest  = 3 // u8 incremental, 8 bytes
	keyEvent       = 4 // 7 bytes
	pointerEvent   = 5 // 5 bytes
	cutText        = 6 // 3 bytes, s32 n, n bytes
	maxEncodings   = 1024
	maxOrder       = 4 << 10 // bytes
)

// protocolError is what a viewer has sent that it may not.
type protocolError struct{ error }

func refuse(format string, a ...any) error { return &protocolError{fmt.Errorf(format, a...)} }

// heads are the lengths of the fixed parts, without the type.
var heads = map[byte]int{setPixelFormat: 19, setEncodings: 3, updateRequest: 9, keyEvent: 7, pointerEvent: 5, cutText: 7}

// readEvents sends the viewer's messages to events until it is gone, has sent something else, or done is
// closed.
func readEvents(conn io.Reader, events chan<- event, done <-chan struct{}) error {
	in := bufio.NewReaderSize(conn, 4<<10)
	for {
		e, counts, err := readEvent(in)
		if err != nil {
			return err
		}
		if !counts {
			continue
		}
		select {
		case events <- e:
		case <-done:
			return nil
		}
	}
}

// readEvent reads one message. Those that change nothing here do not count.
func readEvent(in *bufio.Reader) (e event, counts bool, err error) {
	kind, err := in.ReadByte()
	if err != nil {
		return e, false, err
	}
	n, known := heads[kind]
	if !known {
		return e, false, refuse("message type %d", kind)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(in, head); err != nil {
		return e, false, err
	}
	switch kind {
	case setPixelFormat:
		if format := [16]byte(head[3:]); [13]byte(format[:13]) != [13]byte(framebuffer.LiveFormat[:13]) {
			return e, false, refuse("pixels other than those of ServerInit: % x", format)
		}
	case updateRequest:
		return event{whole: head[0] == 0}, true, nil
	case setEncodings:
		n := int(binary.BigEndian.Uint16(head[1:]))
		if n > maxEncodings {
			return e, false, refuse("%d encodings", n)
		}
		encodings := make([]int32, n)
		err := binary.Read(in, binary.BigEndian, encodings)
		for _, needed := range []int32{rfb.EncodingZRLE, rfb.EncodingSize, rfb.EncodingName} {
			if err == nil && !slices.Contains(encodings, needed) {
				err = refuse("no encoding %d among the viewer's: it is needed here", needed)
			}
		}
		return e, false, err
	case cutText:
		n := binary.BigEndian.Uint32(head[3:])
		if n > maxOrder {
			return e, false, refuse("an order of %d bytes", n)
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(in, text); err != nil {
			return e, false, err
		}
		e.order = new(order)
		if err := json.Unmarshal(text, e.order); err != nil {
			return e, false, refuse("an order: %w", err)
		}
		return e, true, nil
	}
	return e, false, nil
}
