package sound

import "encoding/binary"

// An Ogg file is pages of at most 65,307 bytes:
//
//	"OggS" version:1 flags:1 granule:8 serial:4 sequence:4 crc:4 segments:1 sizes:segments data
//
// All numbers are little endian. A packet goes on as long as its segments have 255 bytes, over the end of a
// page, too. The granule is the time at the end of the last packet of the page, -1 if none ends there.
const (
	oggMark     = "OggS"
	pageHead    = 27
	pageFlags   = 5
	pageGranule = 6
	pageSerial  = 14
	pageCRC     = 22

	flagContinued = 1
	flagFirst     = 2
)

// oggStream is one of the streams that a file has, one after the other.
type oggStream struct {
	codec
	serial  uint32
	packets sum
	granule uint64
	head    []byte // the first bytes of a packet that goes on in the next page
	open    bool   // there is such a packet
}

// readOgg adds up the streams, each as long as its packets or as the time of its last page.
func readOgg(in *input) Length {
	l, s := Length{Bounded: true}, (*oggStream)(nil)
	end := func() {
		if s != nil {
			l.Millis = min(l.Millis+max(millis(uint64(s.packets), s.rate), millis(s.granule, s.rate)), maxMillis)
		}
	}
	for !in.ended() {
		page, data := pageOf(in)
		if page == nil { // players look for the next page
			return Length{}
		}
		if page[pageFlags]&flagFirst != 0 {
			end()
			c, ok := codecOf(data)
			if !ok {
				return Length{}
			}
			s = &oggStream{codec: c, serial: binary.LittleEndian.Uint32(page[pageSerial:])}
		}
		if s == nil || s.serial != binary.LittleEndian.Uint32(page[pageSerial:]) { // players choose one of several
			return Length{}
		}
		s.page(page, data)
		in.skip(uint64(len(page) + len(data)))
	}
	end()
	return l
}

// pageOf returns the next page, without reading it; nil if it is none.
func pageOf(in *input) (head, data []byte) {
	b := in.peek(pageHead)
	if len(b) < pageHead || string(b[:len(oggMark)]) != oggMark {
		return nil, nil
	}
	n := pageHead + int(b[pageHead-1])
	if b = in.peek(n); len(b) < n {
		return nil, nil
	}
	size := 0
	for _, segment := range b[pageHead:] {
		size += int(segment)
	}
	if b = in.peek(n + size); len(b) < n+size || crc32(b) != binary.LittleEndian.Uint32(b[pageCRC:]) {
		return nil, nil
	}
	return b[:n], b[n:]
}

// page counts the packets that end in a page.
func (s *oggStream) page(page, data []byte) {
	if g := binary.LittleEndian.Uint64(page[pageGranule:]); g < 1<<63 {
		s.granule = max(s.granule, g)
	}
	if page[pageFlags]&flagContinued == 0 && s.open { // what went on does not: readers play it or not
		s.end()
	}
	for _, segment := range page[pageHead:] {
		s.open = true
		if room := 2 - len(s.head); room > 0 {
			s.head = append(s.head, data[:min(room, int(segment))]...)
		}
		if data = data[segment:]; segment < 255 {
			s.end()
		}
	}
}

func (s *oggStream) end() {
	s.packets.add(1, s.units(s.head))
	s.head, s.open = s.head[:0], false
}

// crc32 is that of a page, with zero in its own place. The polynomial is not reflected.
func crc32(page []byte) (crc uint32) {
	for i, c := range page {
		if i >= pageCRC && i < pageCRC+4 {
			c = 0
		}
		crc = crc<<8 ^ crcTable[byte(crc>>24)^c]
	}
	return crc
}

var crcTable = func() (table [256]uint32) {
	for i := range table {
		r := uint32(i) << 24
		for range 8 {
			carry := r >> 31
			r = r<<1 ^ carry*0x04C11DB7
		}
		table[i] = r
	}
	return table
}()
