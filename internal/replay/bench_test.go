package replay

import (
	"bytes"
	"image"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
)

// office is a recording of a desktop of 1920x1080 that scrolls text ten times a second.
func office(updates int) (r *tape, size int64) {
	r = newTape(1920, 1080)
	rows := rand.New(rand.NewPCG(1, 2))
	p := &framebuffer.Picture{Width: 1920, Height: 1080, Pix: bytes.Repeat([]byte{250, 250, 250, 255}, 1920*1080)}
	e := encoder{blueFirst: true}
	area := image.Rect(300, 100, 1600, 900)
	for i := range updates {
		copy(p.Pix[4*1920*100:], p.Pix[4*1920*116:4*1920*900])
		for x := 320; x < 1580; x += 9 {
			if rows.IntN(6) == 0 {
				continue
			}
			glyph := rows.Uint64()
			for y := range 8 {
				for dx := range 8 {
					if glyph>>(8*y+dx)&1 == 1 {
						shade := byte(glyph >> 60)
						copy(p.Pix[4*((884+y)*1920+x+dx):], []byte{shade, shade, 40 + shade})
					}
				}
			}
		}
		var data []byte
		strips := appendStrips(nil, area)
		data = head(data, len(strips))
		for _, s := range strips {
			data = e.rectangle(data, frame{Picture: p}, s)
		}
		r.server(time.Duration(i)*100*time.Millisecond, data)
		size += int64(len(data))
	}
	return r, size
}

// Decoding from the beginning, which a seek back may cost.
func BenchmarkDecode(b *testing.B) {
	r, size := office(200)
	b.SetBytes(size / 200)
	b.ResetTimer()
	for n := 0; n < b.N; {
		p, err := newSource(r.open).begin(0, func(time.Duration) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		for ; n < b.N; n++ {
			if _, err := p.next(); err != nil {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/update")
}
