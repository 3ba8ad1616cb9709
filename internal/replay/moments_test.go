package replay

import (
	"bytes"
	"crypto/rand"
	"errors"
	"image"
	"image/color"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// upTo decodes the frames up to a time.
func upTo(t *testing.T, s *source, at time.Duration) *pass {
	t.Helper()
	due := errors.New("not due")
	p, err := s.begin(at, func(frame time.Duration) error {
		if frame > at {
			return due
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = p.next()
	}
	if !errors.Is(err, due) && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return p
}

// changing is a recording in which each of n updates, 100 ms apart, goes on with the zlib stream of those
// before. Some frames are in the middle of an update.
func changing(n int, noise bool) *tape {
	r := newTape(200, 150)
	p := &framebuffer.Picture{Width: 200, Height: 150, Pix: bytes.Repeat([]byte{200, 100, 50, 255}, 200*150)}
	e := encoder{blueFirst: true}
	for i := range n {
		at := 4 * (200*(i%150) + 7*i%190)
		copy(p.Pix[at:], []byte{byte(i), byte(3 * i), byte(7 * i), 255})
		if noise {
			_, _ = rand.Read(p.Pix)
		}
		strips := appendStrips(nil, whole)
		data := head(nil, len(strips))
		for _, s := range strips {
			data = e.rectangle(data, frame{Picture: p}, s)
		}
		when := time.Duration(i) * 100 * time.Millisecond
		r.server(when, data)
		r.add(recording.KindPointer, when, []byte{0, 0, byte(i), 0, 9})
	}
	return r
}

func TestGoesOnFromAMoment(t *testing.T) {
	r := changing(100, false)
	s := newSource(r.open)
	s.moments.every = 1
	upTo(t, s, time.Hour)
	if len(s.moments.kept) < 50 {
		t.Fatalf("%d moments", len(s.moments.kept))
	}
	for range 2 { // a moment stays as it is
		for at := 9900 * time.Millisecond; at >= 0; at -= 500 * time.Millisecond {
			from, ok := s.moments.before(at)
			if at > time.Second && (!ok || at-from.at > time.Second) {
				t.Errorf("to %v it goes on from %v", at, from.at)
			}
			got, want := upTo(t, s, at), upTo(t, newSource(r.open), at)
			if !bytes.Equal(got.decoder.Picture().Pix, want.decoder.Picture().Pix) || got.pointer != want.pointer || got.frames != want.frames {
				t.Errorf("at %v it is not what is seen from the beginning", at)
			}
		}
	}
}

func TestMomentsAreBounded(t *testing.T) {
	s := newSource(changing(230, true).open)
	s.moments.every = 1
	upTo(t, s, time.Hour)
	m := &s.moments
	if m.size > maxMoments || m.size < maxMoments/3 || m.every < 2 {
		t.Errorf("%d moments have %d bytes, every %d", len(m.kept), m.size, m.every)
	}
	if !slices.IsSortedFunc(m.kept, func(a, b moment) int { return int(a.at - b.at) }) {
		t.Error("not in the order of time")
	}
	if last := m.kept[len(m.kept)-1].at; last < 22*second {
		t.Errorf("the last is at %v", last)
	}
}

// A moment has colours of its own: those of a map change later.
func TestAMomentKeepsItsColourMap(t *testing.T) {
	r := newTape(200, 150)
	r.header.Init.Format = [16]byte{8, 8}
	for i := range byte(3) {
		at := time.Duration(i) * second
		r.server(at, []byte{rfb.MsgColourMap, 0, 0, 7, 0, 1, 40 * i, 0, 50 * i, 0, 60 * i, 0})
		area := image.Rect(0, int(i), 200, int(i)+1)
		r.server(at+second/2, append(rectangleHead(head(nil, 1), area, rfb.EncodingRaw), bytes.Repeat([]byte{7}, 200)...))
	}
	s := newSource(r.open)
	s.moments.every = 230 // the first is between the second map and its pixels
	upTo(t, s, time.Hour)
	if len(s.moments.kept) == 0 || s.moments.kept[0].at != second {
		t.Fatalf("moments %+v", s.moments.kept)
	}
	for _, at := range []time.Duration{5 * second / 2, 3 * second / 2, 5 * second / 2} {
		got := upTo(t, s, at).decoder.Picture().Image()
		for i := range uint8(at/second) + 1 {
			if c := got.RGBAAt(9, int(i)); c != (color.RGBA{40 * i, 50 * i, 60 * i, 255}) {
				t.Errorf("at %v row %d is %v", at, i, c)
			}
		}
	}
}
