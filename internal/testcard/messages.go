package testcard

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"image"
)

// Messages of viewers (RFC 6143, section 7.5, and the community's list of extensions). Those
// without a meaning for a card are passed over by their length; any other type ends the connection,
// for its length is not known.
//
//	  0  SetPixelFormat            3 bytes, pixel format
//	  2  SetEncodings              1 byte, u16 n, n × s32
//	  3  FramebufferUpdateRequest  u8 incremental, u16 x, u16 y, u16 width, u16 height
//	  4  KeyEvent                  u8 down, 2 bytes, u32 keysym
//	  5  PointerEvent              u8 buttons, u16 x, u16 y
//	  6  ClientCutText             3 bytes, s32 n, |n| bytes (n < 0: extended clipboard)
//	150  EnableContinuousUpdates   9 bytes
//	248  ClientFence               7 bytes, u8 n, n bytes
//	250  xvp                       3 bytes
//	251  SetDesktopSize            5 bytes, u8 n, 1 byte, n × 16 bytes
//	252  gii                       1 byte, u16 n, n bytes
//	255  QEMU                      u8 0, 10 bytes (a key); u8 1, u16 operation, 6 bytes if that is 2 (audio)
const (
	setPixelFormat          = 0
	setEncodings            = 2
	updateRequest           = 3
	keyEvent                = 4
	pointerEvent            = 5
	cutText                 = 6
	enableContinuousUpdates = 150
	fence                   = 248
	xvp                     = 250
	setDesktopSize          = 251
	gii                     = 252
	qemu                    = 255

	qemuKey         = 0
	qemuAudio       = 1
	qemuAudioFormat = 2

	maxEncodings = 1024
	maxCutText   = 1 << 20 // bytes, passed over without keeping them
)

// Encodings that a card looks for.
const (
	encodingRaw   = 0
	encodingTight = 7

	// Levels 0 to 9 of JPEG's quality.
	encodingQuality0, encodingQuality9 = -32, -23
)

// read takes the viewer's messages until the connection ends or one is wrong.
func (s *session) read(r *bufio.Reader) error {
	for {
		kind, err := r.ReadByte()
		if err != nil {
			return errGone
		}
		if err := s.message(r, kind); err != nil {
			return err
		}
	}
}

func (s *session) message(r *bufio.Reader, kind byte) error {
	switch kind {
	case setPixelFormat:
		return s.setPixelFormat(r)
	case setEncodings:
		return s.setEncodings(r)
	case updateRequest:
		return s.request(r)
	case keyEvent, pointerEvent:
		return s.event(r, kind)
	default:
		return passOver(r, kind)
	}
}

func (s *session) setPixelFormat(r *bufio.Reader) error {
	var p [3 + pixelFormatSize]byte
	if err := readFull(r, p[:]); err != nil {
		return err
	}
	f, err := readPixelFormat([pixelFormatSize]byte(p[3:]))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.encoding.format = f
	return nil
}

func (s *session) setEncodings(r *bufio.Reader) error {
	var p [4]byte
	if err := readFull(r, p[:3]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint16(p[1:])
	if n > maxEncodings {
		return fmt.Errorf("%d encodings, more than %d", n, maxEncodings)
	}
	tight, quality := false, noJPEG
	for range n {
		if err := readFull(r, p[:]); err != nil {
			return err
		}
		switch e := int(int32(binary.BigEndian.Uint32(p[:]))); {
		case e == encodingTight:
			tight = true
		case e >= encodingQuality0 && e <= encodingQuality9:
			quality = e - encodingQuality0
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.encoding.tight, s.encoding.quality = tight, quality
	return nil
}

// request notes what the viewer waits for, parts outside the picture left out.
func (s *session) request(r *bufio.Reader) error {
	var p [9]byte
	if err := readFull(r, p[:]); err != nil {
		return err
	}
	at := func(i int) int { return int(binary.BigEndian.Uint16(p[i:])) }
	area := image.Rect(at(1), at(3), at(1)+at(5), at(3)+at(7)).Intersect(s.card.bounds)
	if area.Empty() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p[0] == 0 {
		s.dirty = add(s.dirty, area)
	}
	s.asked = s.asked.Union(area)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

func (s *session) event(r *bufio.Reader, kind byte) error {
	p := make([]byte, 7)
	if kind == pointerEvent {
		p = p[:5]
	}
	if err := readFull(r, p); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind == pointerEvent {
		x, y := int(binary.BigEndian.Uint16(p[1:])), int(binary.BigEndian.Uint16(p[3:]))
		s.input.pointed = true
		s.input.buttons = p[0]
		s.input.pointer = image.Pt(min(x, s.card.bounds.Max.X-1), min(y, s.card.bounds.Max.Y-1))
	} else if p[0] != 0 {
		s.input.key = binary.BigEndian.Uint32(p[3:])
	}
	return nil
}

// passOver reads a message that has no meaning here: a head of fixed length, and as much as it
// says.
func passOver(r *bufio.Reader, kind byte) error {
	head := map[byte]int{cutText: 7, enableContinuousUpdates: 9, fence: 8, xvp: 3, setDesktopSize: 7, gii: 3, qemu: 3}[kind]
	if head == 0 {
		return fmt.Errorf("message of unknown type %d", kind)
	}
	p := make([]byte, head)
	if err := readFull(r, p); err != nil {
		return err
	}
	rest := 0
	switch kind {
	case cutText:
		n := int64(int32(binary.BigEndian.Uint32(p[3:])))
		if n = max(n, -n); n > maxCutText {
			return fmt.Errorf("cut text of %d bytes, more than %d", n, maxCutText)
		}
		rest = int(n)
	case fence:
		rest = int(p[7])
	case setDesktopSize:
		rest = 16 * int(p[5])
	case gii:
		rest = int(binary.BigEndian.Uint16(p[1:]))
	case qemu:
		switch {
		case p[0] == qemuKey:
			rest = 8
		case p[0] != qemuAudio:
			return fmt.Errorf("QEMU message of unknown type %d", p[0])
		case binary.BigEndian.Uint16(p[1:]) == qemuAudioFormat:
			rest = 6
		}
	}
	if _, err := r.Discard(rest); err != nil {
		return errGone
	}
	return nil
}
