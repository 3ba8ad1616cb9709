package framebuffer_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

const bell = "\x02"

// colours are raw pixels, red first.
func colours(all ...color.RGBA) string {
	s := ""
	for _, c := range all {
		s += string([]byte{c.R, c.G, c.B, 0})
	}
	return s
}

var (
	red   = color.RGBA{R: 255, A: 255}
	green = color.RGBA{G: 255, A: 255}
	blue  = color.RGBA{B: 255, A: 255}
	black = color.RGBA{A: 255}
	none  = color.RGBA{}
)

// Each is followed by a bell, which is only found behind the whole message.
func TestWhatIsNotOfThePictureIsPassedOver(t *testing.T) {
	for what, message := range map[string]string{
		"fence": "\xf8..." + u32(1<<31) + "\x03abc", "empty fence": "\xf8..." + u32(0) + "\x00",
		"end of continuous": "\x96", "xvp": "\xfa.\x01\x00", "audio begins": "\xff\x01\x00\x01",
		"audio": "\xff\x01\x00\x02" + u32(300) + strings.Repeat("s", 300),
		"gii":   string([]byte{rfb.MsgGII}) + "\x81" + u16(4) + "abcd", "little gii": string([]byte{rfb.MsgGII}) + "\x01\x04\x00abcd",
		"name": update(rect(image.Rectangle{}, -307, u32(5), "hello")), "lights": update(rect(image.Rectangle{}, -261, "\x07")),
		"VMware's lights": update(rect(image.Rectangle{}, 0x574d5668, "four")), "QEMU's keys": update(rect(image.Rectangle{}, -258)),
		"nothing": update(), "last": "\x00.\xff\xff" + rect(image.Rectangle{}, -224),
		"long text":   "\x03..." + u32(framebuffer.MaxText+1) + strings.Repeat("t", framebuffer.MaxText+1),
		"broken text": "\x03..." + u32(-2) + "ab", "text that is not compressed": "\x03..." + u32(-8) + u32(1<<28|1) + "abcd",
		"no pixel": update(rect(image.Rect(8, 6, 8, 6), 0), rect(image.Rect(8, 0, 8, 6), 1, u16(0)+u16(0)), rect(image.Rect(0, 6, 8, 6), 5),
			rect(image.Rect(0, 0, 0, 6), 16, u32(0)), rect(image.Rect(0, 0, 0, 1), 7, "\x80red")),
	} {
		d := newDecoder(t, redFirst, image.Pt(8, 6))
		r := bufio.NewReader(strings.NewReader(message + bell))
		m, err := d.Read(r)
		if err != nil || !m.Damage.Empty() || m.Resized || m.Cursor || m.Text != nil {
			t.Errorf("%s: %+v, %v", what, m, err)
			continue
		}
		if m, err = d.Read(r); err != nil || m.Kind != framebuffer.Bell {
			t.Errorf("%s: %+v, %v behind it, want a bell", what, m, err)
		}
		if _, err = d.Read(r); err != io.EOF {
			t.Errorf("%s: %v at the end", what, err)
		}
	}
}

func TestAnEndWithinAMessageIsUnexpected(t *testing.T) {
	s := &server{format: redFirst, img: scene(70, 20)}
	for way, encode := range ways {
		whole := update(encode(s, s.img.Rect)...)
		for _, n := range []int{1, 3, 15, 17, 20, len(whole) / 2, len(whole) - 1} {
			d := newDecoder(t, redFirst, s.img.Rect.Max)
			r := bufio.NewReader(strings.NewReader(whole[:n]))
			_, err := d.Read(r)
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, %d of %d bytes: %v", way, n, len(whole), err)
			}
			if _, again := d.Read(bufio.NewReader(strings.NewReader(bell))); again == nil {
				t.Errorf("%s: it goes on after %v", way, err)
			}
		}
		s.streams = [6]deflater{}
	}
}

