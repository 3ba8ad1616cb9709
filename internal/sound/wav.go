package sound

import (
	"bytes"
	"encoding/binary"
)

// A WAV file is chunks, one after the other:
//
//	RIFF size WAVE
//	fmt  size  kind:2 channels:2 rate:4 bytes-a-second:4 bytes-a-frame:2 bits:2 …  kind of WAVE_FORMAT_EXTENSIBLE at 24
//	data size  frames
//
// All numbers are little endian. A chunk of an odd size has a byte behind it that does not count.
const (
	wavHead      = 12
	chunkHead    = 8
	formatSize   = 16
	maxFormat    = 1 << 10
	subKind      = 24
	kindPCM      = 1
	kindFloat    = 3
	kindALaw     = 6
	kindMuLaw    = 7
	kindExtended = 0xFFFE

	// endless is the least size of samples whose end the writer did not know: programs that write to a
	// pipe have 0x7FFFF000, 0x7FFFFFFF or 0xFFFFFFFF.
	endless = 0x7FFF_0000
)

func isWAV(in *input) bool {
	head := in.peek(wavHead)
	return len(head) == wavHead && string(head[:4]) == "RIFF" && string(head[8:]) == "WAVE"
}

// readWAV reads the chunks. The samples end where their chunk says or with the file, whichever is longer.
func readWAV(in *input) Length {
	in.skip(wavHead)
	l, rate, size, start := Length{Bounded: true}, uint64(0), uint64(0), uint64(0)
	for !in.ended() {
		head := in.take(chunkHead)
		if head == nil { // a few bytes behind the last chunk
			in.skip(chunkHead)
			break
		}
		name, n := string(head[:4]), uint64(binary.LittleEndian.Uint32(head[4:]))
		switch {
		case name == "fmt " && rate == 0 && n >= formatSize && n < maxFormat:
			format := in.take(int(n + n&1))
			if format == nil {
				return Length{}
			}
			rate, l.Bounded = samplesOf(format, l.Bounded)
		case name == "data" && rate > 0 && start == 0:
			start = in.offset
			if n == 0 || n >= endless {
				l.Bounded = passSamples(in, 1<<63) && l.Bounded
				break
			}
			size = n
			l.Bounded = passSamples(in, n+n&1) && l.Bounded
		case name == "fmt ", name == "data", n&1 == 1 && start == 0: // readers differ in which one counts
			l.Bounded = false
			in.skip(n + n&1)
		default:
			in.skip(n + n&1)
		}
	}
	if start > 0 {
		l.Millis = millis(max(size, in.offset-start), rate)
	}
	return l
}

// samplesOf returns how many bytes of samples a second has, the least of what the format says of it.
func samplesOf(format []byte, bounded bool) (perSecond uint64, ok bool) {
	word := func(at int) uint64 { return uint64(binary.LittleEndian.Uint16(format[at:])) }
	long := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(format[at:])) }
	kind := word(0)
	if kind == kindExtended && len(format) >= subKind+2 {
		kind = word(subKind)
	}
	perSecond = long(8)
	switch kind {
	case kindPCM, kindFloat, kindALaw, kindMuLaw:
		frame := min(word(12), word(2)*((word(14)+7)/8))
		perSecond = min(perSecond, long(4)*frame)
		return perSecond, bounded && perSecond > 0
	}
	return perSecond, false
}

// syncWords begin the frames of DTS, Dolby TrueHD, MLP and IEC 61937. A player may look for them in samples.
var syncWords = [][]byte{
	[]byte("\x7F\xFE\x80\x01"), []byte("\xFE\x7F\x01\x80"), []byte("\x1F\xFF\xE8\x00"), []byte("\xFF\x1F\x00\xE8"), []byte("\x64\x58\x20\x25"),
	[]byte("\xF8\x72\x6F\xBA"), []byte("\xF8\x72\x6F\xBB"), []byte("\x72\xF8\x1F\x4E"),
}

// maxSyncWords is how many of them are chance.
const maxSyncWords = 3

// passSamples reads samples, and reports whether they are no frames of another codec: FFmpeg plays such
// frames, which may be a thousand times longer, instead of the samples.
func passSamples(in *input, n uint64) bool {
	plain := !beginsFrames(bytes.TrimLeft(in.peek(window), "\x00"))
	return in.pass(n, syncWords) <= maxSyncWords && plain
}

// beginsFrames reports whether bytes begin with frames of MPEG audio, AAC (ADTS or LOAS) or AC-3.
func beginsFrames(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	switch {
	case b[0] == 0xFF && b[1]&0xF6 == 0xF0, b[0] == 0x56 && b[1]&0xE0 == 0xE0, b[0] == 0x0B && b[1] == 0x77, b[0] == 0x77 && b[1] == 0x0B:
		return true
	}
	return chained(b) >= 3
}
