//go:build linux

package main

import (
	"image"
	"image/color"
	"image/draw"
	"testing"
)

func screenOf(s scene, origin image.Point) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 1600, 1000))
	draw.Draw(img, img.Rect, image.NewUniform(color.RGBA{0x90, 0x90, 0x90, 0xff}), image.Point{}, draw.Src)
	for _, a := range s {
		draw.Draw(img, a.where.Add(origin), image.NewUniform(a.colour), image.Point{}, draw.Src)
	}
	return img
}

func TestASceneIsFoundWhereItIs(t *testing.T) {
	for _, s := range []scene{chequer(), testCardBars()} {
		for _, want := range []image.Point{{}, {173, 52}, {320, 280}} {
			img := screenOf(s, want)
			pointer := image.Rect(600, 300, 620, 320)
			draw.Draw(img, pointer, image.Black, image.Point{}, draw.Src)
			if got, err := s.find(img); err != nil || got != want {
				t.Errorf("found at %v, %v; it is at %v", got, err, want)
			}
		}
	}
}

func TestAWrongPictureIsNotTheScene(t *testing.T) {
	s, origin := chequer(), image.Pt(100, 100)
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
	other := append(scene{}, s...)
	other[12].colour = other[13].colour
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
		if at, err := s.find(img); err == nil {
			t.Errorf("%s: found at %v", what, at)
		}
	}
}

func TestNoTwoCellsAreAlike(t *testing.T) {
	cells := chequer()[:columns*rows-1]
	for i, a := range cells {
		for _, b := range cells[:i] {
			if alike(a.colour, b.colour) {
				t.Errorf("%v and %v are alike", a, b)
			}
		}
	}
}

func TestTheChequerCoversTheDesktopOnce(t *testing.T) {
	sum, colours := 0, map[color.RGBA]bool{}
	for _, a := range chequer() {
		if !a.where.In(image.Rect(0, 0, desktopWidth, desktopHeight)) {
			t.Errorf("%v is outside the desktop", a.where)
		}
		sum += a.where.Dx() * a.where.Dy()
		colours[a.colour] = true
	}
	if sum != desktopWidth*desktopHeight || len(colours) <= 256 {
		t.Errorf("%d pixels of %d, %d colours", sum, desktopWidth*desktopHeight, len(colours))
	}
}

func TestAPanelIsNotAToolbar(t *testing.T) {
	paper := image.NewUniform(color.RGBA{0xf6, 0xf5, 0xf4, 0xff})
	img := screenOf(nil, image.Point{})
	draw.Draw(img, image.Rect(90, 77, 134, 935), paper, image.Point{}, draw.Src)
	if r, _ := findPanel(img); r.Dx() > 44 {
		t.Errorf("a toolbar is a panel %v", r)
	}
	panel := image.Rect(135, 117, 1510, 499)
	draw.Draw(img, panel, paper, image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(800, 200, 900, 260), image.White, image.Point{}, draw.Src)
	r, white := findPanel(img)
	if want := image.Rect(135, 117, 1506, 499); r != want || white != 6000 {
		t.Errorf("the panel is %v with %d white pixels, want %v and 6000", r, white, want)
	}
	if r, _ := findPanel(screenOf(nil, image.Point{})); !r.Empty() {
		t.Errorf("an empty screen has a panel %v", r)
	}
}
