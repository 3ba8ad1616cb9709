package framebuffer_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"strings"
)

// compact is a length of Tight.
func compact(n int) string {
	switch {
	case n < 1<<7:
		return bytesOf(n)
	case n < 1<<14:
		return bytesOf(n&0x7f|0x80, n>>7)
	}
	return bytesOf(n&0x7f|0x80, n>>7&0x7f|0x80, n>>14)
}

// tightData is what follows control, filter and palette. A stream of -1 is none.
func (s *server) tightData(stream int, plain string) string {
	if len(plain) < 12 {
		return plain
	}
	if stream >= 0 {
		plain = s.flush(stream, plain)
	}
	return compact(len(plain)) + plain
}

// tightWay encodes tiles, each of which f encodes after its control's lower bits.
func (s *server) tightWay(r image.Rectangle, f func(t image.Rectangle, turn int) string) (rects []string) {
	for i, t := range tiles(r, 75) {
		rects = append(rects, rect(t, 7, f(t, i)))
	}
	return rects
}

func (s *server) tightCopy(r image.Rectangle) []string {
	return s.tightWay(r, func(t image.Rectangle, turn int) string {
		stream, plain := turn%4, s.each(t, tpixel)
		switch turn % 5 {
		case 1: // an explicit filter
			return bytesOf(stream<<4|0x40, 0) + s.tightData(stream, plain)
		case 2: // not compressed
			return "\xa0" + s.tightData(-1, plain)
		case 3: // a stream that begins again
			s.streams[stream] = deflater{}
			return bytesOf(stream<<4|1<<stream) + s.tightData(stream, plain)
		}
		return bytesOf(stream<<4) + s.tightData(stream, plain)
	})
}

// tightColours uses one colour, or a palette if there are few enough.
func (s *server) tightColours(r image.Rectangle) []string {
	return s.tightWay(r, func(t image.Rectangle, turn int) string {
		colours, indexes := s.palette(t, tpixel)
		n := len(colours)
		if n > 256 {
			return "\x10" + s.tightData(1, s.each(t, tpixel))
		}
		if n == 1 && turn%2 == 0 {
			return "\x80" + colours[0]
		}
		plain := bytesOf(indexes...)
		if n <= 2 {
			plain = packedRows(indexes, t.Dx(), n)
		}
		head := bytesOf(1, n-1) + strings.Join(colours, "")
		if turn%3 == 0 {
			return "\xe0" + head + s.tightData(-1, plain)
		}
		return "\x60" + head + s.tightData(2, plain)
	})
}

// tightGradient sends what each colour is more than the sum of its neighbours predicts.
func (s *server) tightGradient(r image.Rectangle) []string {
	if s.format[3] == 0 {
		return s.tightCopy(r)
	}
	return s.tightWay(r, func(t image.Rectangle, _ int) string {
		var b strings.Builder
		for y := t.Min.Y; y < t.Max.Y; y++ {
			for x := t.Min.X; x < t.Max.X; x++ {
				var c [3]byte
				v := uint32(0)
				for i := range c {
					most, shift := channel(s.format, i)
					at := func(x, y int) int {
						if x < t.Min.X || y < t.Min.Y {
							return 0
						}
						return int(s.at(x, y)[i]) * most / 255
					}
					want := at(x-1, y) + at(x, y-1) - at(x-1, y-1)
					rest := (at(x, y) - min(max(want, 0), most)) & most
					c[i], v = byte(rest), v|uint32(rest)<<shift
				}
				if s.format[0] == 32 && s.format[1] == 24 {
					b.WriteString(string(c[:]))
				} else {
					b.WriteString(number(s.format, v))
				}
			}
		}
		return "\x40\x02" + s.tightData(0, b.String())
	})
}

// tightJPEG is close to the picture.
func (s *server) tightJPEG(r image.Rectangle) []string {
	return s.tightWay(r, func(t image.Rectangle, _ int) string {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, s.img.SubImage(t), &jpeg.Options{Quality: 95}); err != nil {
			panic(err)
		}
		return "\x90" + compact(b.Len()) + b.String()
	})
}
