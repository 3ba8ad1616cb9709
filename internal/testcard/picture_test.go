package testcard_test

import (
	"context"
	"image"
	"image/color"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
)

const (
	tight    = 7
	quality0 = -32
	quality9 = -23
)

// show runs a test against a card, in a bubble of its own. When it returns the viewer leaves, and
// the card must end.
func show(t *testing.T, o testcard.Options, f func(t *testing.T, v *viewer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- testcard.Serve(context.Background(), far, o) }()
		defer func() {
			near.Close()
			if err := <-ended; err != nil {
				t.Errorf("Serve: %v", err)
			}
		}()
		f(t, greet(t, near))
	})
}

// small is a card that is soon compared; its bars do not end where tiles do.
var small = testcard.Options{Width: 640, Height: 360}

func layout() testcard.Layout { return testcard.LayoutOf(1280, 720) }

// wantColours asserts the bars, the ramp and the grounds, in each corner too.
func wantColours(t *testing.T, v *viewer) {
	t.Helper()
	check := func(what string, n int, r image.Rectangle, want color.RGBA) {
		t.Helper()
		for _, at := range []image.Point{centre(r), r.Min, r.Max.Sub(image.Pt(1, 1))} {
			if err := near(v.screen.RGBAAt(at.X, at.Y), v.format.nearest(want), 0); err != nil {
				t.Errorf("%s %d at %v: %v", what, n, at, err)
			}
		}
	}
	l := testcard.LayoutOf(v.screen.Rect.Dx(), v.screen.Rect.Dy())
	for n, r := range l.Bars {
		check("bar", n, r, testcard.BarColor(n))
	}
	for n, r := range l.Ramp {
		check("step", n, r, testcard.StepColor(n))
	}
	check("ground", 0, l.Panel, color.RGBA{0x20, 0x20, 0x20, 255})
	check("road", 0, l.Road, color.RGBA{0x40, 0x40, 0x60, 255})
}

func kinds(rectangles []rectangle) []string {
	var out []string
	for _, r := range rectangles {
		if !slices.Contains(out, r.kind) {
			out = append(out, r.kind)
		}
	}
	slices.Sort(out)
	return out
}

func TestTheDesktopSaysItsSizeAndName(t *testing.T) {
	show(t, testcard.Options{}, func(t *testing.T, v *viewer) {
		if v.screen.Rect.Max != image.Pt(1280, 720) || v.name != "Gatehouse test card" {
			t.Errorf("%v %q", v.screen.Rect, v.name)
		}
	})
	show(t, testcard.Options{Width: 640, Height: 480, Name: "démo"}, func(t *testing.T, v *viewer) {
		if v.screen.Rect.Max != image.Pt(640, 480) || v.name != "démo" {
			t.Errorf("%v %q", v.screen.Rect, v.name)
		}
	})
}

func TestColoursAreExactInEachFormatAndEncoding(t *testing.T) {
	for _, f := range formats {
		lossy := []string{"basic", "fill", "jpeg"}
		if f.bits == 8 {
			lossy = []string{"basic", "fill"}
		}
		for _, test := range []struct {
			name      string
			encodings []int32
			want      []string
		}{
			{"no encodings said", nil, []string{"raw"}},
			{"others", []int32{1, 16, 5, 2, quality0 + 5, -239}, []string{"raw"}},
			{"tight", []int32{tight, 0}, []string{"basic", "fill"}},
			{"tight, low quality", []int32{0, tight, quality0}, lossy},
			{"tight, best quality", []int32{tight, quality9}, lossy},
			{"beside the qualities", []int32{tight, quality0 - 1, quality9 + 1}, []string{"basic", "fill"}},
		} {
			t.Run(f.name+"/"+test.name, func(t *testing.T) {
				show(t, small, func(t *testing.T, v *viewer) {
					v.setFormat(f)
					if test.encodings != nil {
						v.write(encodings(test.encodings...))
					}
					if got := kinds(v.all()); !slices.Equal(got, test.want) {
						t.Errorf("encodings %v, want %v", got, test.want)
					}
					wantColours(t, v)
				})
			})
		}
	}
}

// pictures returns the first frame as viewers with these encodings see it.
func pictures(t *testing.T, f format, lists ...[]int32) (out []*image.RGBA) {
	for _, list := range lists {
		show(t, small, func(t *testing.T, v *viewer) {
			v.setFormat(f)
			v.write(encodings(list...))
			v.write([]byte{5, 0, 2, 0, 1, 0}) // a cross at 512,256, among the texts
			v.all()
			out = append(out, v.screen)
		})
	}
	return out
}

func TestTightWithoutAQualityLosesNothing(t *testing.T) {
	for _, f := range formats {
		both := pictures(t, f, []int32{0}, []int32{tight})
		if !slices.Equal(both[0].Pix, both[1].Pix) {
			t.Errorf("%s: raw and Tight differ", f.name)
		}
	}
}

func TestQualityLevelsAreQualities(t *testing.T) {
	seen := pictures(t, formats[0], []int32{0}, []int32{tight, quality9}, []int32{tight, quality0 + 5}, []int32{tight, quality0})
	var last float64
	for i, picture := range seen[1:] {
		sum := 0
		for n, value := range picture.Pix {
			sum += max(int(value)-int(seen[0].Pix[n]), int(seen[0].Pix[n])-int(value))
		}
		mean := float64(sum) / float64(len(picture.Pix))
		if mean <= last || mean > 1 {
			t.Errorf("picture %d differs by %.3f a colour, the better one before it by %.3f", i, mean, last)
		}
		last = mean
	}
}

func TestFormatAndEncodingsMayChangeAtAnyTime(t *testing.T) {
	show(t, small, func(t *testing.T, v *viewer) {
		lists := [][]int32{{tight}, {0}, {tight, quality0 + 8}}
		for n := range 2 * len(formats) {
			v.setFormat(formats[n%len(formats)])
			for _, list := range [][]int32{lists[n/2%3], lists[(n+1)%3]} {
				v.write(encodings(list...))
				clear(v.screen.Pix)
				v.all()
				wantColours(t, v)
			}
		}
	})
}

func TestTheFirstRequestGetsAllEvenIfIncremental(t *testing.T) {
	show(t, testcard.Options{}, func(t *testing.T, v *viewer) {
		v.changes()
		wantColours(t, v)
	})
}

func TestTheClockIsTheOneHandedIn(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	texts := make([]*image.RGBA, 3)
	for i, o := range []testcard.Options{
		{Now: func() time.Time { return at }}, {Now: func() time.Time { return at }}, {Now: func() time.Time { return at.Add(time.Second) }},
	} {
		show(t, o, func(t *testing.T, v *viewer) {
			v.all()
			texts[i] = v.screen
		})
	}
	if !slices.Equal(texts[0].Pix, texts[1].Pix) || slices.Equal(texts[0].Pix, texts[2].Pix) {
		t.Error("the picture does not depend on the clock, or on more than that")
	}
}