func TestDamageIsAroundWhatChanged(t *testing.T) {
	d := newDecoder(t, redFirst, image.Pt(8, 6))
	all := func(c ...color.RGBA) string { return rect(image.Rect(0, 0, 8, 1), 0, colours(c...)) }
	for _, c := range []struct {
		rects []string
		want  image.Rectangle
	}{
		{[]string{all(black, black, black, black, black, black, black, black)}, image.Rectangle{}},
		{[]string{all(black, black, red, green, black, red, black, black)}, image.Rect(2, 0, 6, 1)},
		{[]string{all(black, black, red, green, black, red, black, black)}, image.Rectangle{}},
		{[]string{rect(image.Rect(3, 2, 4, 4), 0, colours(red, blue)), rect(image.Rect(5, 3, 6, 4), 0, colours(blue))}, image.Rect(3, 2, 6, 4)},
		{[]string{rect(image.Rect(0, 5, 8, 6), 1, u16(0), u16(1))}, image.Rectangle{}}, // black on black
		{[]string{rect(image.Rect(0, 5, 8, 6), 1, u16(0), u16(0))}, image.Rect(2, 5, 6, 6)},
		{[]string{rect(image.Rect(2, 4, 3, 5), 0, colours(green)), rect(image.Rect(0, 1, 8, 2), 0, colours(black, black, black, black, green, black, black, black))},
			image.Rect(2, 1, 5, 5)},
		{[]string{rect(image.Rect(4, 4, 6, 5), 0, colours(red, red)), all(red, black, red, green, black, red, black, blue)}, image.Rect(0, 0, 8, 5)},
	} {
		if m := read(t, d, update(c.rects...)); m.Damage != c.want {
			t.Errorf("%q: %v, want %v", c.rects, m.Damage, c.want)
		}
	}
}

func TestPixelsAreMovedToWhereTheyOverlap(t *testing.T) {
	for _, by := range []image.Point{{5, 0}, {-5, 0}, {0, 7}, {0, -7}, {3, 2}, {-3, -2}, {2, -3}, {-2, 3}, {30, 20}} {
		s := &server{format: redFirst, img: scene(80, 60)}
		d := newDecoder(t, redFirst, s.img.Rect.Max)
		from := image.Rect(35, 25, 65, 45)
		read(t, d, update(s.raw(s.img.Rect)...)+update(rect(from.Add(by).Intersect(s.img.Rect), 1, u16(from.Min.X), u16(from.Min.Y))))
		want := scene(80, 60)
		for y := range from.Dy() {
			for x := range from.Dx() {
				p := from.Min.Add(image.Pt(x, y))
				if at := p.Add(by); at.In(want.Rect) {
					want.SetRGBA(at.X, at.Y, s.img.RGBAAt(p.X, p.Y))
				}
			}
		}
		wantPicture(t, d, redFirst, want)
	}
}

func TestThePictureTakesAnotherSize(t *testing.T) {
	s := &server{format: redFirst, img: scene(40, 30)}
	screens := "\x01..." + strings.Repeat("s", 16)
	for _, c := range []struct {
		what string
		rect string
		want image.Point
	}{
		{"larger", rect(image.Rect(0, 0, 50, 45), -223), image.Pt(50, 45)},
		{"smaller", rect(image.Rect(0, 0, 33, 7), -223), image.Pt(33, 7)},
		{"wider and lower", rect(image.Rect(0, 0, 60, 7), -308, screens), image.Pt(60, 7)},
		{"as asked", rect(image.Rect(1, 0, 61, 7), -308, screens), image.Pt(60, 7)},
		{"as others asked", rect(image.Rect(2, 0, 62, 7), -308, screens), image.Pt(60, 7)},
	} {
		d := newDecoder(t, redFirst, s.img.Rect.Max)
		m := read(t, d, update(s.raw(s.img.Rect)...)+update(c.rect))
		if !m.Resized || m.Damage != (image.Rectangle{Max: c.want}) {
			t.Errorf("%s: %+v", c.what, m)
		}
		want := image.NewRGBA(image.Rectangle{Max: c.want})
		for y := range c.want.Y {
			for x := range c.want.X {
				want.SetRGBA(x, y, black)
				if image.Pt(x, y).In(s.img.Rect) {
					want.SetRGBA(x, y, s.img.RGBAAt(x, y))
				}
			}
		}
		wantPicture(t, d, redFirst, want)
		if m := read(t, d, update(c.rect)); m.Resized || !m.Damage.Empty() {
			t.Errorf("%s, again: %+v", c.what, m)
		}
		at := image.Rectangle{Min: c.want.Sub(image.Pt(1, 1)), Max: c.want}
		if m := read(t, d, update(rect(at, 0, colours(green)))); m.Damage != at {
			t.Errorf("%s: its corner %v is %v", c.what, at, m.Damage)
		}
	}
	d := newDecoder(t, redFirst, s.img.Rect.Max)
	if m := read(t, d, update(rect(image.Rect(1, 1, 101, 101), -308, screens))); m.Resized { // refused: 1, 1 is why and how
		t.Errorf("a size that was refused: %+v", m)
	}
}

