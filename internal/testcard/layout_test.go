package testcard_test

import (
	"context"
	"fmt"
	"image"
	"net"
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
)

func TestThingsHaveTheirOwnPlacesAtEachSize(t *testing.T) {
	for _, size := range [][2]int{{1280, 720}, {320, 240}, {321, 241}, {320, 2048}, {2048, 240}, {1023, 767}, {2048, 2048}} {
		l := testcard.LayoutOf(size[0], size[1])
		rows := append(slices.Concat(l.Bars[:], l.Ramp[:]), l.Panel, l.Road)
		area := 0
		for i, r := range rows {
			area += r.Dx() * r.Dy()
			if r.Empty() || slices.ContainsFunc(rows[:i], r.Overlaps) {
				t.Errorf("%v: %v is empty or overlaps another", size, r)
			}
		}
		if area != size[0]*size[1] {
			t.Errorf("%v: %d pixels have no meaning", size, size[0]*size[1]-area)
		}
		lines := []image.Rectangle{l.Name, l.Size, l.Clock, l.Pointer, l.Key}
		for i, line := range lines {
			if !line.In(l.Panel) || slices.ContainsFunc(lines[:i], line.Overlaps) || line.Dx()/(line.Dy()/8*6) < 40 {
				t.Errorf("%v: line %d is at %v, in %v", size, i, line, l.Panel)
			}
		}
		if l.Square < 8 || l.Square >= l.Road.Dy() {
			t.Errorf("%v: a square of %d on a road of %d", size, l.Square, l.Road.Dy())
		}
	}
}

func TestImpossibleOptionsAreRefused(t *testing.T) {
	for _, o := range []testcard.Options{
		{Width: 319, Height: 240}, {Width: 320, Height: 239}, {Width: 2049, Height: 720}, {Width: 1280, Height: 2049},
		{Width: 1280}, {Width: -1, Height: -1}, {FPS: -1}, {FPS: 61}, {Name: fmt.Sprintf("%256d", 1)},
	} {
		near, far := net.Pipe()
		if err := testcard.Serve(context.Background(), far, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
		if _, err := near.Read(make([]byte, 1)); err == nil {
			t.Errorf("%+v: the connection is open", o)
		}
	}
}

// grid is a picture of 16 by 16 pixels, one byte a rectangle.
type grid [16][16]bool

func (g *grid) set(r image.Rectangle, to bool) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			g[y][x] = to
		}
	}
}

func FuzzRegion(f *testing.F) {
	f.Add([]byte{0x00, 0xff, 0x22, 0x44, 0x33, 0x55, 0x11, 0x99})
	f.Add([]byte("the corners of some rectangles, many of them so that there are too many: 0123456789 0123456789 0123456789"))
	f.Fuzz(func(t *testing.T, corners []byte) {
		var rectangles []image.Rectangle
		for ; len(corners) >= 2; corners = corners[2:] {
			a, b := corners[0], corners[1]
			rectangles = append(rectangles, image.Rect(int(a>>4), int(a&15), int(b>>4), int(b&15)))
		}
		if len(rectangles) == 0 {
			return
		}
		var want grid
		var region []image.Rectangle
		for _, r := range rectangles[1:] {
			region = testcard.Add(region, r)
			want.set(r, true)
		}
		area := rectangles[0]
		within, left := testcard.Divide(slices.Clone(region), area)
		for name, parts := range map[string][]image.Rectangle{"region": region, "within": within, "left": left} {
			if len(parts) > testcard.MaxRegion {
				t.Errorf("%s has %d rectangles", name, len(parts))
			}
			for i, r := range parts {
				if r.Empty() || slices.ContainsFunc(parts[:i], r.Overlaps) || name == "within" && !r.In(area) {
					t.Errorf("%s: %v is wrong among %v", name, r, parts)
				}
			}
		}
		var got, both grid
		for _, r := range region {
			got.set(r, true)
		}
		for _, r := range append(within, left...) {
			both.set(r, true)
		}
		for y := range want {
			for x := range want[y] {
				if want[y][x] && !got[y][x] || got[y][x] && !both[y][x] {
					t.Fatalf("%d,%d is lost", x, y)
				}
			}
		}
	})
}
