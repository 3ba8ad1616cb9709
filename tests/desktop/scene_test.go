//go:build linux

package desktop

import (
	"image"
	"image/color"
	"image/draw"
	"testing"
)

func screenOf(s Scene, origin image.Point) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 1600, 1000))
	draw.Draw(img, img.Rect, image.NewUniform(color.RGBA{0x90, 0x90, 0x90, 0xff}), image.Point{}, draw.Src)
	for _, a := range s {
		draw.Draw(img, a.Where.Add(origin), image.NewUniform(a.Colour), image.Point{}, draw.Src)
	}
	return img
}

func TestASceneIsFoundWhereItIs(t *testing.T) {
	for _, s := range []Scene{Chequer(), TestCard()} {
		for _, want := range []image.Point{{}, {173, 52}, {320, 280}} {
			img := screenOf(s, want)
			pointer := image.Rect(600, 300, 620, 320)
			draw.Draw(img, pointer, image.Black, image.Point{}, draw.Src)
			if got, err := s.Find(img); err != nil || got != want {
				t.Errorf("found at %v, %v; it is at %v", got, err, want)
			}
		}
	}
}

func TestAWrongPictureIsNotTheScene(t *testing.T) {
	s, origin := Chequer(), image.Pt(100, 100)
	pixels := func(change func(from *image.RGBA, x, y int) color.RGBA) *image.RGBA {
		from := screenOf(s, origin)
		to := image.NewRGBA(from.Rect)
		for y := range to.Rect.Dy() {
			for x := range to.Rect.Dx() {
				to.SetRGBA(x, y, change(from, x, y))
			}
		}
		return to
	}
	other := append(Scene{}, s...)
	other[12].Colour = other[13].Colour
	for what, img := range map[string]*image.RGBA{
		"nothing":                  image.NewRGBA(image.Rect(0, 0, 1600, 1000)),
		"a screen too small":       image.NewRGBA(image.Rect(0, 0, 640, 480)),
		"one cell of another":      screenOf(other, origin),
		"only the upper left part": screenOf(s[:columns], origin),
		"mirrored":                 pixels(func(from *image.RGBA, x, y int) color.RGBA { return from.RGBAAt(1599-x, y) }),
		"scaled":                   pixels(func(from *image.RGBA, x, y int) color.RGBA { return from.RGBAAt(x*11/10, y*11/10) }),
		"red and blue swapped": pixels(func(from *image.RGBA, x, y int) color.RGBA {
			c := from.RGBAAt(x, y)
			return color.RGBA{c.B, c.G, c.R, c.A}
		}),
	} {
		if at, err := s.Find(img); err == nil {
			t.Errorf("%s: found at %v", what, at)
		}
	}
}

func TestNoTwoCellsAreAlike(t *testing.T) {
	cells := Chequer()[:columns*rows-1]
	for i, a := range cells {
		for _, b := range cells[:i] {
			if alike(a.Colour, b.Colour) {
				t.Errorf("%v and %v are alike", a, b)
			}
		}
	}
}

func TestTheChequerCoversTheDesktopOnce(t *testing.T) {
	sum, colours := 0, map[color.RGBA]bool{}
	for _, a := range Chequer() {
		if !a.Where.In(image.Rect(0, 0, Width, Height)) {
			t.Errorf("%v is outside the desktop", a.Where)
		}
		sum += a.Where.Dx() * a.Where.Dy()
		colours[a.Colour] = true
	}
	if sum != Width*Height || len(colours) <= 256 {
		t.Errorf("%d pixels of %d, %d colours", sum, Width*Height, len(colours))
	}
}

func TestPicturesDifferByAPixel(t *testing.T) {
	a, b := Chequer().Picture(), Chequer().Picture()
	if err := Differ(a, b); err != nil {
		t.Error(err)
	}
	b.Pix[len(b.Pix)-2]++ // the blue of the last one
	if Differ(a, b) == nil || Differ(a, image.NewRGBA(image.Rect(0, 0, 1, 1))) == nil {
		t.Error("they do not differ")
	}
}
