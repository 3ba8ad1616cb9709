//go:build linux

package desktop

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
)

// The size of a desktop, as in the specification's default.
const (
	Width, Height = 1280, 720
)

// tolerance is how far a channel may be off: JPEG is lossy.
const tolerance = 12

// enough of the samples must have their colour; a pointer and the blur of JPEG between areas take
// the rest.
const enough = 0.97

// sampleStep is the distance of samples in pixels; no edge of a scene is a multiple of it.
const sampleStep = 7

// Scene is what a desktop shows: solid areas of known colours.
type Scene []Area

// Area is a rectangle of one colour.
type Area struct {
	Where  image.Rectangle
	Colour color.RGBA
}

// The desktop's own scene is a chequer of cells. The last cell is divided into blocks.
const (
	columns, rows         = 8, 4
	cellWidth, cellHeight = Width / columns, Height / rows
	blockSize             = 10
)

// Chequer gives each cell a unique colour, so that a shift, a scale, a mirror image or swapped
// channels are noticed. The blocks of the last cell form a gradient with more colours than fit into
// a palette: it takes JPEG to send them.
func Chequer() (s Scene) {
	for i := range columns*rows - 1 {
		column, row := i%columns, i/columns
		s = append(s, Area{
			image.Rect(0, 0, cellWidth, cellHeight).Add(image.Pt(column*cellWidth, row*cellHeight)),
			color.RGBA{uint8(30 + 28*column), uint8(40 + 60*row), uint8(30 + 30*((3*column+5*row)%8)), 0xff},
		})
	}
	const across, down = cellWidth / blockSize, cellHeight / blockSize
	last := image.Pt((columns-1)*cellWidth, (rows-1)*cellHeight)
	for i := range across * down {
		x, y := i%across, i/across
		s = append(s, Area{
			image.Rect(0, 0, blockSize, blockSize).Add(last).Add(image.Pt(x*blockSize, y*blockSize)),
			color.RGBA{uint8(20 + 12*x), uint8(220 - 10*y), uint8(60 + 4*(x+y)), 0xff},
		})
	}
	return s
}

// TestCard are the classic eight colour bars in the upper 8/15 of the built-in test card.
func TestCard() (s Scene) {
	for i, c := range []color.RGBA{
		{255, 255, 255, 255}, {255, 255, 0, 255}, {0, 255, 255, 255}, {0, 255, 0, 255},
		{255, 0, 255, 255}, {255, 0, 0, 255}, {0, 0, 255, 255}, {0, 0, 0, 255},
	} {
		const width, height = Width / 8, Height * 8 / 15
		s = append(s, Area{image.Rect(0, 0, width, height).Add(image.Pt(i*width, 0)), c})
	}
	return s
}

// alike reports whether two colours are the same up to the tolerance.
func alike(a, b color.RGBA) bool {
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= tolerance }
	return near(a.R, b.R) && near(a.G, b.G) && near(a.B, b.B)
}

// Share is the fraction of the samples with their colour, with the desktop's corner at origin.
func (s Scene) Share(img *image.RGBA, origin image.Point) float64 {
	seen, good := 0, 0
	for _, a := range s {
		r := a.Where.Add(origin)
		for y := r.Min.Y; y < r.Max.Y; y += sampleStep {
			for x := r.Min.X; x < r.Max.X; x += sampleStep {
				seen++
				if image.Pt(x, y).In(img.Rect) && alike(img.RGBAAt(x, y), a.Colour) {
					good++
				}
			}
		}
	}
	return float64(good) / float64(max(seen, 1))
}

// Check returns how far a picture differs from the scene.
func (s Scene) Check(img *image.RGBA, origin image.Point) error {
	if share := s.Share(img, origin); share < enough {
		return fmt.Errorf("at %v only %.1f %% of the samples have their colour", origin, 100*share)
	}
	return nil
}

var errNotThere = errors.New("the corner of the desktop is nowhere")

// Find returns the desktop's corner in the picture of a screen.
func (s Scene) Find(img *image.RGBA) (origin image.Point, err error) {
	err = errNotThere
	for y := 0; y <= img.Rect.Dy()-Height; y++ {
		for x := 0; x <= img.Rect.Dx()-Width; x++ {
			if !s.corner(img, x, y) {
				continue
			}
			if err = s.Check(img, image.Pt(x, y)); err == nil {
				return image.Pt(x, y), nil
			}
		}
	}
	return image.Point{}, err
}

// corner reports whether x, y begins the first area, and is not inside it.
func (s Scene) corner(img *image.RGBA, x, y int) bool {
	first := s[0].Colour
	return alike(img.RGBAAt(x, y), first) &&
		(x == 0 || !alike(img.RGBAAt(x-1, y), first)) &&
		(y == 0 || !alike(img.RGBAAt(x, y-1), first))
}

// Picture is the scene, without anything else.
func (s Scene) Picture() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, Width, Height))
	for _, a := range s {
		draw.Draw(img, a.Where, image.NewUniform(a.Colour), image.Point{}, draw.Src)
	}
	return img
}

// Differ says how many pixels of two pictures are not equal, nil if all are.
func Differ(got, want *image.RGBA) error {
	if got.Rect != want.Rect {
		return fmt.Errorf("a picture of %v, not of %v", got.Rect.Size(), want.Rect.Size())
	}
	count, first := 0, image.Point{}
	for i := 0; i < len(got.Pix); i += 4 {
		if string(got.Pix[i:i+4]) != string(want.Pix[i:i+4]) {
			if count++; count == 1 {
				first = image.Pt(i/4%got.Rect.Dx(), i/4/got.Rect.Dx())
			}
		}
	}
	if count == 0 {
		return nil
	}
	return fmt.Errorf("%d pixels are not equal: at %v %v, not %v", count, first, got.At(first.X, first.Y), want.At(first.X, first.Y))
}

// Same reports whether two pictures of a screen are equal in r.
func Same(a, b *image.RGBA, r image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		from, to := a.PixOffset(r.Min.X, y), a.PixOffset(r.Max.X, y)
		if string(a.Pix[from:to]) != string(b.Pix[from:to]) {
			return false
		}
	}
	return true
}
