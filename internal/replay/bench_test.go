package replay

import (
	"bytes"
	"context"
	"image"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
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

// BenchmarkOpen is what a person waits for until a long recording begins: the greeting of 500 MB.
func BenchmarkOpen(b *testing.B) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "long")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	at := time.Now()
	w, err := recording.NewWriter(file, recording.Header{Begun: at, Init: rfb.Init{Width: 200, Height: 150, Format: framebuffer.LiveFormat}},
		recording.Options{Recipients: []age.Recipient{identity.Recipient()}, Now: func() time.Time { return at }})
	if err != nil {
		b.Fatal(err)
	}
	update := append(rectangleHead(head(nil, 1), whole, rfb.EncodingRaw), make([]byte, 4*200*150)...)
	for range 500 << 20 / len(update) {
		at = at.Add(time.Second)
		w.Server(update)
	}
	if err := w.Close(""); err != nil {
		b.Fatal(err)
	}
	open := func() (Reader, io.Closer, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		reader, err := recording.NewReader(file, identity)
		return reader, file, err
	}
	for b.Loop() {
		near, far := net.Pipe()
		ctx, leave := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			serve(ctx, &pipe{Conn: far}, open)
		}()
		if _, err := io.ReadFull(near, make([]byte, 12)); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		leave()
		_ = near.Close()
		<-done
		b.StartTimer()
	}
}
