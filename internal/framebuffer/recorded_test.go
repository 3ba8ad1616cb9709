package framebuffer_test

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// recording is what a real server sent: testdata/recorded has each as a gzip of the picture's size, its
// pixel format and the server's messages.
type recording struct {
	size   image.Point
	format [16]byte
	stream []byte
}

func openRecording(t *testing.T, path string) (r recording) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var size [2]uint16
	if err := errors.Join(binary.Read(z, binary.BigEndian, &size), binary.Read(z, binary.BigEndian, &r.format)); err != nil {
		t.Fatal(err)
	}
	r.size = image.Pt(int(size[0]), int(size[1]))
	if r.stream, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return r
}

// The servers are Debian's Xtigervnc and x11vnc on a screen of 240x200. The viewer asked for one encoding,
// CopyRect, cursors and sizes, and moved the pointer; then a terminal with colours wrote and scrolled.
// screen.png is the screen in the end as X itself had it (GetImage).
func TestWhatRealServersSendIsThePictureOfTheirScreen(t *testing.T) {
	file, err := os.Open("testdata/recorded/screen.png")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	img, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	screen := image.NewRGBA(img.Bounds())
	draw.Draw(screen, screen.Rect, img, image.Point{}, draw.Src)
	for name, tolerance := range map[string]int{ // of a colour, out of 255
		"Xtigervnc-zrle": 0, "Xtigervnc-hextile": 0, "Xtigervnc-rre": 0, "Xtigervnc-tight-blue": 0,
		"Xtigervnc-zrle-16": 4, "Xtigervnc-tight-16": 4, "Xtigervnc-raw-mapped": 43, "Xtigervnc-tight-jpeg": 4,
		"x11vnc-zrle": 0, "x11vnc-hextile": 0, "x11vnc-zlib": 0, "x11vnc-tight": 0,
	} {
		r := openRecording(t, filepath.Join("testdata", "recorded", name+".gz"))
		d := newDecoder(t, r.format, r.size)
		read(t, d, string(r.stream))
		got := d.Picture()
		if len(got.Pix) != len(screen.Pix) {
			t.Fatalf("%s: %dx%d", name, got.Width, got.Height)
		}
		wrong, most := 0, 0
		for i, c := range got.Pix {
			diff := max(c, screen.Pix[i]) - min(c, screen.Pix[i])
			if most = max(most, int(diff)); int(diff) > tolerance {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d colours are wrong, by up to %d", name, wrong, most)
		}
		if d.Cursor().Shape == nil {
			t.Errorf("%s has no cursor", name)
		}
	}
}
