package sound

import (
	"encoding/binary"
	"slices"
)

// An MP4 file is boxes, some of which have boxes:
//
//	size:4 type:4 (size:8) data   a size of 1: the longer one counts; of 0: to the end of the file
//
//	ftyp  moov { mvhd  trak { tkhd  edts { elst }  mdia { mdhd  hdlr  minf { stbl { stsd  stts  stsz … } } } }
//	mvex { mehd } }  moof { traf { tfhd  trun } }  mdat
//
// Most begin with version:1 flags:3. All numbers are big endian.
const (
	boxHead  = 8
	maxDepth = 8 // of boxes
	// maxDescription bounds the description of a codec.
	maxDescription = 1 << 10

	// aacSamples is how many samples a frame of AAC has at its core's rate. aacFrame is the least size of a
	// frame, in bytes: silence of one channel. Where a frame ends only its decoder knows, and FFmpeg plays all
	// frames that one sample of the file has.
	aacSamples = 1024
	aacFrame   = 4
)

// boxes have others.
var boxes = map[string]bool{
	"moov": true, "trak": true, "edts": true, "mdia": true, "minf": true, "stbl": true, "mvex": true, "moof": true, "traf": true,
}

// vital are names of boxes that count wherever they are: players open more boxes than we do.
var vital = [][]byte{
	[]byte("trak"), []byte("mdhd"), []byte("elst"), []byte("stsd"), []byte("stts"), []byte("stsz"), []byte("stz2"), []byte("trun"), []byte("cmov"),
}

func isVital(name string) bool {
	return slices.ContainsFunc(vital, func(v []byte) bool { return string(v) == name })
}

// silent are the handlers of tracks without sound.
var silent = map[string]bool{"vide": true, "text": true, "subt": true, "sbtl": true, "tmcd": true, "meta": true}

// movie is a file that is read.
type movie struct {
	in     *input
	scale  uint64 // of the movie's times, a second
	ticks  uint64 // the longest of them
	tracks []*mp4Track
	track  *mp4Track // the one that is read
}

// mp4Track is a track. What could be said twice is the longest.
type mp4Track struct {
	id        uint64
	scale     uint64 // of its times, a second
	said      uint64 // its duration
	times     sum    // of its samples
	edits     sum    // in the movie's times
	frames    sum    // of AAC that its samples can have
	rate      uint64 // of AAC; 0: another codec
	handler   string // what kind of track it is
	described bool   // its codec was read
	usual     sample // of fragments that do not say it
	now       sample // of the fragment that is read
}

// sample is how long a sample is, and how many bytes it has.
type sample struct{ time, size uint64 }

// readMP4 takes the longest of what the file says, of the times of its samples and of their frames.
func readMP4(in *input) Length {
	m := movie{in: in}
	if !m.boxes(unknown, 0) || m.scale == 0 || len(m.tracks) == 0 {
		return Length{}
	}
	l := Length{Millis: millis(m.ticks, m.scale), Bounded: true}
	for _, t := range m.tracks {
		l.Millis = max(l.Millis, millis(t.said, t.scale), millis(uint64(t.times), t.scale), millis(uint64(t.edits), m.scale))
		if !silent[t.handler] {
			l.Millis = max(l.Millis, millis(uint64(t.frames), t.rate))
			l.Bounded = l.Bounded && t.rate > 0
		}
	}
	return l
}

func isMP4(in *input) bool {
	b := in.peek(boxHead)
	return len(b) == boxHead && string(b[4:]) == "ftyp"
}

// The description of AAC is in "stsd", all of it:
//
//	entries:4 size:4 "mp4a" … version:2 … rate:4 boxes   rate at byte 36, the boxes from byte 40 on
//	size:4 "esds" version:4 and descriptors, each in the one before: tag:1 size:1-4 …
//	   3 id:2 flags:1   4 type:1 …:12   5 object:5 rate:4 channels:4 (rate:4 object:5) …
const (
	soundRate  = 36
	soundBoxes = 40
	mpeg4AAC   = 0x40
	objectAAC  = 2
	objectSBR  = 5
	objectPS   = 29
)

var aacRates = [...]uint64{96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350}

// aacRate returns the sample rate of the core of AAC that is described, 0 if it is none.
func aacRate(b []byte) uint64 {
	if len(b) < soundBoxes || binary.BigEndian.Uint32(b) != 1 || int(binary.BigEndian.Uint32(b[4:])) != len(b)-4 || string(b[8:12]) != "mp4a" ||
		binary.BigEndian.Uint16(b[20:]) != 0 {
		return 0
	}
	var esds []byte
	for rest := b[soundBoxes:]; len(rest) >= boxHead; {
		size := int(binary.BigEndian.Uint32(rest))
		if size < boxHead || size > len(rest) {
			return 0
		}
		if string(rest[4:8]) == "esds" {
			if esds != nil || size < boxHead+4 {
				return 0
			}
			esds = rest[boxHead+4 : size]
		}
		rest = rest[size:]
	}
	stream := descriptor(esds, 3)
	if len(stream) < 3 || stream[2]&0xE0 != 0 {
		return 0
	}
	decoder := descriptor(stream[3:], 4)
	if len(decoder) < 13 || decoder[0] != mpeg4AAC {
		return 0
	}
	rate := coreRate(descriptor(decoder[13:], 5))
	if outside := uint64(binary.BigEndian.Uint16(b[soundRate:])); outside > 0 {
		rate = min(rate, outside)
	}
	return rate
}

// descriptor returns the data of the descriptor with a tag that is at the start; nil if there is another one.
func descriptor(b []byte, tag byte) []byte {
	if len(b) == 0 || b[0] != tag {
		return nil
	}
	size := 0
	for i, c := range b[1:min(5, len(b))] {
		if size = size<<7 | int(c&0x7F); c < 0x80 {
			rest := b[i+2:]
			return rest[:min(size, len(rest))]
		}
	}
	return nil
}

// coreRate returns the sample rate of AAC of low complexity, also of what is spread to twice the rate.
func coreRate(config []byte) uint64 {
	bits := binary.BigEndian.Uint64(append(slices.Clip(config), make([]byte, 8)...))
	next := func(n int) uint64 {
		value := bits >> (64 - n)
		bits <<= n
		return value
	}
	object, rate := next(5), next(4)
	if next(4); object == objectSBR || object == objectPS {
		if next(4) == 15 {
			return 0
		}
		object = next(5)
	}
	if object != objectAAC || rate >= uint64(len(aacRates)) {
		return 0
	}
	return aacRates[rate]
}
