//go:build linux

package main

import "encoding/binary"

// The part of RFB 3.8 (RFC 6143) that both ends of this bench use, and the viewer's VeNCrypt 0.2.
// All integers are big endian.
//
//	server  "RFB 003.008\n"                 viewer the same
//	server  01 | type                       viewer type       None (1); from a gateway in clear: VeNCrypt (19)
//	        VeNCrypt only: server 00 02     viewer 00 02      version 0.2
//	                       server 00        n, n x u32        accepted; subtypes
//	                       viewer u32       server 01         X509None (260); then TLS with the token as SNI
//	server  u32 0                           SecurityResult; 1 is followed by u32 length and a reason
//	viewer  01                              ClientInit: shared
//	server  u16 width | u16 height | 16 bytes pixel format | u32 length | name
const (
	rfbVersion = "RFB 003.008\n"

	securityNone     = 1
	securityVeNCrypt = 19
	subtypeX509None  = 260

	formatBytes   = 16
	serverInitLen = 2 + 2 + formatBytes + 4 // without the name
)

// Messages after ServerInit.
//
//	viewer  00 | 3 pad | 16 pixel format                               SetPixelFormat
//	        02 | pad | u16 n | n x u32                                 SetEncodings
//	        03 | incremental | u16 x | u16 y | u16 w | u16 h           FramebufferUpdateRequest
//	        04 | down | 2 pad | u32 key                                KeyEvent
//	        05 | buttons | u16 x | u16 y                               PointerEvent
//	        06 | 3 pad | u32 n | n bytes                               ClientCutText
//	server  00 | pad | u16 n | n x (u16 x | u16 y | u16 w | u16 h | u32 encoding | pixels)   FramebufferUpdate
const (
	msgSetPixelFormat   = 0
	msgSetEncodings     = 2
	msgUpdateRequest    = 3
	msgKeyEvent         = 4
	msgPointerEvent     = 5
	msgClientCutText    = 6
	msgFrameBuffer      = 0
	encodingRaw         = 0
	encodingTight       = 7
	updateHeadLen       = 4
	rectangleLen        = 12
	pointerEventLen     = 6
	maxEncodings        = 64
	maxCutText          = 4 << 10
	maxReason           = 1 << 10
	maxDesktopName      = 256
	screenWidth         = 1280
	screenHeight        = 720
	bytesPerPixel       = 4
	rectanglesPerUpdate = 2
)

// A PointerEvent is also the command of a viewer of this bench to the desktop.
//
//	buttons 0    answer with the one pixel under the pointer
//	buttons 1    send x frames of frameLen bytes
const (
	buttonsEcho   = 0
	buttonsFrames = 1

	echoLen   = updateHeadLen + rectangleLen + bytesPerPixel
	frameLen  = updateHeadLen + rectanglesPerUpdate*(rectangleLen+screenWidth*screenHeight*bytesPerPixel)
	maxFrames = 64
)

// appendPointer appends a PointerEvent.
func appendPointer(dst []byte, buttons byte, x, y uint16) []byte {
	dst = append(dst, msgPointerEvent, buttons)
	dst = binary.BigEndian.AppendUint16(dst, x)
	return binary.BigEndian.AppendUint16(dst, y)
}

// appendRectangle appends the head of a raw rectangle, which its pixels follow.
func appendRectangle(dst []byte, x, y, w, h uint16) []byte {
	for _, v := range []uint16{x, y, w, h} {
		dst = binary.BigEndian.AppendUint16(dst, v)
	}
	return binary.BigEndian.AppendUint32(dst, encodingRaw)
}

// appendEcho appends the update that answers a pointer at x, y.
func appendEcho(dst []byte, x, y uint16) []byte {
	dst = append(dst, msgFrameBuffer, 0, 0, 1)
	dst = appendRectangle(dst, x, y, 1, 1)
	return binary.BigEndian.AppendUint32(dst, uint32(x)<<16|uint32(y))
}

// newFrame returns one FramebufferUpdate of frameLen bytes: whole screens of pixels that do not
// repeat within a TLS record.
func newFrame() []byte {
	frame := make([]byte, 0, frameLen)
	frame = append(frame, msgFrameBuffer, 0, 0, rectanglesPerUpdate)
	pixel := uint32(1)
	for range rectanglesPerUpdate {
		frame = appendRectangle(frame, 0, 0, screenWidth, screenHeight)
		for range screenWidth * screenHeight {
			pixel = pixel*1664525 + 1013904223
			frame = binary.BigEndian.AppendUint32(frame, pixel)
		}
	}
	return frame
}

// serverInit is the desktop's ServerInit message.
func serverInit() []byte {
	// 32 bits a pixel, depth 24, little endian, true colour.
	format := [formatBytes]byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0}
	const name = "bench"
	b := binary.BigEndian.AppendUint16(nil, screenWidth)
	b = binary.BigEndian.AppendUint16(b, screenHeight)
	b = append(b, format[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
	return append(b, name...)
}
