package screen_test

import (
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// text draws lines like those of a page of text: short runs of dark pixels on a light ground.
func (s *server) text(seed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	random := rand.New(rand.NewPCG(seed, 1))
	draw.Draw(s.picture, s.picture.Rect, image.NewUniform(color.RGBA{250, 250, 248, 255}), image.Point{}, draw.Src)
	for y := 20; y < s.picture.Rect.Dy()-20; y++ {
		if y%18 > 11 {
			continue
		}
		for x := 20; x < s.picture.Rect.Dx()-40; x += 2 + random.IntN(7) {
			for n := range 1 + random.IntN(2) {
				s.picture.SetRGBA(x+n, y, color.RGBA{uint8(random.IntN(4) * 20), 30, 40, 255})
			}
		}
	}
	if s.dirty = s.picture.Rect; s.waits && s.out != nil {
		s.update(s.dirty)
	}
}

// cpu is what the process has used so far.
func cpu() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkLook has the costs of both sides, of which the server's is a copy: its encoding is Raw.
func BenchmarkLook(b *testing.B) {
	for name, c := range map[string]struct {
		change bool
		want   screen.Want
	}{
		"changed":   {true, screen.Want{}},
		"smaller":   {true, screen.Want{MaxWidth: 640}},
		"thumbnail": {true, screen.Want{MaxWidth: 320}},
		"unchanged": {false, screen.Want{}},
	} {
		b.Run(name, func(b *testing.B) {
			l := newLab(b, nil)
			l.server = newServer(1280, 720)
			l.server.text(1)
			x := l.mustOpen()
			defer x.Release()
			shot := l.look(x, c.want)
			size, spent := len(shot.PNG), time.Duration(0)
			for n := uint64(2); b.Loop(); n++ {
				if c.change {
					b.StopTimer()
					l.server.text(n)
					b.StartTimer()
				}
				c.want.Known = shot.ETag
				before := cpu()
				if shot = l.look(x, c.want); shot.Changed != c.change {
					b.Fatal(shot.Changed)
				}
				spent += cpu() - before
			}
			b.ReportMetric(float64(size), "png-bytes")
			b.ReportMetric(float64(spent)/float64(time.Millisecond)/float64(b.N), "cpu-ms/op") // on a busy machine the time says little
		})
	}
}
