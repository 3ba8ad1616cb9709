package replay

import (
	"errors"
	"image"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// Whatever an authentic file has, what is to be seen can be made of what was decoded of it.
func FuzzPass(f *testing.F) {
	update := rectangleHead(head(nil, 1), image.Rect(0, 0, 2, 1), rfb.EncodingRaw)
	cursor := rectangleHead(head(nil, 1), image.Rect(9, 9, 11, 10), rfb.EncodingCursor)
	f.Add(append(append([]byte{recording.KindServer, 24}, update...), 1, 2, 3, 4, 5, 6, 7, 8))
	f.Add(append(append([]byte{recording.KindPointer, 5, 0, 255, 255, 255, 255, recording.KindServer, 25}, cursor...), 1, 2, 3, 4, 5, 6, 7, 8, 0xc0))
	f.Add(append([]byte{recording.KindFormat, 16}, blueFirst[:]...))
	f.Add(append([]byte{recording.KindServer, 16}, rectangleHead(head(nil, 1), image.Rect(0, 0, 3, 300), rfb.EncodingSize)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newTape(64, 65)
		for n := 0; len(data) > 1; n++ {
			size := min(int(data[1]), len(data)-2)
			r.add(data[0], time.Duration(n)*time.Second, data[2:2+size])
			data = data[2+size:]
		}
		source := newSource(r.open)
		source.moments.every = 50
		p, err := source.begin(0, func(time.Duration) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		v := newView(r.header.Init)
		for {
			m, err := p.next()
			if err != nil {
				if broken(err) == "" && !errors.Is(err, r.end) {
					t.Errorf("%v has no words", err)
				}
				break
			}
			if shown := p.decoder.Picture(); shown.Width*shown.Height > 1<<16 {
				t.Skip("too slow for a fuzz test")
			}
			v.changed(m)
			v.update(nil, p.frame(), "")
		}
		if _, err := source.begin(time.Hour, p.wait); err != nil {
			t.Errorf("from the last moment: %v", err)
		}
	})
}
