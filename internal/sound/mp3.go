package sound

import (
	"bytes"
	"encoding/binary"
)

// An MP3 file is frames, one after the other, with tags before and behind. A frame begins with its header:
//
//	11111111 111vvllp bbbbrrxx …   v version, l layer, b bitrate, r sample rate, x a byte more
//
// A tag of ID3v2 is "ID3" version:2 flags:1 size:4, with seven bits in each byte of the size.
const (
	mpegHead  = 4
	tagHead   = 10
	tagFooter = 0x10

	// maxFrame is more bytes than a frame has: layer II has 2,881 at 8 kHz. A power of two.
	maxFrame = 4096
	// freeFrame is the least size of a frame whose header does not say its bitrate.
	freeFrame = 13
	// sureFrames is after how many frames at the start every reader takes a file for MP3.
	sureFrames = 7
	// mpegTicks are units of time that all sample rates divide, in a second.
	mpegTicks = 14_112_000
)

// Kilobits a second of the layers of MPEG 1, and of 2 and 2.5.
var (
	mpeg1 = [3][15]int{
		{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
		{0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
		{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	}
	mpeg2 = [3][15]int{
		{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
	}
	mpegRates = [3]int{44_100, 48_000, 32_000}
)

// mpegFrame is what the header of a frame says.
type mpegFrame struct {
	size  int    // in bytes; the least if the header does not say it
	ticks uint64 // how long it lasts
	bits  int    // a second; 0 if the header does not say it
}

// frameOf reads the header of a frame. The size is 0 for what is none.
func frameOf(b []byte) (f mpegFrame) {
	if len(b) < mpegHead || b[0] != 0xFF || b[1] < 0xE0 {
		return f
	}
	version, layer, bitrate, rate := b[1]>>3&3, 4-b[1]>>1&3, b[2]>>4, b[2]>>2&3
	if version == 1 || layer == 4 || bitrate == 15 || rate == 3 {
		return f
	}
	table, hertz, samples := &mpeg1, mpegRates[rate], [...]int{384, 1152, 1152}[layer-1]
	if version != 3 {
		table, hertz = &mpeg2, hertz>>(2-version/2)
		if layer == 3 {
			samples = 576
		}
	}
	f.ticks = uint64(samples * (mpegTicks / hertz))
	if f.bits = table[layer-1][bitrate] * 1000; f.bits == 0 {
		f.size = freeFrame
		return f
	}
	padding, slot := int(b[2]>>1&1), 1
	if layer == 1 {
		slot = 4
	}
	f.size = (samples/8/slot*f.bits/hertz + padding) * slot
	return f
}

// chained returns how many frames follow one another from the start, at least sureFrames if nothing else does.
func chained(b []byte) (frames int) {
	for len(b) >= mpegHead && frames < sureFrames {
		f := frameOf(b)
		if f.bits == 0 {
			return frames
		}
		frames++
		if f.size >= len(b) {
			return max(frames, sureFrames)
		}
		b = b[f.size:]
	}
	return frames
}

func isMP3(in *input) bool {
	b := in.peek(mpegHead)
	return len(b) == mpegHead && (string(b[:3]) == "ID3" || frameOf(b).bits > 0)
}

// readMP3 takes the longest of all chains of frames: decoders differ in where they find the next frame
// after something that is none. What the first frame says of the whole file is a reading, too.
func readMP3(in *input) Length {
	l := Length{Bounded: passTags(in)}
	for b := in.peek(1); len(b) == 1 && b[0] == 0; b = in.peek(1) {
		in.skip(1)
	}
	head := in.peek(sureFrames * maxFrame)
	l.Bounded = l.Bounded && chained(head) >= sureFrames
	first := frameOf(head)
	said := framesSaid(head[:min(first.size, len(head))])
	start, at := in.offset, 0
	var longest [maxFrame]uint64 // of a chain that ends there, by the last bits of the place
	in.scan(1<<63, mpegHead, func(b []byte) {
		here, next := &longest[at%maxFrame], &longest[(at+1)%maxFrame]
		*next = max(*next, *here)
		if f := frameOf(b); f.size > 0 {
			end := &longest[(at+f.size)%maxFrame]
			*end = max(*end, *here+f.ticks)
		}
		*here = 0
		at++
	})
	most := uint64(0)
	for _, ticks := range longest { // the last frame may go beyond the end
		most = max(most, ticks)
	}
	l.Millis = millis(most, mpegTicks)
	switch {
	case said > 0:
		l.Millis = max(l.Millis, millis(said*first.ticks, mpegTicks))
	case first.bits > 0:
		l.Millis = max(l.Millis, millis((in.offset-start)*8, uint64(first.bits)))
	}
	return l
}

// passTags reads the tags before the first frame, and reports whether readers agree on where they end.
func passTags(in *input) bool {
	for {
		head := in.peek(tagHead)
		if len(head) < tagHead || string(head[:3]) != "ID3" {
			return true
		}
		size := uint64(tagHead)
		if head[5]&tagFooter != 0 {
			size += tagHead
		}
		if (head[6]|head[7]|head[8]|head[9])&0x80 != 0 {
			return false
		}
		size += uint64(head[6])<<21 | uint64(head[7])<<14 | uint64(head[8])<<7 | uint64(head[9])
		in.skip(size)
	}
}

// framesSaid returns how many frames the file has, if its first one says so and is no sound: as "Xing" or
// "Info" flags:4 frames:4, or "VBRI" and ten bytes before the number.
func framesSaid(first []byte) uint64 {
	for _, mark := range []struct {
		name string
		skip int
	}{{"Xing", 8}, {"Info", 8}, {"VBRI", 14}} {
		if i := bytes.Index(first, []byte(mark.name)); i >= 0 && len(first) >= i+mark.skip+4 {
			return uint64(binary.BigEndian.Uint32(first[i+mark.skip:]))
		}
	}
	return 0
}
