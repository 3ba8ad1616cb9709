package replay

import (
	"encoding/binary"
	"errors"
	"image"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// colours is a recording of ten seconds that is red, green at 2 s and blue at 6 s.
func colours() *tape {
	r := newTape(200, 150)
	r.fill(0, whole, red)
	r.fill(2*second, whole, green)
	r.fill(6*second, whole, blue)
	r.add(recording.KindEnd, 10*second+time.Microsecond, []byte(`{"reason":"viewer"}`))
	return r
}

func TestPlaysWithRightColoursAtTheirTimes(t *testing.T) {
	for name, format := range map[string][16]byte{"native": blueFirst, "browser": framebuffer.LiveFormat} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newTape(200, 150)
				r.header.Init.Format = format
				r.fill(0, whole, red)
				r.fill(2*second, image.Rect(10, 10, 190, 140), green)
				r.fill(6*second, image.Rect(0, 0, 1, 1), blue)
				w := watch(t, r)
				w.sees("at 0 s", 100, 75, red)
				time.Sleep(2*second - time.Millisecond)
				w.sees("just before 2 s", 100, 75, red)
				time.Sleep(time.Millisecond)
				w.sees("at 2 s", 100, 75, green)
				w.sees("at 2 s, outside", 9, 75, red)
				w.sees("at 2 s, the last tile", 189, 139, green)
				time.Sleep(4 * second)
				w.sees("at 6 s", 0, 0, blue)
				w.sees("at 6 s, outside", 1, 0, red)
			})
		})
	}
}

func TestObeysOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := colours()
		w := watch(t, r)
		w.order(`{"play":false}`)
		time.Sleep(restLimit - time.Second)
		w.sees("paused", 0, 0, red)
		w.order(`{"play":true,"speed":4}`)
		time.Sleep(second/2 - time.Millisecond)
		w.sees("four times as fast, too early", 0, 0, red)
		time.Sleep(time.Millisecond)
		w.sees("four times as fast", 0, 0, green)
		w.order(`{"at":7000,"play":false}`)
		w.sees("forward", 0, 0, blue)
		if s := w.state(); s.At != 7000 || s.Playing || s.Seeking || s.Speed != 4 {
			t.Errorf("state %+v", s)
		}
		if r.opened != 2 { // to play, and for the outline
			t.Errorf("opened %d times before somebody went back", r.opened)
		}
		w.order(`{"at":1999}`)
		w.sees("back", 0, 0, red)
		w.order(`{"at":2000}`)
		w.sees("at the frame", 0, 0, green)
		w.order(`{"speed":99}`)
		if s := w.state(); s.Speed != maxSpeed {
			t.Errorf("speed %v", s.Speed)
		}
	})
}

func TestSkipsIdleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := colours()
		r.frames[len(r.frames)-1].At = 8 * second
		w := watch(t, r)
		w.order(`{"skip":3000}`)
		time.Sleep(2 * second)
		w.sees("after two seconds, which are shown", 0, 0, green)
		time.Sleep(idleLead - time.Millisecond)
		w.sees("in the rest of four seconds", 0, 0, green)
		time.Sleep(time.Millisecond)
		w.sees("behind four seconds", 0, 0, blue)
		if s := w.state(); s.At < 5000 || s.At > 6000 {
			t.Errorf("the page was sent %d ms", s.At)
		}
	})
}

func TestEndsAndBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, colours())
		time.Sleep(time.Minute)
		if s := w.state(); s.At != 10000 || s.Playing || s.Note != "" {
			t.Errorf("at the end %+v", s)
		}
		w.sees("at the end", 0, 0, blue)
		w.order(`{"play":true}`)
		w.sees("again", 0, 0, red)
		time.Sleep(2 * second)
		w.sees("two seconds later", 0, 0, green)
	})
}

// The file may grow while it is played.
func TestPlaysWhatIsWrittenMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := colours()
		r.end = io.ErrUnexpectedEOF
		r.frames = r.frames[:len(r.frames)-1]
		w := watch(t, r)
		r.fill(11*second, whole, red)
		time.Sleep(11 * second)
		w.sees("behind what was there at the beginning", 0, 0, red)
	})
}

func TestSaysWhyItStops(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*tape)
		note string
	}{
		{"torn", func(r *tape) { r.end = io.ErrUnexpectedEOF }, "breaks off here"},
		{"torn within an update", func(r *tape) { r.frames[len(r.frames)-1].Data = r.frames[len(r.frames)-1].Data[:7] }, "breaks off here"},
		{"open", func(r *tape) { r.end = io.ErrUnexpectedEOF; r.growing = true }, "still open"},
		{"changed", func(r *tape) { r.end = recording.ErrDamaged }, "damaged or was changed"},
		{"garbage", func(r *tape) { r.server(3*second, []byte("\x63garbage")) }, "cannot be shown"},
		{"outside", func(r *tape) {
			r.server(3*second, rectangleHead(head(nil, 1), image.Rect(0, 0, 201, 1), rfb.EncodingRaw))
		}, "cannot be shown"},
		{"size", func(r *tape) {
			r.server(3*second, rectangleHead(head(nil, 1), image.Rect(0, 0, 65535, 65535), rfb.EncodingSize))
		}, "cannot be shown"},
		{"format", func(r *tape) {
			r.add(recording.KindFormat, 3*second, make([]byte, 16))
			r.fill(3*second, whole, blue)
		}, "cannot be shown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newTape(200, 150)
				r.fill(0, whole, red)
				r.fill(second, whole, green)
				r.fill(2*second, whole, green)
				c.make(r)
				w := watch(t, r)
				time.Sleep(second)
				w.sees("before", 0, 0, green)
				time.Sleep(time.Minute)
				s := w.state()
				if !strings.Contains(s.Note, c.note) || s.Playing || s.At < 1000 || s.At > 3000 {
					t.Errorf("state %+v, want %q", s, c.note)
				}
				w.sees("at the end", 0, 0, green)
				w.order(`{"at":500,"play":false}`)
				w.sees("back", 0, 0, red)
				if s := w.state(); s.Note != "" {
					t.Errorf("note %q", s.Note)
				}
			})
		})
	}
}

