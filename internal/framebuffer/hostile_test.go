package framebuffer_test

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// packed is a rectangle of a zlib stream that begins with it.
func packed(r image.Rectangle, encoding int32, plain string) string {
	z := new(deflater).flush(plain)
	return update(rect(r, encoding, u32(len(z)), z))
}

// bomb is a zlib stream of a gigabyte of zeros.
func bomb() string {
	var out bytes.Buffer
	w, _ := zlib.NewWriterLevel(&out, zlib.BestSpeed)
	zeros := make([]byte, 1<<20)
	for range 64 {
		_, _ = w.Write(zeros)
	}
	_ = w.Flush()
	return out.String()
}

// aJPEG is one of another size, or a part of it.
func aJPEG(w, h, most int) string {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, scene(w, h), nil); err != nil {
		panic(err)
	}
	return b.String()[:min(most, b.Len())]
}

func tightJPEG(r image.Rectangle, data string) string {
	return update(rect(r, 7, "\x90", compact(len(data)), data))
}

func TestAHostileServerIsRefused(t *testing.T) {
	whole, tile := image.Rect(0, 0, 64, 48), image.Rect(0, 0, 16, 16)
	c := "ccc"
	huge := strings.Replace(aJPEG(64, 48, 1<<20), "\x00\x30\x00\x40\x03", "\xff\xff\xff\xff\x03", 1)
	zeros := bomb()
	for what, h := range map[string]struct{ stream, want string }{
		"a message":           {"\x07", "message type 7"},
		"QEMU's message":      {"\xff\x02\x00\x00", "QEMU's message 2"},
		"an encoding":         {update(rect(tile, 15)), "encoding 15"},
		"right of it":         {update(rect(image.Rect(1, 0, 65, 1), 0)), "ends at (64,48)"},
		"below it":            {update(rect(image.Rect(0, 1, 1, 49), 16)), "ends at (64,48)"},
		"far out":             {update(rect(image.Rect(65535, 65535, 131070, 131070), 5)), "ends at (64,48)"},
		"nothing, outside":    {update(rect(image.Rect(0, 49, 0, 49), 0)), "ends at (64,48)"},
		"a copy from outside": {update(rect(image.Rect(0, 0, 2, 2), 1, u16(63), u16(0))), "ends at (64,48)"},
		"a copy from below":   {update(rect(image.Rect(0, 0, 2, 2), 1, u16(0), u16(65535))), "ends at (64,48)"},
		"RRE outside":         {update(rect(tile, 2, u32(1), "back", "fore", u16(15), u16(0), u16(2), u16(1))), "has one at"},
		"CoRRE outside":       {update(rect(tile, 4, u32(1), "back", "fore", "\x00\x0f\x01\x02")), "has one at"},
		"endless RRE": {update(rect(whole, 2, u32(-1), "back", strings.Repeat("fore"+u16(0)+u16(0)+u16(64)+u16(48), 40000))),
			"draws more"},
		"endless fill":   {"\x00." + u16(65535) + strings.Repeat(rect(whole, 7, "\x80", c), 40000), "draws more"},
		"endless copies": {"\x00." + u16(65535) + strings.Repeat(rect(whole, 1, u32(0)), 40000), "draws more"},
		"endless sizes": {"\x00." + u16(65535) + strings.Repeat(rect(image.Rect(0, 0, 4096, 4096), -223)+rect(image.Rect(0, 0, 4096, 4095), -223), 3),
			"a picture of"},
		"hextile outside":       {update(rect(image.Rect(0, 0, 17, 16), 5, "\x0e", "back", "fore", "\x00", "\x08\x01\x00\x10")), "a tile of 1x16 has one to 2,1"},
		"hextile below":         {update(rect(image.Rect(0, 0, 16, 15), 5, "\x0e", "back", "fore", "\x01\x0f\x00")), "a tile of 16x15 has one to 1,16"},
		"a zlib head":           {update(rect(tile, 6, u32(4), "\x79\x9cab")), "begins with 799c"},
		"a zlib dictionary":     {update(rect(tile, 6, u32(4), "\x78\xbbab")), "begins with 78bb"},
		"no zlib head":          {update(rect(tile, 6, u32(1), "\x78")), "too short"},
		"no deflate":            {update(rect(tile, 6, u32(8), "\x78\x9c\xff\xff\xff\xff\xff\xff")), "corrupt"},
		"a zlib stream's end":   {update(rect(tile, 6, u32(11), "\x78\x9c\x03\x00\x00\x00\x00\x01...")), "compressed data: unexpected EOF"},
		"few zlib pixels":       {packed(tile, 6, strings.Repeat("four", 255)), "too short"},
		"many zlib pixels":      {packed(tile, 6, strings.Repeat("four", 257)), "too long"},
		"a zlib bomb":           {update(rect(tile, 6, u32(len(zeros)), zeros)), "too long"},
		"a ZRLE bomb":           {update(rect(tile, 16, u32(len(zeros)), zeros)), "too long"},
		"a Tight bomb":          {update(rect(tile, 7, "\x00", compact(len(zeros)), zeros)), "too long"},
		"a long ZRLE":           {packed(tile, 16, "\x01"+c+"\x00"), "too long"},
		"a short ZRLE":          {packed(whole, 16, "\x00"+strings.Repeat(c, 64*47)), "too short"},
		"a packed index":        {packed(tile, 16, "\x03"+c+c+c+strings.Repeat("\xff", 64)), "colour 3 of a palette of 3"},
		"an index":              {packed(tile, 16, "\x82"+c+c+"\x02"), "colour 2 of a palette of 2"},
		"an index of a run":     {packed(tile, 16, "\x82"+c+c+"\x82\xff\x00"), "colour 2 of a palette of 2"},
		"a ZRLE tile":           {packed(tile, 16, "\x11"+strings.Repeat(c, 17)), "a tile of kind 17"},
		"another ZRLE tile":     {packed(tile, 16, "\x81"+c+"\x00"), "a tile of kind 129"},
		"a long run":            {packed(tile, 16, "\x80"+c+"\xfe"+c+"\x01"), "a run of 2 pixels, 1 before"},
		"a very long run":       {packed(tile, 16, "\x80"+c+strings.Repeat("\xff", 1<<16)), "a run of 4"},
		"Tight's control":       {update(rect(tile, 7, "\xb0")), "control 11 of Tight"},
		"Tight's filter":        {update(rect(tile, 7, "\x40\x03")), "filter 3 of Tight"},
		"Tight's index":         {update(rect(image.Rect(0, 0, 3, 3), 7, "\x40\x01\x02", c+c+c, "\x00\x01\x02\x03.....")), "colour 3 of a palette of 3"},
		"Tight of one colour":   {update(rect(image.Rect(0, 0, 3, 3), 7, "\x40\x01\x00", c, "\x00\x20\x00")), "colour 1 of a palette of 1"},
		"Tight, not compressed": {update(rect(tile, 7, "\xa0", compact(16*16*3-1))), "767 bytes, want 768"},
		"a broken JPEG":         {tightJPEG(whole, "\xff\xd8\xff\xe0nonsense"), "a JPEG: "},
		"a truncated JPEG":      {tightJPEG(whole, aJPEG(64, 48, 900)), "a JPEG: "},
		"no JPEG":               {tightJPEG(whole, ""), "a JPEG: "},
		"another JPEG":          {tightJPEG(whole, aJPEG(63, 48, 1<<20)), "a JPEG of 63x48"},
		"a huge JPEG":           {tightJPEG(whole, huge), "a JPEG of 65535x65535"},
		"a large JPEG":          {update(rect(image.Rect(0, 0, 1025, 1024), -223), rect(image.Rect(0, 0, 1025, 1024), 7, "\x90\x00")), "a JPEG of more than"},
		"a huge size":           {update(rect(image.Rect(0, 0, 65535, 65535), -223)), "a picture of 65535x65535"},
		"no size":               {update(rect(image.Rectangle{}, -223)), "a picture of 0x0"},
		"no width":              {update(rect(image.Rect(0, 0, 0, 99), -308, u32(0))), "a picture of 0x99"},
		"a huge cursor":         {update(rect(image.Rect(0, 0, 65535, 65535), -239)), "a cursor of 65535x65535"},
		"a huge X cursor":       {update(rect(image.Rect(0, 0, 513, 512), -240)), "a cursor of 513x512"},
		"a huge alpha cursor":   {update(rect(image.Rect(0, 0, 65535, 1024), -314, u32(0))), "a cursor of 65535x1024"},
		"a huge VMware cursor":  {update(rect(image.Rect(0, 0, 65535, 1024), 0x574d5664, "\x01.")), "a cursor of 65535x1024"},
		"a cursor's encoding":   {update(rect(tile, -314, u32(16))), "a cursor of encoding 16"},
		"a cursor's type":       {update(rect(tile, 0x574d5664, "\x02.")), "a cursor of VMware's type 2"},
		"a name":                {update(rect(image.Rectangle{}, -307, u32(-1), "endless")), "EOF"},
		"text":                  {"\x03..." + u32(1<<31-1) + "endless", "EOF"},
		"text to and fro":       {"\x03..." + u32(-1<<31) + "endless", "EOF"},
		"sound":                 {"\xff\x01\x00\x02" + u32(-1) + "endless", "EOF"},
		"a colour map":          {"\x01." + u16(65535) + u16(65535) + "endless", "EOF"},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDecoder(t, blueFirst, whole.Max)
			r := bufio.NewReader(strings.NewReader(h.stream))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := d.Read(r)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), h.want) {
				t.Errorf("%v, want %q", err, h.want)
			}
			if cut := h.want == "EOF"; cut != errors.Is(err, io.ErrUnexpectedEOF) || cut == (rfb.KindOf(err) == rfb.KindMessage) {
				t.Errorf("%v is of kind %v", err, rfb.KindOf(err))
			}
			most := uint64(5 << 20)
			if what == "endless sizes" {
				most = 5 * 4 * framebuffer.MaxPixels
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > most {
				t.Errorf("%d bytes were allocated", used)
			}
			if p := d.Picture(); len(p.Pix) != 4*p.Width*p.Height || p.Width*p.Height > framebuffer.MaxPixels {
				t.Errorf("a picture of %dx%d with %d bytes", p.Width, p.Height, len(p.Pix))
			}
			if _, again := d.Read(r); again == nil || again == io.EOF {
				t.Errorf("it goes on after %v", err)
			}
		})
	}
}

