package framebuffer_test

import (
	"image"
	"strings"
)

// part is a run of pixels of one colour, as a rectangle within another.
type part struct {
	area   image.Rectangle
	colour string
}

func (s *server) number(p image.Point) uint32 { return value(s.format, s.at(p.X, p.Y)) }

// parts are what of r does not have its first colour.
func (s *server) parts(r image.Rectangle) (background string, all []part) {
	first := s.number(r.Min)
	background = number(s.format, first)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; {
			colour, from := s.number(image.Pt(x, y)), x
			for x < r.Max.X && s.number(image.Pt(x, y)) == colour {
				x++
			}
			if colour != first {
				all = append(all, part{image.Rect(from, y, x, y+1).Sub(r.Min), number(s.format, colour)})
			}
		}
	}
	return background, all
}

func (s *server) rre(r image.Rectangle) []string {
	background, all := s.parts(r)
	body := []string{u32(len(all)), background}
	for _, p := range all {
		body = append(body, p.colour, u16(p.area.Min.X), u16(p.area.Min.Y), u16(p.area.Dx()), u16(p.area.Dy()))
	}
	return []string{rect(r, 2, body...)}
}

func (s *server) corre(r image.Rectangle) (rects []string) {
	for _, t := range tiles(r, 200) {
		background, all := s.parts(t)
		body := []string{u32(len(all)), background}
		for _, p := range all {
			body = append(body, p.colour, bytesOf(p.area.Min.X, p.area.Min.Y, p.area.Dx(), p.area.Dy()))
		}
		rects = append(rects, rect(t, 4, body...))
	}
	return rects
}

func bytesOf(values ...int) string {
	b := make([]byte, len(values))
	for i, v := range values {
		b[i] = byte(v)
	}
	return string(b)
}

// hextile says a colour only if it is not that of the tile before.
func (s *server) hextile(r image.Rectangle) []string {
	var body strings.Builder
	lastBack, lastFore := "", ""
	for i, t := range tiles(r, 16) {
		back, all := s.parts(t)
		if len(all) > 100 || i%7 == 3 {
			body.WriteString("\x01" + s.each(t, pixel))
			lastBack, lastFore = "", ""
			continue
		}
		flags, colours := 0, ""
		if back != lastBack {
			flags, colours, lastBack = 2, back, back
		}
		same := true
		for _, p := range all {
			same = same && p.colour == all[0].colour
		}
		if len(all) > 0 && same && all[0].colour != lastFore {
			flags |= 4
			lastFore = all[0].colour
			colours += lastFore
		}
		rest := ""
		if len(all) > 0 {
			flags |= 8
			rest = bytesOf(len(all))
			if !same {
				flags |= 16
			}
			for _, p := range all {
				if !same {
					rest += p.colour
				}
				rest += bytesOf(p.area.Min.X<<4|p.area.Min.Y, (p.area.Dx()-1)<<4|(p.area.Dy()-1))
			}
		}
		body.WriteString(bytesOf(flags) + colours + rest)
	}
	return []string{rect(r, 5, body.String())}
}

func (s *server) zlib(r image.Rectangle) []string {
	compressed := s.flush(4, s.each(r, pixel))
	return []string{rect(r, 6, u32(len(compressed)), compressed)}
}
