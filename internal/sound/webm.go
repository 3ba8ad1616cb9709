package sound

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
)

// A WebM file is elements of EBML:
//
//	id:1-4 size:1-8 data   the leading zeros of the first byte of an id or a size say how many more it has
//
// A size of ones only is unknown: the element ends where one begins that cannot be in it. A block is
//
//	track:1-8 time:2 flags:1 (frames:1 …) data   the number of frames only with lacing
const (
	ebmlMark = "\x1A\x45\xDF\xA3"

	idEBML          = 0x1A45DFA3
	idSegment       = 0x18538067
	idInfo          = 0x1549A966
	idScale         = 0x2AD7B1 // nanoseconds of a tick
	idDuration      = 0x4489   // ticks, a float
	idTracks        = 0x1654AE6B
	idTrack         = 0xAE
	idTrackNumber   = 0xD7
	idCodec         = 0x86
	idCodecPrivate  = 0x63A2
	idEncodings     = 0x6D80 // compression and encryption of frames
	idCluster       = 0x1F43B675
	idTimestamp     = 0xE7
	idSimpleBlock   = 0xA3
	idGroup         = 0xA0
	idBlock         = 0xA1
	idBlockDuration = 0x9B

	levelOne   = 0x10000000 // the ids from here on are of a segment and what it has
	usualScale = 1_000_000
	second     = 1_000_000_000
	lacing     = 0x06
	unknown    = math.MaxUint64

	// maxTracks and maxText bound what is kept of the tracks.
	maxTracks = 16
	maxText   = 256
)

// within has the elements that are opened, each by the one that it is in; 0 is the file.
var within = map[uint64]uint64{
	idSegment: 0, idInfo: idSegment, idTracks: idSegment, idTrack: idTracks, idCluster: idSegment, idGroup: idCluster,
}

// webm is a file that is read.
type webm struct {
	in      *input
	scale   uint64
	said    float64 // the duration, in ticks
	cluster uint64  // its time, in ticks
	block   uint64  // the time of the last block, in ticks
	end     int64   // the latest end of a block, in milliseconds
	begun   bool    // there was a block
	tracks  map[uint64]*webmTrack
	track   *webmTrack // the one that is described
}

type webmTrack struct {
	codec
	number uint64
	name   string
	vorbis codec
	sealed bool // its frames are compressed or encrypted
	silent bool // it has no sound
	length sum
}

// readWebM takes the longest of what the file says, and of the frames and the times of its blocks.
func readWebM(in *input) Length {
	w := webm{in: in, scale: usualScale, tracks: map[uint64]*webmTrack{}}
	if !w.elements(0, unknown) {
		return Length{}
	}
	l := Length{Millis: w.end, Bounded: true}
	if said := w.said * float64(w.scale) / second * 1000; said > 0 {
		l.Millis = max(l.Millis, int64(min(math.Ceil(said), maxMillis)))
	}
	for _, t := range w.tracks {
		if !t.silent {
			l.Millis = max(l.Millis, millis(uint64(t.length), t.rate))
		}
	}
	return l
}

// elements reads the elements of another one, and reports whether all were understood.
func (w *webm) elements(parent, end uint64) bool {
	for w.in.offset < end && (end != unknown || !w.in.ended()) {
		id, n, _ := vint(w.in.peek(8), false)
		if n == 0 || n > 4 {
			return false
		}
		if end == unknown && parent == idCluster && id >= levelOne {
			return true
		}
		head := w.in.peek(n + 8)
		size, m, endless := vint(head[n:], true)
		if m == 0 {
			return false
		}
		w.in.skip(uint64(n + m))
		last := w.in.offset + size
		if holder, opens := within[id]; opens && holder == parent {
			if endless && (id == idSegment || id == idCluster) {
				last = unknown
			} else if endless || last > end {
				return false
			}
			if !w.open(id, last) {
				return false
			}
		} else if opens || endless || last > end || id == idEBML && parent != 0 || !w.element(id, parent, size) || !w.in.skip(last-w.in.offset) {
			return false
		}
	}
	return w.in.offset == end || end == unknown
}

// open reads an element that has others.
func (w *webm) open(id, end uint64) bool {
	switch id {
	case idSegment: // players of several in one file add them up, or do not
		if w.tracks == nil || w.begun {
			return false
		}
	case idTrack:
		w.track = new(webmTrack)
		return w.elements(id, end) && w.described()
	}
	return w.elements(id, end)
}

