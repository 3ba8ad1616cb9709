package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"io"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// block is one of an fbs file.
type block struct {
	data []byte
	at   time.Duration
}

// readFBS reads a file as players do.
func readFBS(t *testing.T, file []byte) (blocks []block) {
	t.Helper()
	rest, ok := bytes.CutPrefix(file, []byte("FBS 001.000\n"))
	if !ok {
		t.Fatalf("it begins with %q", file[:12])
	}
	for len(rest) > 0 {
		n := int(binary.BigEndian.Uint32(rest))
		padded := (n + 3) &^ 3
		if n == 0 || len(rest) < 4+padded+4 {
			t.Fatalf("a block of %d bytes in %d", n, len(rest))
		}
		at := binary.BigEndian.Uint32(rest[4+padded:])
		blocks = append(blocks, block{rest[4 : 4+n], time.Duration(at) * time.Millisecond})
		rest = rest[4+padded+4:]
	}
	return blocks
}

func TestExportsFBS(t *testing.T) {
	r := colours()
	r.header.Init.Format = framebuffer.LiveFormat // of a browser
	r.frames = nil
	r.fill(10*time.Millisecond, whole, red)
	r.fill(2*second, image.Rect(3, 3, 200, 150), green)
	r.server(3*second, rectangleHead(head(nil, 1), image.Rect(0, 0, 90, 80), rfb.EncodingSize))
	r.add(recording.KindEnd, 10*second, []byte(`{}`))
	var file bytes.Buffer
	if err := export(context.Background(), &file, r.open); err != nil {
		t.Fatal(err)
	}
	blocks := readFBS(t, file.Bytes())
	var hello []byte
	for _, b := range blocks[:4] {
		hello = append(hello, b.data...)
	}
	init := rfb.Init{Width: 200, Height: 150, Format: blueFirst, Name: "desk1"}
	if want := init.Append([]byte("RFB 003.003\n\x00\x00\x00\x01")); !bytes.Equal(hello, want) {
		t.Errorf("it begins with %q, want %q", hello, want)
	}
	decoder, err := framebuffer.NewDecoder(init)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		at      time.Duration
		corner  color.RGBA
		far     color.RGBA
		resized bool
	}{{10 * time.Millisecond, red, red, false}, {2 * second, red, green, false}, {3 * second, red, green, true}, {3 * second, red, green, false}} {
		if len(blocks) <= 4+i {
			t.Fatalf("%d blocks", len(blocks))
		}
		b := blocks[4+i]
		in := bufio.NewReader(bytes.NewReader(b.data))
		m, err := decoder.Read(in)
		if _, end := in.ReadByte(); err != nil || !errors.Is(end, io.EOF) {
			t.Errorf("block %d is not one message: %v", i, err)
		}
		shown := decoder.Picture().Image()
		if b.at != want.at || shown.RGBAAt(0, 0) != want.corner || shown.RGBAAt(80, 70) != want.far || m.Resized != want.resized {
			t.Errorf("block %d at %v: %v and %v, resized %v; want %+v", i, b.at, shown.RGBAAt(0, 0), shown.RGBAAt(80, 70), m.Resized, want)
		}
	}
	if len(blocks) != 8 {
		t.Errorf("%d blocks, want 8", len(blocks))
	}
}

func TestExportEndsWithItsReader(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := export(ctx, io.Discard, colours().open); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := export(context.Background(), fullDisk{}, colours().open); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("not written: %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
