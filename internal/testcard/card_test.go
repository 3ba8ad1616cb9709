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

// The layout of the picture, by which viewers are tested too.
var (
	road       = image.Rect(0, 640, 1280, 720)
	roadColor  = rgba(0x404060)
	ground     = rgba(0x202020)
	clockLine  = testcard.LineArea(2)
	keyLine    = testcard.LineArea(4)
	squareSide = 48
)

func rgba(c uint32) color.RGBA {
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 255}
}

func bar(n int) image.Rectangle { return image.Rect(160*n, 0, 160*(n+1), 384) }

// show runs a test against a card, in a bubble of its own. When it returns the viewer leaves, and
// the card must end.
func show(t *testing.T, name string, f func(t *testing.T, v *viewer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- testcard.Serve(context.Background(), far, name) }()
		defer func() {
			near.Close()
			if err := <-ended; err != nil {
				t.Errorf("Serve: %v", err)
			}
		}()
		f(t, greet(t, near))
	})
}

func (v *viewer) point(buttons byte, x, y int) {
	v.write([]byte{5, buttons, byte(x >> 8), byte(x), byte(y >> 8), byte(y)})
}

// wantColours asserts the bars, the ramp and the grounds, in each corner too.
func wantColours(t *testing.T, v *viewer) {
	t.Helper()
	check := func(what string, n int, r image.Rectangle, want color.RGBA) {
		t.Helper()
		for _, at := range []image.Point{centre(r), r.Min, r.Max.Sub(image.Pt(1, 1))} {
			if got := v.screen.RGBAAt(at.X, at.Y); got != v.format.nearest(want) {
				t.Errorf("%s: %s %d at %v is %v, want %v", v.format.name, what, n, at, got, want)
			}
		}
	}
	for n, c := range testcard.BarColors() {
		check("bar", n, bar(n), rgba(c))
	}
	for n := range 16 {
		check("step", n, image.Rect(80*n, 384, 80*(n+1), 480), rgba(0x111111*uint32(n)))
	}
	check("ground", 0, image.Rect(1244, 480, 1280, 640), ground)
	check("road", 0, road, roadColor)
}

func TestTheDesktopSaysItsSizeAndName(t *testing.T) {
	show(t, "démo", func(t *testing.T, v *viewer) {
		if v.screen.Rect.Max != image.Pt(1280, 720) || v.name != "démo" {
			t.Errorf("%v %q", v.screen.Rect, v.name)
		}
	})
}

func TestColoursAreExactInEachFormat(t *testing.T) {
	show(t, "", func(t *testing.T, v *viewer) {
		v.write([]byte{2, 0, 0, 2, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xe5}) // it also reads Tight
		v.changes()                                                     // the first request gets all
		wantColours(t, v)
		for _, f := range formats {
			v.setFormat(f)
			clear(v.screen.Pix)
			v.all()
			wantColours(t, v)
		}
	})
}

// squareAt finds the left end of the square on the road, -1 if there is none.
func squareAt(v *viewer) int {
	for x := road.Min.X; x < road.Max.X; x++ {
		if v.screen.RGBAAt(x, centre(road).Y) != roadColor {
			return x
		}
	}
	return -1
}

func TestTheSquareMovesWithEachFrameAndLeavesNoTrace(t *testing.T) {
	show(t, "", func(t *testing.T, v *viewer) {
		v.all()
		start, place, turned := time.Now(), squareAt(v), false
		const frames = 21 * 30 // there and back
		for n := range frames {
			v.changes()
			now := squareAt(v)
			if now == place || now < 0 {
				t.Fatalf("update %d moved the square from %d to %d", n+1, place, now)
			}
			turned = turned || now < place
			place = now
		}
		if took := time.Since(start).Round(time.Millisecond); took != 21*time.Second || !turned {
			t.Errorf("%d updates took %v, turned %v", frames, took, turned)
		}
		for y := road.Min.Y; y < road.Max.Y; y++ {
			for x := range 1280 {
				if outside := x < place || x >= place+squareSide; outside && v.screen.RGBAAt(x, y) != roadColor {
					t.Fatalf("a trace at %d,%d", x, y)
				}
			}
		}
	})
}

func TestAGreedyViewerGetsNoMoreThanTheRate(t *testing.T) {
	show(t, "", func(t *testing.T, v *viewer) {
		start := time.Now()
		for range 31 {
			v.all()
		}
		if took := time.Since(start).Round(time.Millisecond); took != time.Second {
			t.Errorf("31 whole pictures took %v", took)
		}
	})
}

func TestOnlyWhatChangedIsSent(t *testing.T) {
	show(t, "", func(t *testing.T, v *viewer) {
		v.all()
		clock := false // a second passes
		for range 31 {
			for _, r := range v.changes() {
				clock = clock || r.In(clockLine)
				if !r.In(clockLine) && (!r.In(road) || r.Dx() > squareSide+8) {
					t.Fatalf("%v changed", r)
				}
			}
		}
		if !clock {
			t.Error("the clock stands still")
		}
	})
}

func TestARequestWaitsForAChangeInItsArea(t *testing.T) {
	show(t, "", func(t *testing.T, v *viewer) {
		v.all()
		v.write(request(1, bar(2)))
		answered := make(chan []image.Rectangle, 1)
		go func() { answered <- v.update() }()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(answered) != 0 {
			t.Fatalf("nothing has changed, and the answer is %v", <-answered)
		}
		at := centre(bar(2))
		v.point(0, at.X, at.Y)
		for _, r := range <-answered {
			if !r.In(bar(2)) || !at.In(r) {
				t.Errorf("%v changed", r)
			}
		}
		moved := squareAt(v)
		v.changes() // what was not asked for is not forgotten
		if squareAt(v) == moved {
			t.Error("the square stands still")
		}
	})
}

func TestPartsOutsideThePictureAreLeftOut(t *testing.T) {
	show(t, "", func(t *testing.T, v *viewer) {
		v.all()
		v.write(request(0, image.Rect(2000, 0, 3000, 10)))
		v.write(request(0, image.Rect(10, 10, 10, 20)))
		v.write(request(0, image.Rect(1270, 710, 1270+0xFFFF, 710+0xFFFF)))
		if got := v.update(); !slices.Contains(got, image.Rect(1270, 710, 1280, 720)) {
			t.Errorf("%v", got)
		}
	})
}
