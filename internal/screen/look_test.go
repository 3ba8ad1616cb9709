package screen_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// at returns a pixel of a PNG.
func at(t *testing.T, file []byte, x, y int) color.RGBA {
	t.Helper()
	p, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return color.RGBAModel.Convert(p.At(x, y)).(color.RGBA)
}

var (
	red  = color.RGBA{200, 10, 20, 255}
	blue = color.RGBA{10, 20, 200, 255}
)

func TestALookShowsWhatTheDesktopHasNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		defer func() { x.Release(); l.wantClosed(desktop.ReasonViewer) }()
		l.server.paint(image.Rect(10, 10, 20, 20), red)
		first := l.look(x, screen.Want{})
		if first.Size != image.Pt(640, 400) || first.Space != first.Size || x.Size() != first.Size || !first.Changed {
			t.Errorf("%+v", first)
		}
		if got := at(t, first.PNG, 15, 15); got != red {
			t.Errorf("%v", got)
		}
		l.server.paint(image.Rect(10, 10, 20, 20), blue)
		second := l.look(x, screen.Want{Known: first.ETag})
		if got := at(t, second.PNG, 15, 15); got != blue || second.ETag == first.ETag {
			t.Errorf("%v", got)
		}
		l.server.paint(image.Rect(10, 10, 20, 20), red)
		if third := l.look(x, screen.Want{Known: `W/"` + first.ETag + `"`}); third.Changed || third.PNG != nil || third.ETag != first.ETag {
			t.Errorf("the same pixels: %+v", third)
		}
	})
}

func TestAnUnchangedPictureIsNotEncodedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		defer func() { x.Release(); l.wantClosed(desktop.ReasonViewer) }()
		first, again := l.look(x, screen.Want{}), l.look(x, screen.Want{})
		if &first.PNG[0] != &again.PNG[0] {
			t.Error("it was encoded twice")
		}
		if shot := l.look(x, screen.Want{Known: first.ETag}); shot.PNG != nil || shot.Changed {
			t.Errorf("%+v", shot)
		}
	})
}

// A client that reads slowly keeps a PNG that the desktop has let go.
func TestAPNGCountsUntilItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		used := func() int64 {
			synctest.Wait()
			used, _ := l.screens.Memory()
			return used - 4*640*400
		}
		slow, read := context.WithCancel(t.Context())
		defer read()
		first, err := x.Look(slow, screen.Want{})
		if err != nil {
			t.Fatal(err)
		}
		size := int64(len(first.PNG)) * 7 / 3
		if got := used(); got != size {
			t.Errorf("%d bytes for a PNG of %d", got, len(first.PNG))
		}
		l.look(x, screen.Want{}) // the same
		if got := used(); got != size {
			t.Errorf("%d bytes for two calls with one PNG of %d", got, len(first.PNG))
		}
		part := l.look(x, screen.Want{Region: image.Rect(0, 0, 9, 9)})
		if got, want := used(), size+int64(len(part.PNG))*7/3; got != want {
			t.Errorf("%d bytes, want %d: one that is written, and the last", got, want)
		}
		l.screens.SetLimits(screen.Limits{Memory: 1})
		_, err = x.Look(t.Context(), screen.Want{Region: image.Rect(0, 0, 5, 5)})
		wantCode(t, err, apierror.AutomationBusy)
		if got := used(); got != size {
			t.Errorf("%d bytes after the desktop has none", got)
		}
		read()
		x.Release()
		l.wantClosed(desktop.ReasonViewer)
	})
}

func TestAPictureIsCutAndMadeSmaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.server.paint(image.Rect(100, 100, 101, 102), color.White)
		l.server.paint(image.Rect(101, 100, 102, 102), color.Black)
		x := l.mustOpen()
		defer func() { x.Release(); l.wantClosed(desktop.ReasonViewer) }()
		for name, c := range map[string]struct {
			want  screen.Want
			space image.Point
			at    image.Point
			pixel color.RGBA
		}{
			"all":            {screen.Want{}, image.Pt(640, 400), image.Pt(100, 100), color.RGBA{255, 255, 255, 255}},
			"a part":         {screen.Want{Region: image.Rect(100, 90, 110, 110)}, image.Pt(10, 20), image.Pt(1, 10), color.RGBA{0, 0, 0, 255}},
			"half":           {screen.Want{MaxWidth: 320}, image.Pt(320, 200), image.Pt(50, 50), color.RGBA{128, 128, 128, 255}},
			"half by height": {screen.Want{MaxWidth: 10_000, MaxHeight: 200}, image.Pt(320, 200), image.Pt(50, 50), color.RGBA{128, 128, 128, 255}},
			"a part, small":  {screen.Want{Region: image.Rect(100, 100, 102, 102), MaxWidth: 1}, image.Pt(1, 1), image.Pt(0, 0), color.RGBA{128, 128, 128, 255}},
			"flat":           {screen.Want{MaxWidth: 1, Region: image.Rect(0, 0, 640, 2)}, image.Pt(1, 1), image.Pt(0, 0), color.RGBA{30, 60, 90, 255}},
		} {
			shot := l.look(x, c.want)
			if got := at(t, shot.PNG, c.at.X, c.at.Y); shot.Space != c.space || got != c.pixel {
				t.Errorf("%s: %v of %v", name, got, shot.Space)
			}
		}
		_, err := x.Look(t.Context(), screen.Want{Region: image.Rect(600, 0, 641, 10)})
		wantCode(t, err, apierror.InvalidValue)
	})
}

func TestALookWaitsForAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		defer func() { x.Release(); l.wantClosed(desktop.ReasonViewer) }()
		first := l.look(x, screen.Want{})
		for _, known := range []string{first.ETag, ""} {
			begun := time.Now()
			shot := l.look(x, screen.Want{Known: known, Wait: 5 * time.Second})
			if took := time.Since(begun); took != 5*time.Second || shot.Changed == (known != "") {
				t.Errorf("nothing has changed: %v after %v", shot.Changed, took)
			}
			time.AfterFunc(2*time.Second, func() { l.server.paint(image.Rect(0, 0, 9, 9), color.RGBA{uint8(len(known)), 7, 7, 255}) })
			begun = time.Now()
			shot = l.look(x, screen.Want{Known: known, Wait: 5 * time.Second})
			if took := time.Since(begun); took != 2*time.Second || !shot.Changed {
				t.Errorf("it has changed: %v after %v", shot.Changed, took)
			}
			l.server.paint(image.Rect(0, 0, 9, 9), color.RGBA{30, 60, 90, 255})
		}
		begun := time.Now()
		l.look(x, screen.Want{Known: first.ETag, Wait: time.Hour})
		if took := time.Since(begun); took != screen.MaxLook {
			t.Errorf("a call of %v", took)
		}
	})
}

func TestALookWaitsUntilTheDesktopHasSettled(t *testing.T) {
	settle := screen.Want{Quiet: screen.SettleQuiet, Max: screen.SettleMax}
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		defer func() { x.Release(); l.wantClosed(desktop.ReasonViewer) }()
		l.look(x, screen.Want{})
		begun := time.Now()
		if shot := l.look(x, settle); !shot.Settled || time.Since(begun) != screen.SettleQuiet {
			t.Errorf("settled %v after %v", shot.Settled, time.Since(begun))
		}
		for n := range 5 { // the last change is after a second
			time.AfterFunc(time.Duration(n+1)*200*time.Millisecond, func() { l.server.paint(image.Rect(n, 0, n+1, 1), red) })
		}
		begun = time.Now()
		shot := l.look(x, settle)
		if took := time.Since(begun); !shot.Settled || took != 1300*time.Millisecond || at(t, shot.PNG, 4, 0) != red {
			t.Errorf("settled %v after %v", shot.Settled, took)
		}
		stop := l.server.animate(t, 40*time.Millisecond)
		if shot := l.look(x, screen.Want{Quiet: time.Millisecond, Max: time.Second}); shot.Settled {
			t.Error("an animation has settled")
		}
		defer stop()
		before, _ := l.server.heard()
		begun = time.Now()
		shot = l.look(x, settle)
		requests, _ := l.server.heard()
		if took := time.Since(begun); shot.Settled || took != screen.SettleMax || requests-before > 2+int(took/(100*time.Millisecond)) {
			t.Errorf("an animation: settled %v after %v, %d requests", shot.Settled, took, requests-before)
		}
	})
}

// However many calls there are, pictures take half of the processors. While they wait for that, the desktop is
// still read.
func TestPicturesWaitForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.several = true
		places, free := l.screens.TakePlaces()
		if half := runtime.GOMAXPROCS(0) / 2; places != max(1, half) {
			t.Errorf("%d places", places)
		}
		var calls sync.WaitGroup
		done := make(chan struct{}, 8)
		for n := range 8 {
			calls.Go(func() {
				x, err := l.open("agent" + strconv.Itoa(n%2))
				if err != nil {
					t.Error(err)
					return
				}
				defer x.Release()
				l.look(x, screen.Want{MaxWidth: n + 1})
				done <- struct{}{}
			})
		}
		time.Sleep(30 * time.Second) // far longer than a message, or an answer of a workstation, may take
		l.server.paint(image.Rect(0, 0, 9, 9), red)
		synctest.Wait()
		if len(done) > 0 {
			t.Errorf("%d pictures were made without a place", len(done))
		}
		x := l.mustOpen()
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		_, err := x.Look(ctx, screen.Want{})
		wantCode(t, err, apierror.ClientGone)
		x.Release()
		free()
		calls.Wait()
		if len(done) != 8 {
			t.Errorf("%d of 8 calls have a picture", len(done))
		}
		for range 3 {
			<-l.Left
		}
		l.wantNothingLeft()
	})
}

func TestNothingIsAskedForBetweenCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		l.look(x, screen.Want{})
		x.Release()
		before, _ := l.server.heard()
		stop := l.server.animate(t, 10*time.Millisecond)
		time.Sleep(30 * time.Second)
		stop()
		if after, _ := l.server.heard(); after != before {
			t.Errorf("%d requests while nobody looked", after-before)
		}
		l.wantClosed(desktop.ReasonViewer)
	})
}

func TestADesktopOfAnotherSizeIsAskedForWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		defer func() { x.Release(); l.wantClosed(desktop.ReasonViewer) }()
		l.look(x, screen.Want{})
		l.server.resize(800, 600)
		synctest.Wait()
		shot := l.look(x, screen.Want{})
		if used, _ := l.screens.Memory(); shot.Size != image.Pt(800, 600) || at(t, shot.PNG, 799, 599) != (color.RGBA{1, 2, 3, 255}) || used < 4*800*600 || used > 5*800*600 {
			t.Errorf("%v, %d bytes", shot.Size, used)
		}
	})
}