func TestCursorsHaveShapeAndPlace(t *testing.T) {
	at := image.Rect(1, 2, 4, 4) // 3 by 2, hot at 1, 2
	for what, c := range map[string]struct {
		rect string
		want []color.RGBA
	}{
		"pixels and mask": {rect(at, -239, colours(red, green, blue, red, red, green), "\xa0\x40"), []color.RGBA{red, none, blue, none, red, none}},
		"two colours":     {rect(at, -240, "\xff\x00\x00\x00\x00\xff", "\xc0\x40", "\xa0\xe0"), []color.RGBA{red, none, blue, blue, red, blue}},
		"transparency": {rect(at, -314, u32(0), "\x80\x00\x00\x80", strings.Repeat("\x00\xff\x00\xff", 5)),
			[]color.RGBA{{R: 128, A: 128}, green, green, green, green, green}},
		"VMware's transparency": {rect(at, 0x574d5664, "\x01.", "\xff\x00\x00\x80", strings.Repeat("\x00\xff\x00\xff", 5)),
			[]color.RGBA{{R: 128, A: 128}, green, green, green, green, green}},
		"VMware's masks": {rect(at, 0x574d5664, "\x00.", strings.Repeat("\x00", 4), strings.Repeat("\xff", 12), strings.Repeat("\x00", 8),
			colours(red), "\x00\x00\x00\x00", "\xff\xff\xff\x00", "\x00\x00\x00\x00", colours(blue, black)), []color.RGBA{red, none, black, none, blue, black}},
	} {
		d := newDecoder(t, redFirst, image.Pt(8, 6))
		m := read(t, d, update(c.rect))
		if got := d.Cursor(); !m.Cursor || !m.Damage.Empty() || got.Hot != at.Min || got.Shape.Rect.Size() != at.Size() || got.Placed {
			t.Errorf("%s: %+v, %+v", what, m, got)
		}
		for i, want := range c.want {
			if got := d.Cursor().Shape.RGBAAt(i%3, i/3); got != want {
				t.Errorf("%s: pixel %d is %v, want %v", what, i, got, want)
			}
		}
		for _, empty := range []string{rect(image.Rectangle{}, -239), rect(image.Rectangle{}, -240), rect(image.Rectangle{}, -314, u32(0))} {
			read(t, d, update(empty))
			if got := d.Cursor(); got.Shape == nil || !got.Shape.Rect.Empty() {
				t.Errorf("%s: a hidden cursor is %+v", what, got)
			}
		}
		for i, where := range []int32{-232, 0x574d5666} {
			to := image.Pt(5, i)
			m := read(t, d, update(rect(image.Rectangle{Min: to, Max: to}, where)))
			if got := d.Cursor(); !m.Cursor || !got.Placed || got.At != to {
				t.Errorf("%s: %+v, %+v, want it at %v", what, m, got, to)
			}
		}
	}
}

