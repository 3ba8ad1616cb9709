package sound

import "encoding/binary"

// A FLAC file is "fLaC", blocks of metadata of which the first is STREAMINFO, and frames:
//
//	last:1 type:7 size:24   of a block
//	… rate:20 channels:3 bits:5 samples:36 …   from byte 10 of STREAMINFO
//	11111111 1111100s bbbbrrrr ccccddd0 number:8-56 (block:8-16) (rate:8-16) crc:8   the header of a frame
//
// s says whether the number is of a sample or of a frame, b how many samples the frame has, r their rate.
const (
	flacMark   = "fLaC"
	blockHead  = 4
	streamInfo = 34
	frameHead  = 16 // the longest
)

// flacRates are the sample rates by their codes; 0 for those that the header or STREAMINFO says.
var flacRates = [16]uint64{1: 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000}

// flacFrame is what the header of a frame says.
type flacFrame struct {
	samples uint64
	rate    uint64 // 0: STREAMINFO says it
	end     uint64 // how many samples there are to its end
}

// readFLAC counts the samples of all that looks like a frame, at any place.
func readFLAC(in *input) Length {
	in.skip(uint64(len(flacMark)))
	rate, samples, ok := readStreamInfo(in)
	if !ok {
		return Length{}
	}
	total, last, odd := sum(0), samples, int64(0)
	in.scan(1<<63, frameHead, func(b []byte) {
		if b[0] != 0xFF {
			return
		}
		f, ok := flacFrameOf(b)
		switch {
		case !ok:
		case f.rate == 0 || f.rate >= rate:
			total.add(1, f.samples)
			last = max(last, f.end)
		default:
			odd = min(odd+millis(f.samples, f.rate), maxMillis)
			last = max(last, f.end)
		}
	})
	counted := min(millis(uint64(total), rate)+odd, maxMillis)
	return Length{Millis: max(counted, millis(last, rate)), Bounded: true}
}

// readStreamInfo reads the blocks of metadata.
func readStreamInfo(in *input) (rate, samples uint64, ok bool) {
	for first := true; ; first = false {
		head := in.take(blockHead)
		if head == nil || first != (head[0]&0x7F == 0) {
			return 0, 0, false
		}
		isLast, size := head[0]>>7 == 1, binary.BigEndian.Uint32(head)&0xFFFFFF
		if !first {
			in.skip(uint64(size))
		} else if info := in.take(streamInfo); info == nil || size != streamInfo {
			return 0, 0, false
		} else {
			x := binary.BigEndian.Uint64(info[10:])
			rate, samples = x>>44, x&(1<<36-1)
		}
		if isLast {
			return rate, samples, rate > 0
		}
	}
}

// flacFrameOf reads the header of a frame, and reports whether it is one.
func flacFrameOf(b []byte) (f flacFrame, ok bool) {
	if len(b) < frameHead { // at the end of the file
		b = append(b[:len(b):len(b)], make([]byte, frameHead)...)
	}
	if b[0] != 0xFF || b[1]&0xFE != 0xF8 || b[2]>>4 == 0 || b[2]&15 == 15 || b[3]&1 == 1 {
		return f, false
	}
	block, rate := b[2]>>4, b[2]&15
	number, at := flacNumber(b)
	if at == 0 {
		return f, false
	}
	switch {
	case block == 1:
		f.samples = 192
	case block < 6:
		f.samples = 576 << (block - 2)
	case block == 6:
		f.samples, at = uint64(b[at])+1, at+1
	case block == 7:
		f.samples, at = uint64(binary.BigEndian.Uint16(b[at:]))+1, at+2
	default:
		f.samples = 256 << (block - 8)
	}
	switch f.rate = flacRates[rate]; rate {
	case 12:
		f.rate, at = uint64(b[at])*1000, at+1
	case 13:
		f.rate, at = uint64(binary.BigEndian.Uint16(b[at:])), at+2
	case 14:
		f.rate, at = uint64(binary.BigEndian.Uint16(b[at:]))*10, at+2
	}
	if f.end = number*f.samples + f.samples; b[1]&1 == 1 {
		f.end = number + f.samples
	}
	return f, crc8(b[:at]) == b[at]
}

// flacNumber reads the number in the header of a frame, as UTF-8 goes on to 36 bits, and returns where it ends.
func flacNumber(b []byte) (number uint64, end int) {
	lead, more := b[4], 0
	for mask := byte(0x80); lead&mask != 0; mask >>= 1 {
		lead &^= mask
		more++
	}
	if more == 1 || more > 7 {
		return 0, 0
	}
	number, end = uint64(lead), 5+max(more-1, 0)
	for _, c := range b[5:end] {
		if c&0xC0 != 0x80 {
			return 0, 0
		}
		number = number<<6 | uint64(c&0x3F)
	}
	return number, end
}

// crc8 has the polynomial x^8 + x^2 + x + 1.
func crc8(b []byte) (crc byte) {
	for _, c := range b {
		crc ^= c
		for range 8 {
			carry := crc >> 7
			crc = crc<<1 ^ carry*7
		}
	}
	return crc
}
