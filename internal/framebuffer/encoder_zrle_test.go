package framebuffer_test

import (
	"image"
	"strings"
)

// zrle chooses the kind of each tile: the first that can be of those for its number of colours.
func (s *server) zrle(r image.Rectangle) []string {
	body := ""
	for i, t := range tiles(r, 64) {
		body += s.zrleTile(t, i)
	}
	compressed := s.flush(5, body)
	return []string{rect(r, 16, u32(len(compressed)), compressed)}
}

func (s *server) zrleTile(t image.Rectangle, turn int) string {
	colours, indexes := s.palette(t, cpixel)
	n := len(colours)
	switch {
	case n == 1:
		return "\x01" + colours[0]
	case n <= 16 && turn%2 == 0:
		return string(rune(n)) + strings.Join(colours, "") + packedRows(indexes, t.Dx(), n)
	case n <= 127 && turn%3 != 0:
		out := string([]byte{128 + byte(n)}) + strings.Join(colours, "")
		for _, run := range runsOf(indexes) {
			if run[1] == 1 {
				out += string([]byte{byte(run[0])})
			} else {
				out += string([]byte{byte(run[0]) | 0x80}) + lengthOf(run[1])
			}
		}
		return out
	case turn%2 == 1:
		out := "\x80"
		for _, run := range runsOf(indexes) {
			out += colours[run[0]] + lengthOf(run[1])
		}
		return out
	}
	return "\x00" + s.each(t, cpixel)
}

// packedRows are indexes of n colours in as few bits as there may be.
func packedRows(indexes []int, w, n int) string {
	bits := 4
	if n <= 2 {
		bits = 1
	} else if n <= 4 {
		bits = 2
	}
	var out []byte
	for ; len(indexes) > 0; indexes = indexes[w:] {
		row := make([]byte, (w*bits+7)/8)
		for x, v := range indexes[:w] {
			row[x*bits/8] |= byte(v << (8 - bits - x*bits%8))
		}
		out = append(out, row...)
	}
	return string(out)
}

// runsOf are the values with how often each is repeated.
func runsOf(indexes []int) (runs [][2]int) {
	for i, v := range indexes {
		if i > 0 && v == indexes[i-1] {
			runs[len(runs)-1][1]++
		} else {
			runs = append(runs, [2]int{v, 1})
		}
	}
	return runs
}

func lengthOf(n int) string {
	return strings.Repeat("\xff", (n-1)/255) + string([]byte{byte((n - 1) % 255)})
}