func TestTheClipboardIsRead(t *testing.T) {
	text := "Gr\xfc\xdfe"
	long := "\u20ac" + strings.Repeat("x", 1000)
	most := strings.Repeat("m", framebuffer.MaxText)
	var z deflater
	packed := z.flush(u32(len(long)+1) + long + "\x00")
	for what, c := range map[string]struct {
		message string
		want    framebuffer.Message
	}{
		"plain":    {"\x03..." + u32(len(text)) + text, framebuffer.Message{Text: []byte("Grüße")}},
		"longest":  {"\x03..." + u32(framebuffer.MaxText) + most, framebuffer.Message{Text: []byte(most)}},
		"empty":    {"\x03..." + u32(0), framebuffer.Message{Text: []byte{}}},
		"caps":     {"\x03..." + u32(-12) + u32(1<<24|1<<28|3) + u32(4096) + u32(1), framebuffer.Message{Clipboard: framebuffer.Clipboard{Flags: 1<<24 | 1<<28 | 3, MaxText: 4096}}},
		"no text":  {"\x03..." + u32(-8) + u32(1<<24|2) + u32(4096), framebuffer.Message{Clipboard: framebuffer.Clipboard{Flags: 1<<24 | 2}}},
		"notify":   {"\x03..." + u32(-4) + u32(1<<27|1), framebuffer.Message{Clipboard: framebuffer.Clipboard{Flags: 1<<27 | 1}}},
		"provided": {"\x03..." + u32(-4-len(packed)) + u32(1<<28|1) + packed, framebuffer.Message{Text: []byte(long), Clipboard: framebuffer.Clipboard{Flags: 1<<28 | 1}}},
	} {
		m := read(t, newDecoder(t, redFirst, image.Pt(8, 6)), c.message)
		if m.Kind != framebuffer.CutText || !bytes.Equal(m.Text, c.want.Text) || (m.Text == nil) != (c.want.Text == nil) || m.Clipboard != c.want.Clipboard {
			t.Errorf("%s: %.200v, want %.200v", what, fmt.Sprintf("%+v", m), fmt.Sprintf("%+v", c.want))
		}
	}
}

// A viewer changes its format when no update is on its way; what was sent before is not read by it.
func TestAFormatHoldsFromTheNextUpdateOn(t *testing.T) {
	s := &server{format: sixteen, img: scene(40, 30)}
	d := newDecoder(t, [16]byte{12, 12}, s.img.Rect.Max) // that nobody can read
	if err := d.SetFormat(sixteen); err != nil {
		t.Fatal(err)
	}
	read(t, d, update(s.raw(s.img.Rect)...))
	wantPicture(t, d, sixteen, s.img)
	if err := d.SetFormat(blueFirst); err != nil {
		t.Fatal(err)
	}
	s.format = blueFirst
	read(t, d, bell+update(s.zrle(s.img.Rect)...))
	wantPicture(t, d, blueFirst, s.img)
}

func TestAJPEGIsCloseToThePicture(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 100, 90)) // without edges
	for i := range 100 * 90 {
		img.SetRGBA(i%100, i/100, color.RGBA{R: byte(i % 100 * 2), G: byte(i / 100 * 2), B: 100, A: 255})
	}
	s := &server{format: blueFirst, img: img}
	d := newDecoder(t, blueFirst, img.Rect.Max)
	read(t, d, update(s.tightJPEG(img.Rect)...))
	for i, got := range d.Picture().Pix {
		if diff := int(got) - int(img.Pix[i]); diff < -6 || diff > 6 {
			t.Fatalf("byte %d of the picture is %d, want about %d", i, got, img.Pix[i])
		}
	}
}

func TestWhatALiveViewerAsksForIsKnown(t *testing.T) {
	for _, e := range framebuffer.Live() {
		if !framebuffer.Knows(e) {
			t.Errorf("encoding %d is not", e)
		}
	}
	for e, want := range map[int32]bool{7: true, 2: true, -239: true, -32: true, -247: true, -312: true, -224: true, 17: false, 50: false, -260: false, -316: true, 15: false} {
		if framebuffer.Knows(e) != want {
			t.Errorf("encoding %d: known is not %v", e, want)
		}
	}
}
