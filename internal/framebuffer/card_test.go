package framebuffer_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"net"
	"testing"
	"testing/synctest"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
)

// viewer is connected to a server and asks for updates.
type viewer struct {
	testing.TB
	*framebuffer.Decoder
	conn net.Conn
	r    *bufio.Reader
}

// view does the handshake and says what a live viewer says, with encodings and format of its choice.
func view(t testing.TB, conn net.Conn, login rfb.Login, format [16]byte, encodings []int32) *viewer {
	t.Helper()
	desk, err := rfb.Connect(conn, login, 0)
	if err != nil {
		t.Fatal(err)
	}
	v := &viewer{TB: t, conn: conn, r: bufio.NewReaderSize(conn, 32<<10)}
	if v.Decoder, err = framebuffer.NewDecoder(desk.Init); err != nil {
		t.Fatal(err)
	}
	if err := v.SetFormat(format); err != nil {
		t.Fatal(err)
	}
	v.send("\x00..." + string(format[:]))
	list := "\x02." + u16(len(encodings))
	for _, e := range encodings {
		list += u32(int(e))
	}
	v.send(list)
	return v
}

func (v *viewer) send(message string) {
	v.Helper()
	if _, err := v.conn.Write([]byte(message)); err != nil {
		v.Fatal(err)
	}
}

// ask has the server send the picture, or what is new of it.
func (v *viewer) ask(new byte) framebuffer.Message {
	v.Helper()
	p := v.Picture()
	v.send("\x03" + string([]byte{new}) + u16(0) + u16(0) + u16(p.Width) + u16(p.Height))
	for {
		m, err := v.Read(v.r)
		if err != nil {
			v.Fatal(err)
		}
		if m.Kind == framebuffer.Update {
			return m
		}
	}
}

// viewCard is a viewer of the test card.
func viewCard(t testing.TB, format [16]byte) (v *viewer, end func()) {
	near, far := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- testcard.Serve(t.Context(), far, "card") }()
	return view(t, near, rfb.Login{}, format, framebuffer.Live()), func() {
		near.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// cardPicture is the test card as it is now.
func cardPicture(t testing.TB) *image.RGBA {
	v, end := viewCard(t, framebuffer.LiveFormat)
	defer end()
	v.ask(0)
	img := v.Picture().Image()
	return &image.RGBA{Pix: bytes.Clone(img.Pix), Stride: img.Stride, Rect: img.Rect}
}

func TestTheTestCardIsSeenInEveryPixelFormat(t *testing.T) {
	for name, format := range allFormats {
		if format[3] == 0 || format[0] == 24 { // the card has none
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v, end := viewCard(t, format)
				defer end()
				if m := v.ask(0); m.Damage != image.Rect(0, 0, 1280, 720) {
					t.Errorf("%+v", m)
				}
				picture := v.Picture().Image()
				for i, colour := range []uint32{0xFFFFFF, 0xFFFF00, 0x00FFFF, 0x00FF00, 0xFF00FF, 0xFF0000, 0x0000FF, 0x000000} {
					c := binary.BigEndian.AppendUint32(nil, colour<<8)
					want := shown(format, c)
					if got := picture.RGBAAt(80+160*i, 100); [3]byte{got.R, got.G, got.B} != want || got.A != 255 {
						t.Errorf("bar %d is %v, want %v", i, got, want)
					}
				}
				v.send("\x05\x00" + u16(200) + u16(300))
				for m := v.ask(1); !image.Pt(200, 300).In(m.Damage); m = v.ask(1) { // the square moves in the meantime
					if area := image.Rect(0, 640, 1280, 720); !m.Damage.In(area) {
						t.Fatalf("%v changed, want the square in %v", m.Damage, area)
					}
				}
			})
		})
	}
}
