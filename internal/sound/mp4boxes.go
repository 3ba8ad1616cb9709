package sound

import (
	"encoding/binary"
	"slices"
)

// boxes reads boxes up to an end, and reports whether all were understood.
func (m *movie) boxes(end uint64, depth int) bool {
	for m.in.offset < end && (end != unknown || !m.in.ended()) {
		start := m.in.offset
		head := m.in.take(boxHead)
		if head == nil {
			return false
		}
		size, name := uint64(binary.BigEndian.Uint32(head)), string(head[4:])
		switch {
		case size == 0 && end == unknown:
			size = unknown - start
		case size == 1:
			long := m.in.take(8)
			if long == nil {
				return false
			}
			size = binary.BigEndian.Uint64(long)
		}
		last := start + size
		if last < m.in.offset || last > end || !m.box(name, last, depth) || m.in.offset > last {
			return false
		}
		if last == unknown {
			m.in.skip(unknown >> 1)
			return true
		}
		if !m.in.skip(last - m.in.offset) {
			return false
		}
	}
	return m.in.offset == end || end == unknown
}

// box reads what a box says, and reports whether that can be.
func (m *movie) box(name string, last uint64, depth int) bool {
	switch {
	case slices.Contains([]string{"mdat", "free", "skip", "wide"}, name):
		return true
	case boxes[name]:
		if name == "trak" {
			m.track = new(mp4Track)
			m.tracks = append(m.tracks, m.track)
		}
		return depth < maxDepth && len(m.tracks) <= maxTracks && m.boxes(last, depth+1)
	}
	read, known := boxReaders[name]
	if !known {
		return !isVital(name) && m.in.pass(last-m.in.offset, vital) == 0
	}
	if needsTrack := !slices.Contains([]string{"mvhd", "mehd", "trex", "tfhd"}, name); needsTrack && m.track == nil {
		return false
	}
	b := box{in: m.in, left: last - m.in.offset}
	b.version, b.flags = b.number(1), b.number(3)
	return read(m, &b) && !b.short
}

// box is the data of a box.
type box struct {
	in             *input
	left           uint64
	short          bool
	version, flags uint64
}

// number reads a number of so many bytes.
func (b *box) number(size int) (n uint64) {
	if b.left < uint64(size) {
		b.short = true
		return 0
	}
	data := b.in.take(size)
	b.left -= uint64(size)
	b.short = b.short || data == nil
	for _, c := range data {
		n = n<<8 | uint64(c)
	}
	return n
}

// wide reads a number of eight bytes in version 1, else of four.
func (b *box) wide() uint64 { return b.number(4 + 4*int(b.version&1)) }

// span reads a duration; 0 if it is not known.
func (b *box) span() uint64 {
	n := b.wide()
	if n == 1<<32-1 && b.version == 0 || n == 1<<64-1 {
		return 0
	}
	return n
}

// flag reads a number of four bytes if the flag is set, else it returns the other one.
func (b *box) flag(flag, other uint64) uint64 {
	if b.flags&flag == 0 {
		return other
	}
	return b.number(4)
}

// entries calls f for each entry of a table.
func (b *box) entries(f func()) bool {
	for n := b.number(4); n > 0 && !b.short; n-- {
		f()
	}
	return true
}

// boxReaders read the boxes that say how long a sound is.
var boxReaders = map[string]func(*movie, *box) bool{
	"mvhd": func(m *movie, b *box) bool {
		once := m.scale == 0
		b.wide()
		b.wide()
		m.scale = b.number(4)
		m.ticks = max(m.ticks, b.span())
		return once && m.scale > 0
	},
	"mehd": func(m *movie, b *box) bool {
		m.ticks = max(m.ticks, b.span())
		return true
	},
	"tkhd": func(m *movie, b *box) bool {
		b.wide()
		b.wide()
		once := m.track.id == 0
		m.track.id = b.number(4)
		b.number(4)
		m.ticks = max(m.ticks, b.span())
		return once && m.track.id > 0
	},
	"elst": func(m *movie, b *box) bool {
		return b.entries(func() {
			m.track.edits.add(1, b.wide())
			b.wide()
			b.number(4)
		})
	},
	"mdhd": func(m *movie, b *box) bool {
		once := m.track.scale == 0
		b.wide()
		b.wide()
		m.track.scale = b.number(4)
		m.track.said = max(m.track.said, b.span())
		return once && m.track.scale > 0
	},
	"hdlr": func(m *movie, b *box) bool {
		b.number(4)
		kind := string(binary.BigEndian.AppendUint32(nil, uint32(b.number(4))))
		once := m.track.handler == ""
		m.track.handler = kind
		return once
	},
	"stsd": func(m *movie, b *box) bool {
		once := !m.track.described
		if m.track.described = true; b.left <= maxDescription {
			m.track.rate = aacRate(b.in.peek(int(b.left)))
		}
		return once && m.in.pass(b.left, vital) == 0
	},
	"stts": func(m *movie, b *box) bool {
		return b.entries(func() { m.track.times.add(b.number(4), b.number(4)) })
	},
	"stsz": func(m *movie, b *box) bool {
		if size := b.number(4); size > 0 {
			m.track.add(b.number(4), sample{size: size})
			return true
		}
		return b.entries(func() { m.track.add(1, sample{size: b.number(4)}) })
	},
	"trex": func(m *movie, b *box) bool {
		t := m.byID(b.number(4))
		b.number(4)
		if t != nil {
			t.usual = sample{b.number(4), b.number(4)}
		}
		return t != nil
	},
	"tfhd": func(m *movie, b *box) bool {
		if m.track = m.byID(b.number(4)); m.track == nil {
			return false
		}
		b.flag(1, 0)
		b.flag(1, 0)
		b.flag(2, 0)
		m.track.now = sample{b.flag(8, m.track.usual.time), b.flag(16, m.track.usual.size)}
		return true
	},
	"tfdt": func(m *movie, b *box) bool {
		m.track.said = max(m.track.said, b.span())
		return true
	},
	"trun": func(m *movie, b *box) bool {
		n, now := b.number(4), m.track.now
		b.flag(1, 0)
		b.flag(4, 0)
		if b.flags&0xF00 == 0 { // no entries
			m.track.add(n, now)
			return true
		}
		for ; n > 0 && !b.short; n-- {
			m.track.add(1, sample{b.flag(0x100, now.time), b.flag(0x200, now.size)})
			b.flag(0x400, 0)
			b.flag(0x800, 0)
		}
		return true
	},
}

func (m *movie) byID(id uint64) *mp4Track {
	for _, t := range m.tracks {
		if t.id == id {
			return t
		}
	}
	return nil
}

// add adds samples.
func (t *mp4Track) add(count uint64, s sample) {
	t.times.add(count, s.time)
	t.frames.add(count, max(s.size/aacFrame, 1)*aacSamples)
}