func TestFollowsTheSizeOfTheDesktop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := colours()
		r.frames = r.frames[:len(r.frames)-1]
		r.server(7*second, rectangleHead(head(nil, 1), image.Rect(0, 0, 300, 20), rfb.EncodingSize))
		r.fill(8*second, image.Rect(299, 19, 300, 20), green)
		w := watch(t, r)
		time.Sleep(8 * second)
		w.sees("what is new", 299, 19, green)
		if p := w.decoder.Picture(); p.Width != 300 || p.Height != 20 {
			t.Errorf("%dx%d", p.Width, p.Height)
		}
		w.sees("what was there", 0, 0, blue)
		w.order(`{"at":0,"play":false}`)
		w.sees("before", 199, 149, red)
	})
}

// The viewer drew the pointer itself, so that it is not in the picture.
func TestShowsThePointer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(x, y uint16) []byte {
			return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{0}, x), y)
		}
		r := newTape(200, 150)
		r.fill(0, whole, red)
		r.add(recording.KindPointer, 0, at(20, 20))
		shape := rectangleHead(head(nil, 1), image.Rect(1, 1, 3, 3), rfb.EncodingCursor) // hot spot 1,1, 2x2 pixels
		shape = append(shape, 200, 20, 10, 0, 200, 20, 10, 0, 200, 20, 10, 0, 200, 20, 10, 0)
		r.server(second, append(shape, 0x80, 0xc0)) // all but the pixel at 1,0
		r.add(recording.KindPointer, 2*second, at(100, 100))
		r.add(recording.KindPointer, 3*second, at(199, 149))
		r.add(recording.KindEnd, 4*second, []byte(`{}`))
		w := watch(t, r)
		w.sees("without a shape", 19, 19, red)
		time.Sleep(second)
		w.sees("with a shape", 19, 19, blue)
		w.sees("where it is transparent", 20, 19, red)
		time.Sleep(second)
		w.sees("moved away", 19, 19, red)
		w.sees("moved", 99, 99, blue)
		time.Sleep(second)
		w.sees("at the edge", 199, 149, blue)
	})
}

func TestWrongViewersAreHungUp(t *testing.T) {
	for name, message := range map[string]string{
		"type":     "\x63",
		"order":    "\x06\x00\x00\x00\x00\x00\x00\x01{",
		"long":     "\x06\x00\x00\x00\x7f\xff\xff\xff",
		"pixels":   "\x00\x00\x00\x00" + string(blueFirst[:]),
		"encoding": "\x02\x00\xff\xff",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watch(t, colours())
				w.say([]byte(message))
				<-w.done
				if w.end.code != codeFailed || w.end.reason == "" {
					t.Errorf("%d %q", w.end.code, w.end.reason)
				}
			})
		})
	}
}

func TestEndsWithItsViewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, colours())
		w.order(`{"play":false}`)
		_ = w.conn.Close()
		<-w.done
		if w.end.code != codeNormal {
			t.Errorf("%d %q", w.end.code, w.end.reason)
		}
	})
}

func TestARestThatLastsTooLongEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, colours())
		w.order(`{"play":false}`)
		time.Sleep(restLimit - time.Second)
		w.order(`{"speed":2}`)
		begun := time.Now()
		go func() { _, _ = io.Copy(io.Discard, w.conn) }()
		<-w.done
		if rested := time.Since(begun); rested != restLimit || w.end.code != codeNormal {
			t.Errorf("after %v: %d %q", rested, w.end.code, w.end.reason)
		}
	})
}

func TestEndsWithTheSignInAndWithTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for cause, want := range map[error]string{nil: "You are no longer signed in.", errKeyEnded: "The key may not see this recording any more."} {
			w := watch(t, colours())
			w.order(`{"play":false}`)
			w.signOut(cause)
			<-w.done
			if w.end.reason != want {
				t.Errorf("%d %q", w.end.code, w.end.reason)
			}
		}
	})
}

func TestARecordingThatDoesNotOpenIsTheReason(t *testing.T) {
	end := new(pipe)
	end.Conn, _ = net.Pipe()
	serve(t.Context(), end, func() (Reader, io.Closer, error) { return nil, nil, errors.New("it is on another node") })
	if end.code != codeFailed || end.reason != "it is on another node" {
		t.Errorf("%d %q", end.code, end.reason)
	}
}
