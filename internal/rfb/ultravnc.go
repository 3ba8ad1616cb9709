package rfb

import "encoding/binary"

// Messages that only the servers of UltraVNC and libvncserver understand (rfbproto.h of both):
//
//	type  length   message
//	   7  12 + n   FileTransfer   u8 type, u8 content, 2 param, u32 size, u32 n, body; see ultraBody
//	   8  4        SetScale
//	   9  4        SetServerInput
//	  10  6        SetSW
//	  11  8 + n    TextChat       u8 type, 3 pad, u32 n, text; the three highest n have no text
//	  13  1        KeepAlive
//	  15  4        SetScaleFactor, of PalmVNC
//	  20  1        RequestSession
//	  21  2        SetSession
//	  80  4        NotifyPluginStreaming
//	 254  4        SetMonitor
//
// UltraVNC's viewer sends them to any server when its user presses a button. They are read and
// never passed on: other servers end the connection at such a message, and libvncserver does so at
// a FileTransfer that it does not permit.
const (
	msgFileTransfer    = 7
	msgSetScale        = 8
	msgSetServerInput  = 9
	msgSetSW           = 10
	msgTextChat        = 11
	msgKeepAlive       = 13
	msgSetScaleFactor  = 15
	msgRequestSession  = 20
	msgSetSession      = 21
	msgPluginStreaming = 80
	msgSetMonitor      = 254

	firstChatCommand    = 0xfffffffd // finished; above it are close and open
	filePacketUnchanged = 2          // the size of a packet that has a length but no body

	// maxUltraBody bounds, in bytes, a text or a block of a file: UltraVNC sends at most 16 KiB of
	// one and 33 KiB of the other.
	maxUltraBody = 64 << 10
)

var ultraTypes = [...]byte{msgFileTransfer, msgSetScale, msgSetServerInput, msgSetSW, msgTextChat, msgKeepAlive,
	msgSetScaleFactor, msgRequestSession, msgSetSession, msgPluginStreaming, msgSetMonitor}

// The contents of FileTransfer that a viewer sends.
const (
	fileDirectoryRequest = 1
	fileRequest          = 3
	fileHeader           = 4
	filePacket           = 5
	fileEnd              = 6
	fileAbort            = 7 // also the request for permission
	fileOffer            = 8
	fileCommand          = 10
	fileChecksums        = 12
	fileAccess           = 14
	fileSessionStart     = 15
	fileSessionEnd       = 16
)

// ultraLen is headLen for these messages.
func ultraLen(b []byte) int {
	switch b[0] {
	case msgKeepAlive, msgRequestSession:
		return 1
	case msgSetSession:
		return 2
	case msgSetScale, msgSetServerInput, msgSetScaleFactor, msgPluginStreaming, msgSetMonitor:
		return 4
	case msgSetSW:
		return 6
	case msgTextChat:
		return 8
	case msgFileTransfer:
		if len(b) < 2 {
			return 2
		}
		switch b[1] {
		case fileDirectoryRequest, fileRequest, fileHeader, filePacket, fileEnd, fileAbort, fileOffer, fileCommand,
			fileChecksums, fileAccess, fileSessionStart, fileSessionEnd:
			return 12
		}
	}
	return 0
}

// ultraBody is how many bytes follow the head of a FileTransfer or a TextChat. UltraVNC does not
// set the length of contents without a body.
func ultraBody(head []byte) int64 {
	if head[0] == msgTextChat {
		n := binary.BigEndian.Uint32(head[4:])
		if n >= firstChatCommand {
			return 0
		}
		return int64(n)
	}
	size, n := binary.BigEndian.Uint32(head[4:]), int64(binary.BigEndian.Uint32(head[8:]))
	switch head[1] {
	case fileDirectoryRequest, fileRequest, fileCommand, fileChecksums:
		return n
	case filePacket:
		if size != filePacketUnchanged {
			return n
		}
	case fileOffer:
		const sizeHigh = 4 // the upper half of the file's size comes behind its name
		return n + sizeHigh
	}
	return 0
}
