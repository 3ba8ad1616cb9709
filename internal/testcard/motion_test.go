package testcard_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
)

// squareAt finds the left end of the square on the road, -1 if there is none.
func squareAt(v *viewer) int {
	road := testcard.LayoutOf(v.screen.Rect.Dx(), v.screen.Rect.Dy()).Road
	ground := v.format.nearest(color.RGBA{0x40, 0x40, 0x60, 255})
	for x := road.Min.X; x < road.Max.X; x++ {
		if v.screen.RGBAAt(x, centre(road).Y) != ground {
			return x
		}
	}
	return -1
}

func TestTheSquareMovesWithEachFrame(t *testing.T) {
	for _, o := range []testcard.Options{
		{}, {FPS: 1}, {FPS: 7}, {FPS: 60}, {Width: 320, Height: 240, FPS: 60}, {Width: 2048, Height: 240, FPS: 10},
	} {
		t.Run(fmt.Sprintf("%dx%d at %d", o.Width, o.Height, o.FPS), func(t *testing.T) {
			show(t, o, func(t *testing.T, v *viewer) {
				want := o.FPS
				if want == 0 {
					want = 30
				}
				const seconds = 12 // there and back
				v.write(encodings(tight))
				v.all()
				start, place, moves := time.Now(), squareAt(v), 0
				for moves < seconds*want {
					v.changes()
					if now := squareAt(v); now != place && now >= 0 {
						place = now
						moves++
					} else {
						t.Fatalf("update %d moved the square from %d to %d", moves+1, place, now)
					}
				}
				if took := time.Since(start); took != seconds*time.Second {
					t.Errorf("%d updates took %v", moves, took)
				}
			})
		})
	}
}

func TestAGreedyViewerGetsNoMoreThanTheRate(t *testing.T) {
	show(t, testcard.Options{Width: 320, Height: 240, FPS: 10}, func(t *testing.T, v *viewer) {
		v.write(encodings(tight))
		start := time.Now()
		for range 50 {
			v.all()
		}
		if took := time.Since(start); took != 4900*time.Millisecond {
			t.Errorf("50 whole pictures took %v", took)
		}
	})
}

func TestOnlyWhatChangedIsSent(t *testing.T) {
	show(t, testcard.Options{}, func(t *testing.T, v *viewer) {
		v.write(encodings(tight, quality0+8))
		v.all()
		for range 29 {
			for _, r := range v.changes() {
				if !r.area.In(layout().Road) || r.area.Dx() > layout().Square {
					t.Fatalf("%v changed", r.area)
				}
			}
		}
		clock := false // a second has passed
		for _, r := range v.changes() {
			clock = clock || r.area.In(layout().Clock)
			if !r.area.In(layout().Road) && !r.area.In(layout().Clock) {
				t.Errorf("%v changed", r.area)
			}
		}
		if !clock {
			t.Error("the clock stands still")
		}
	})
}

// What a lossy picture did to the ground beside it would stay visible.
func TestThingsThatMoveLeaveNoTrace(t *testing.T) {
	for _, f := range []format{formats[0], formats[3]} {
		show(t, testcard.Options{}, func(t *testing.T, v *viewer) {
			v.setFormat(f)
			v.write(encodings(tight, quality0))
			pointer := func(x, y int) { v.write([]byte{5, 0, byte(x >> 8), byte(x), byte(y >> 8), byte(y)}) }
			pointer(200, 700)
			v.all()
			for n := range 100 {
				pointer(200+2*n, 700-n)
				v.changes()
			}
			pointer(240, 100)
			v.changes()
			l := layout()
			clean := image.Rect(0, l.Road.Min.Y, squareAt(v), l.Road.Max.Y)
			if clean.Dx() < 300 {
				t.Fatalf("the square is at %d", clean.Dx())
			}
			want := f.nearest(color.RGBA{0x40, 0x40, 0x60, 255})
			for y := clean.Min.Y; y < clean.Max.Y; y++ {
				for x := clean.Min.X; x < clean.Max.X; x++ {
					if got := v.screen.RGBAAt(x, y); got != want {
						t.Fatalf("%s: %v at %d,%d, want %v", f.name, got, x, y, want)
					}
				}
			}
		})
	}
}

func TestARequestWaitsForAChangeInItsArea(t *testing.T) {
	show(t, testcard.Options{}, func(t *testing.T, v *viewer) {
		v.all()
		bar := layout().Bars[2]
		v.write(request(1, bar))
		answered := make(chan []rectangle, 1)
		go func() { answered <- v.update() }()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(answered) != 0 {
			t.Fatalf("nothing has changed, and the answer is %v", <-answered)
		}
		at := centre(bar)
		v.write([]byte{5, 0, byte(at.X >> 8), byte(at.X), byte(at.Y >> 8), byte(at.Y)})
		for _, r := range <-answered {
			if !r.area.In(bar) || !at.In(r.area) {
				t.Errorf("%v changed", r.area)
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
	show(t, testcard.Options{}, func(t *testing.T, v *viewer) {
		v.write(request(0, image.Rect(2000, 0, 3000, 10)))
		v.write(request(0, image.Rect(10, 10, 10, 20)))
		v.write(request(0, image.Rect(1270, 710, 1270+0xFFFF, 710+0xFFFF)))
		if got := v.update(); len(got) != 1 || got[0].area != image.Rect(1270, 710, 1280, 720) {
			t.Errorf("%v", got)
		}
	})
}

func TestNothingIsDoneWithoutARequest(t *testing.T) {
	looks := 0 // at the clock: each frame begins with one
	o := testcard.Options{Now: func() time.Time { looks++; return time.Now() }}
	show(t, o, func(t *testing.T, v *viewer) {
		v.all()
		synctest.Wait()
		before := looks
		time.Sleep(time.Hour)
		v.write([]byte{5, 0, 0, 9, 0, 9})
		synctest.Wait()
		if looks != before {
			t.Errorf("looked at the clock %d times", looks-before)
		}
		v.changes()
		synctest.Wait()
		if looks != before+1 {
			t.Errorf("one update looked at the clock %d times", looks-before)
		}
	})
}

func BenchmarkCard(b *testing.B) {
	for name, list := range map[string][]int32{"raw": {0}, "tight": {tight}, "jpeg": {tight, quality0 + 8}} {
		for _, whole := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/whole=%v", name, whole), func(b *testing.B) {
				near, far := net.Pipe()
				now := time.Now()
				ended := make(chan error, 1)
				go func() {
					ended <- testcard.Serve(context.Background(), far, testcard.Options{Now: func() time.Time {
						now = now.Add(time.Second / 30) // each look is another frame
						return now
					}})
				}()
				v := greet(b, near)
				v.write(encodings(list...))
				v.all()
				b.ReportAllocs()
				bytes := 0
				for b.Loop() {
					answer := v.changes
					if whole {
						answer = v.all
					}
					for _, r := range answer() {
						bytes += 12 + r.size
					}
				}
				b.ReportMetric(float64(bytes)/float64(b.N), "bytes/update")
				near.Close()
				<-ended
			})
		}
	}
}