// described keeps the track that was read, and reports whether its frames can be counted.
func (w *webm) described() bool {
	t := w.track
	switch {
	case t.name == "A_OPUS":
		t.codec = codec{rate: opusRate}
	case t.name == "A_VORBIS":
		t.codec = t.vorbis
	default:
		t.silent = strings.HasPrefix(t.name, "V_") || strings.HasPrefix(t.name, "S_")
	}
	if w.tracks[t.number] != nil || len(w.tracks) == maxTracks || t.sealed || !t.silent && t.rate == 0 {
		return false
	}
	w.tracks[t.number] = t
	return true
}

// element reads what an element says, and reports whether that can be.
func (w *webm) element(id, parent, size uint64) bool {
	switch {
	case parent == idInfo && id == idScale:
		scale, ok := w.number(size)
		w.scale = scale
		return ok && !w.begun
	case parent == idInfo && id == idDuration:
		bits, ok := w.number(size)
		if w.said = math.Float64frombits(bits); size == 4 {
			w.said = float64(math.Float32frombits(uint32(bits)))
		}
		return ok
	case parent == idTrack && id == idTrackNumber:
		n, ok := w.number(size)
		once := w.track.number == 0
		w.track.number = n
		return ok && once
	case parent == idTrack && id == idCodec:
		once := w.track.name == ""
		w.track.name = strings.TrimRight(string(w.text(size)), "\x00")
		return size < maxText && once
	case parent == idTrack && id == idCodecPrivate:
		text := w.text(size)
		once := w.track.vorbis == codec{}
		w.track.vorbis, _ = codecOf(text[max(0, bytes.Index(text, []byte(vorbisMark))):])
		return once
	case parent == idTrack && id == idEncodings:
		w.track.sealed = true
	case parent == idCluster && id == idTimestamp:
		n, ok := w.number(size)
		w.cluster = n
		return ok && n < 1<<62
	case parent == idCluster && id == idSimpleBlock, parent == idGroup && id == idBlock:
		return w.frames(size)
	case parent == idGroup && id == idBlockDuration:
		n, ok := w.number(size)
		w.end = max(w.end, w.at(w.block)+w.at(n))
		return ok
	}
	return true
}

// frames counts the frames of a block.
func (w *webm) frames(size uint64) bool {
	b := w.in.peek(int(min(size, 16)))
	number, n, _ := vint(b, true)
	t := w.tracks[number]
	if n == 0 || len(b) < n+3 || t == nil {
		return false
	}
	time, flags, b := int16(binary.BigEndian.Uint16(b[n:])), b[n+2], b[n+3:]
	w.block, w.begun = uint64(max(int64(w.cluster)+int64(time), 0)), true
	w.end = max(w.end, w.at(w.block))
	if t.silent {
		return true
	}
	units := t.units(b)
	if flags&lacing != 0 {
		if len(b) == 0 {
			return false
		}
		units = (uint64(b[0]) + 1) * t.most()
	}
	t.length.add(1, units)
	w.end = max(w.end, w.at(w.block)+millis(units, t.rate))
	return true
}

// at returns a time in milliseconds.
func (w *webm) at(ticks uint64) int64 {
	var s sum
	s.add(ticks, w.scale)
	return millis(uint64(s), second)
}

// number reads the whole of a number, whose kind does not matter.
func (w *webm) number(size uint64) (n uint64, ok bool) {
	if size > 8 {
		return 0, false
	}
	for _, c := range w.in.take(int(size)) {
		n = n<<8 | uint64(c)
	}
	return n, true
}

// text returns the first bytes of an element.
func (w *webm) text(size uint64) []byte { return w.in.peek(int(min(size, maxText))) }

// vint reads an id or a size, of which an id keeps the mark of its length, and returns how many bytes it
// has, 0 if it is none. All reports whether it has ones only.
func vint(b []byte, plain bool) (value uint64, n int, all bool) {
	if len(b) == 0 || b[0] == 0 {
		return 0, 0, false
	}
	if n = bits.LeadingZeros8(b[0]) + 1; len(b) < n {
		return 0, 0, false
	}
	for _, c := range b[:n] {
		value = value<<8 | uint64(c)
	}
	if mark := uint64(1) << (7 * n); plain {
		value &^= mark
		all = value == mark-1
	}
	return value, n, all
}
