package screen

import "image"

// part is how finely the edges of a smaller picture's pixels are known, in parts of a pixel.
const part = 256

// shrink returns the picture in another size, which is not larger: each pixel is the mean of the area
// that it covers.
func shrink(p *image.RGBA, size image.Point) *image.RGBA {
	if size == p.Rect.Size() {
		return p
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	line, sum := make([]uint32, 3*size.X), make([]uint64, 3*size.X)
	columns, rows := spans(p.Rect.Dx(), size.X), spans(p.Rect.Dy(), size.Y)
	for y, of := range rows {
		clear(sum)
		for sy := of.first; sy < of.first+of.n; sy++ {
			shrinkRow(line, p.Pix[sy*p.Stride:], columns)
			weight := uint64(of.weight(sy))
			for i, v := range line {
				sum[i] += weight * uint64(v)
			}
		}
		row := out.Pix[y*out.Stride:]
		for x, across := range columns {
			area := uint64(across.length) * uint64(of.length)
			for c := range 3 {
				row[4*x+c] = uint8((sum[3*x+c] + area/2) / area)
			}
			row[4*x+3] = 255
		}
	}
	return out
}

// shrinkRow sums up the pixels of a row for each column.
func shrinkRow(line []uint32, pix []byte, columns []span) {
	for x, of := range columns {
		var r, g, b uint32
		for sx := of.first; sx < of.first+of.n; sx++ {
			weight, at := of.weight(sx), pix[4*sx:][:3]
			r, g, b = r+weight*uint32(at[0]), g+weight*uint32(at[1]), b+weight*uint32(at[2])
		}
		line[3*x], line[3*x+1], line[3*x+2] = r, g, b
	}
}

// span is the pixels that one of a smaller picture covers along an axis.
type span struct {
	first, n    int
	begin, tail uint32 // what it covers of the first and the last
	length      uint32 // all, in parts
}

// spans divides from pixels into to.
func spans(from, to int) []span {
	all := make([]span, to)
	for i := range all {
		begin, end := i*from*part/to, (i+1)*from*part/to
		s := span{first: begin / part, length: uint32(end - begin)}
		s.n = (end+part-1)/part - s.first
		s.begin = uint32(min(part-begin%part, end-begin))
		s.tail = uint32(end - (s.first+s.n-1)*part)
		if s.n == 1 {
			s.tail = s.begin
		}
		all[i] = s
	}
	return all
}

// weight is how much it covers of a pixel.
func (s *span) weight(at int) uint32 {
	switch at {
	case s.first:
		return s.begin
	case s.first + s.n - 1:
		return s.tail
	}
	return part
}
