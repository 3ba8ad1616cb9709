package sound

import "encoding/binary"

// codec is what is known of the packets of a stream, in Ogg and in Matroska.
type codec struct {
	rate uint64 // units of time a second
	each uint64 // the most units of a packet; 0: it says how many
}

// An Opus packet begins with a byte that says how many frames it has, and of what size:
//
//	cccccsnn (…mmmmmm)   n: one, two, two, or m frames; c: their size
const (
	opusMark = "OpusHead"
	opusRate = 48_000
	// opusMost is the longest packet, 120 ms.
	opusMost = opusRate * 120 / 1000
)

// opusSizes are the samples of a frame of the modes SILK, hybrid and CELT.
var opusSizes = [3][4]uint64{{480, 960, 1920, 2880}, {480, 960, 480, 960}, {120, 240, 480, 960}}

// The header of a Vorbis stream:
//
//	"\x01vorbis" version:4 channels:1 rate:4 bitrates:12 long:4 short:4 …   blocks as powers of two
//
// A packet adds at most half a long block to what is played.
const (
	vorbisMark  = "\x01vorbis"
	vorbisRate  = len(vorbisMark) + 5
	vorbisBlock = vorbisRate + 16
)

// codecOf reads the header of a stream, and reports whether its codec is known.
func codecOf(header []byte) (c codec, ok bool) {
	switch {
	case len(header) >= len(opusMark) && string(header[:len(opusMark)]) == opusMark:
		return codec{rate: opusRate}, true
	case len(header) > vorbisBlock && string(header[:len(vorbisMark)]) == vorbisMark:
		c = codec{rate: uint64(binary.LittleEndian.Uint32(header[vorbisRate:])), each: 1 << (header[vorbisBlock] >> 4) / 2}
		return c, c.rate > 0 && c.each > 0
	}
	return codec{}, false
}

// most returns the most that a packet lasts.
func (c codec) most() uint64 {
	if c.each > 0 {
		return c.each
	}
	return opusMost
}

// units returns how long a packet lasts that begins with these bytes.
func (c codec) units(b []byte) uint64 {
	if c.each > 0 || len(b) == 0 {
		return c.most()
	}
	mode := opusSizes[0]
	if config := b[0] >> 3; config >= 16 {
		mode = opusSizes[2]
	} else if config >= 12 {
		mode = opusSizes[1]
	}
	frames := uint64(1)
	switch b[0] & 3 {
	case 1, 2:
		frames = 2
	case 3:
		if len(b) < 2 {
			return opusMost
		}
		frames = uint64(b[1] & 0x3F)
	}
	return min(frames*mode[b[0]>>3&3], opusMost)
}