func TestAColourMapHasNoGradient(t *testing.T) {
	d := newDecoder(t, mapped, image.Pt(8, 8))
	_, err := d.Read(bufio.NewReader(strings.NewReader(update(rect(image.Rect(0, 0, 8, 8), 7, "\x40\x02", compact(64))))))
	if err == nil || !strings.Contains(err.Error(), "gradient with a colour map") {
		t.Error(err)
	}
}

func TestAPictureOfNoOrHugeSizeIsRefused(t *testing.T) {
	for _, size := range []image.Point{{0, 1}, {1, 0}, {65535, 65535}, {4097, 4096}} {
		if _, err := framebuffer.NewDecoder(rfb.Init{Width: uint16(size.X), Height: uint16(size.Y), Format: redFirst}); err == nil {
			t.Errorf("%v is not refused", size)
		}
	}
}

func TestAPixelFormatThatNobodyCanReadIsRefused(t *testing.T) {
	for what, f := range map[string][16]byte{
		"no bits": {0, 0, 0, 1, 0, 1, 0, 1, 0, 1}, "12 bits": {12, 12, 0, 1, 0, 15, 0, 15, 0, 15, 0, 4, 8}, "40 bits": {40, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16},
		"a map of 16 bits": {16, 16}, "no red": {32, 24, 0, 1, 0, 0, 0, 255, 0, 255, 0, 8, 16},
		"a green of 254":  {32, 24, 0, 1, 0, 255, 0, 254, 0, 255, 0, 8, 16},
		"blue outside it": {32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 25}, "blue far outside it": {32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 255},
	} {
		d := newDecoder(t, redFirst, image.Pt(8, 8))
		if err := d.SetFormat(f); rfb.KindOf(err) != rfb.KindMessage {
			t.Errorf("%s: %v", what, err)
		}
		r := bufio.NewReader(strings.NewReader(bell + update()))
		if m, err := d.Read(r); err != nil || m.Kind != framebuffer.Bell {
			t.Errorf("%s: %+v, %v", what, m, err)
		}
		if _, err := d.Read(r); rfb.KindOf(err) != rfb.KindMessage {
			t.Errorf("%s: %v from an update", what, err)
		}
	}
}

func TestADecoderHoldsLittleMoreThanItsPicture(t *testing.T) {
	s := &server{format: redFirst, img: scene(320, 240)}
	stream := update(s.zrle(s.img.Rect)...) + update(s.zrle(s.img.Rect)...)
	held := func() int {
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		return int(now.HeapAlloc)
	}
	before := held()
	d := newDecoder(t, redFirst, s.img.Rect.Max)
	read(t, d, stream)
	if used := held() - before - len(s.img.Pix); used > 512<<10 {
		t.Errorf("%d bytes besides the picture", used)
	}
	wantPicture(t, d, redFirst, s.img)
}
