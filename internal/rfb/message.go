package rfb

import "encoding/binary"

// What viewers send after the handshake (RFC 6143, section 7.5, and extensions). Only its type says
// how long a message is, so all types that a viewer may send must be known:
//
//	type  length      message
//	   0  20          SetPixelFormat
//	   2  4 + 4n      SetEncodings              u8 type, 1 pad, u16 n, n times s32 encoding
//	   3  10          FramebufferUpdateRequest  u8 type, u8 incremental, u16 x, y, width, height
//	   4  8           KeyEvent
//	   5  6 or 7      PointerEvent              buttons.go
//	   6  8 + |n|     ClientCutText             u8 type, 3 pad, s32 n, text; n < 0: extended clipboard
//	7-21  …           UltraVNC's own            ultravnc.go
//	  80  4           UltraVNC's own
//	 150  10          EnableContinuousUpdates
//	 248  9 + n       Fence                     u8 type, 3 pad, u32 flags, u8 n, payload
//	 250  4           xvp                       shut down, reboot, reset
//	 251  8 + 16n     SetDesktopSize            u8 type, 1 pad, u16 width, height, u8 n, 1 pad, screens
//	 253  4 + n       gii                       u8 type, u8 sub-type, u16 n, body; n is little endian unless the
//	                                            highest bit of the sub-type is set
//	 254  4           UltraVNC's own
//	 255  12          QEMU key event            u8 type, u8 0, …
//	 255  4 or 10     QEMU audio                u8 type, u8 1, u16 operation: 0 and 1 are 4 long, 2 is 10
const (
	msgSetPixelFormat          = 0
	msgSetEncodings            = 2
	msgUpdateRequest           = 3
	msgKeyEvent                = 4
	msgPointerEvent            = 5
	msgClientCutText           = 6
	MsgEnableContinuousUpdates = 150
	MsgFence                   = 248
	MsgXVP                     = 250
	msgSetDesktopSize          = 251
	MsgGII                     = 253
	MsgQEMU                    = 255

	qemuKeyEvent = 0
	QEMUAudio    = 1

	giiBigEndian = 0x80
	giiInject    = 0 // sub-type of input events

	requestLen = 10
	maxHead    = 20 // the longest message of a fixed length
)

const (
	// MaxCutText bounds, in bytes, what a viewer puts into the clipboard at once. It is not
	// collected, so the bound only has to stop nonsense; a workstation has a bound of its own.
	MaxCutText = 16 << 20
	// MaxEncodings bounds the list of a viewer. TigerVNC has 33, UltraVNC about as many.
	MaxEncodings = 1024
)

// headLen is how many bytes of the message that begins with b are needed to know its length and how
// to handle it: the whole message, if its length is fixed. 0 means that b does not show it. b is
// not empty.
func headLen(b []byte) int {
	switch b[0] {
	case msgPointerEvent:
		return 6
	case msgUpdateRequest, MsgEnableContinuousUpdates:
		return requestLen
	case msgKeyEvent, msgClientCutText, msgSetDesktopSize:
		return 8
	case MsgFence:
		return 9
	case msgSetEncodings, MsgXVP, MsgGII:
		return 4
	case msgSetPixelFormat:
		return 20
	case MsgQEMU:
		return qemuLen(b)
	}
	return ultraLen(b)
}

// qemuLen is headLen for QEMU's messages.
func qemuLen(b []byte) int {
	if len(b) < 2 {
		return 2
	}
	switch b[1] {
	case qemuKeyEvent:
		return 12
	case QEMUAudio:
		if len(b) < 4 {
			return 4
		}
		switch binary.BigEndian.Uint16(b[2:]) {
		case 0, 1:
			return 4
		case 2:
			return 10
		}
	}
	return 0
}

// bodyLen is how many bytes follow the whole head of a message.
func bodyLen(head []byte) (int64, error) {
	const step = "reading the viewer's messages"
	switch head[0] {
	case msgSetEncodings:
		n := int64(binary.BigEndian.Uint16(head[2:]))
		if n > MaxEncodings {
			return 0, fail(KindTooLong, step, "%d encodings, more than %d", n, MaxEncodings)
		}
		return 4 * n, nil
	case msgClientCutText:
		n := int64(int32(binary.BigEndian.Uint32(head[4:])))
		n = max(n, -n)
		if n > MaxCutText {
			return 0, fail(KindTooLong, step, "a cut text of %d bytes, more than %d", n, MaxCutText)
		}
		return n, nil
	case MsgFence:
		return int64(head[8]), nil
	case msgSetDesktopSize:
		return 16 * int64(head[6]), nil
	case MsgGII:
		if head[1]&giiBigEndian != 0 {
			return int64(binary.BigEndian.Uint16(head[2:])), nil
		}
		return int64(binary.LittleEndian.Uint16(head[2:])), nil
	case msgFileTransfer, msgTextChat:
		n := ultraBody(head)
		if n > maxUltraBody {
			return 0, fail(KindTooLong, step, "%d bytes behind message type %d, more than %d", n, head[0], maxUltraBody)
		}
		return n, nil
	}
	return 0, nil
}

// isInput reports whether a person at the viewer caused the message.
func isInput(head []byte) bool {
	switch head[0] {
	case msgKeyEvent, msgPointerEvent:
		return true
	case MsgQEMU:
		return head[1] == qemuKeyEvent
	case MsgGII:
		return head[1]&^giiBigEndian == giiInject
	}
	return false
}

// goesDown reports whether an input message, but one of the pointer, presses a key. A gii event may be anything.
func goesDown(head []byte) bool {
	switch head[0] {
	case msgKeyEvent:
		return head[1] != 0
	case MsgQEMU:
		return head[2] != 0 || head[3] != 0
	}
	return head[0] == MsgGII
}
