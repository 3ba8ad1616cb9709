package rfb_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// Pixel formats: 32 bits with a depth of 24 (3 bytes in Tight), 32 with 30, 16 and 8.
var (
	deep   = [16]byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0}
	deeper = [16]byte{32, 30, 0, 1, 3, 255, 3, 255, 3, 255, 20, 10, 0}
	thin   = [16]byte{16, 16, 0, 1, 0, 31, 0, 63, 0, 31, 11, 5, 0}
	mapped = [16]byte{8, 8}
)

// pixelBytes are those of a pixel, and of one in Tight.
func pixelBytes(format [16]byte) (pixel, tight int) {
	if format == deep {
		return 4, 3
	}
	return int(format[0]) / 8, int(format[0]) / 8
}

func u16(n int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }
func u32(n int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }

// clip is the clipboard, plain and extended. It looks like the beginning of other messages too.
const marked = "\x00\x03\x02 marked text \xff\xf8\x00\x00\x00\x01"

var (
	plainCut    = "\x03..." + u32(len(marked)) + marked
	extendedCut = "\x03..." + u32(-len(marked)) + marked
)

// noise is a body of n bytes in which every value of a byte is.
func noise(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return string(b)
}

// rect is a rectangle with its body.
func rect(w, h int, encoding int32, body ...string) string {
	return u16(3) + u16(4) + u16(w) + u16(h) + u32(int(encoding)) + strings.Join(body, "")
}

// update is a FramebufferUpdate.
func update(rects ...string) string { return "\x00." + u16(len(rects)) + strings.Join(rects, "") }

// compact is a length of Tight.
func compact(n int) string {
	switch {
	case n < 1<<7:
		return string([]byte{byte(n)})
	case n < 1<<14:
		return string([]byte{byte(n) | 0x80, byte(n >> 7)})
	}
	return string([]byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n >> 14)})
}

// serverMessages are messages of all types and rectangles of all encodings, for a pixel format.
func serverMessages(format [16]byte) map[string]string {
	p, tp := pixelBytes(format)
	px, tpx := noise(p), noise(tp)
	all := map[string]string{
		"colour map":        "\x01." + u16(5) + u16(3) + noise(18),
		"bell":              "\x02",
		"end of continuous": "\x96",
		"fence":             "\xf8..." + u32(1<<31) + "\x03abc",
		"empty fence":       "\xf8..." + u32(0) + "\x00",
		"xvp":               "\xfa.\x01\x00",
		"gii":               "\xfc\x81" + u16(4) + "abcd",
		"little gii":        "\xfc\x01\x04\x00abcd",
		"audio begins":      "\xff\x01\x00\x01",
		"audio":             "\xff\x01\x00\x02" + u32(300) + noise(300),
		"no rectangle":      update(),
	}
	tiles := func(w, h int) (body string) { // one of each kind, in turn
		kinds := []func(tw, th int) string{
			func(tw, th int) string { return "\x01" + noise(tw*th*p) },
			func(int, int) string { return "\x00" },
			func(int, int) string { return "\x02" + px },
			func(int, int) string { return "\x06" + px + px },
			func(int, int) string { return "\x0e" + px + px + "\x02" + noise(4) },
			func(int, int) string { return "\x1a" + px + "\x03" + noise(3*(p+2)) },
			func(int, int) string { return "\x08\x00" },
			func(tw, th int) string { return "\x1f" + noise(tw*th*p) }, // raw: the rest does not count
		}
		n := 0
		for y := 0; y < h; y += 16 {
			for x := 0; x < w; x += 16 {
				body += kinds[n%len(kinds)](min(16, w-x), min(16, h-y))
				n++
			}
		}
		return body
	}
	for name, r := range map[string]string{
		"raw":                    rect(5, 7, 0, noise(35*p)),
		"raw without a pixel":    rect(0, 7, 0),
		"copy":                   rect(5, 7, 1, noise(4)),
		"RRE":                    rect(5, 7, 2, u32(3), px, noise(3*(p+8))),
		"CoRRE":                  rect(5, 7, 4, u32(3), px, noise(3*(p+4))),
		"hextile":                rect(70, 33, 5, tiles(70, 33)),
		"hextile of a tile":      rect(16, 16, 5, tiles(16, 16)),
		"hextile without a tile": rect(0, 16, 5),
		"zlib":                   rect(5, 7, 6, u32(500), noise(500)),
		"ZRLE":                   rect(5, 7, 16, u32(0)),
		"ZYWRLE":                 rect(5, 7, 17, u32(1), "z"),
		"H.264":                  rect(5, 7, 50, u32(9), u32(1), noise(9)),
		"tight fill":             rect(50, 70, 7, "\x80", tpx),
		"tight JPEG":             rect(50, 70, 7, "\x90", compact(20000), noise(20000)),
		"tight JPEG of 200":      rect(50, 70, 7, "\x9f", compact(200), noise(200)),
		"tight copy":             rect(50, 70, 7, "\x00", compact(77), noise(77)),
		"tight small copy":       rect(1, 2, 7, "\x10", noise(2*tp)),
		"tight filtered copy":    rect(50, 70, 7, "\x40\x00", compact(77), noise(77)),
		"tight gradient":         rect(50, 70, 7, "\x72\x02", compact(77), noise(77)),
		"tight two colours":      rect(50, 70, 7, "\x40\x01\x01", tpx, tpx, compact(77), noise(77)),
		"tight small bits":       rect(9, 5, 7, "\x40\x01\x01", tpx, tpx, noise(10)),
		"tight colours":          rect(50, 70, 7, "\x50\x01\xff", strings.Repeat(tpx, 256), compact(777), noise(777)),
		"tight small palette":    rect(3, 3, 7, "\x50\x01\x02", strings.Repeat(tpx, 3), noise(9)),
		"tight stored":           rect(50, 70, 7, "\xa0", compact(50*70*tp), noise(50*70*tp)),
		"tight stored palette":   rect(50, 70, 7, "\xe0\x01\x02", strings.Repeat(tpx, 3), compact(3500), noise(3500)),
		"tight PNG":              rect(50, 70, -260, "\xa0", compact(777), noise(777)),
		"tight PNG fill":         rect(50, 70, -260, "\x80", tpx),
		"cursor":                 rect(17, 5, -239, noise(17*5*p+3*5)),
		"X cursor":               rect(17, 5, -240, noise(6+2*3*5)),
		"no X cursor":            rect(0, 0, -240),
		"cursor with alpha":      rect(17, 5, -314, u32(0), noise(17*5*4)),
		"VMware cursor":          rect(17, 5, 0x574d5664, "\x00.", noise(2*17*5*p)),
		"VMware alpha cursor":    rect(17, 5, 0x574d5664, "\x01.", noise(17*5*4)),
		"VMware lights":          rect(0, 0, 0x574d5668, noise(4)),
		"QEMU lights":            rect(0, 0, -261, "\x07"),
		"QEMU keys":              rect(0, 0, -258),
		"desktop size":           rect(800, 600, -223),
		"screens":                rect(800, 600, -308, "\x02...", noise(32)),
		"name":                   rect(0, 0, -307, u32(5), "hello"),
	} {
		all[name] = update(r)
		all[name+", twice"] = update(r, r)
	}
	all["last"] = "\x00.\xff\xff" + rect(1, 1, 0, px) + rect(0, 0, -224)
	return all
}

// pass takes a stream through a framer, in pieces of at most so many bytes; 0: of any number.
func pass(format [16]byte, stream string, most int) (string, error) {
	f := rfb.NewFramer(format)
	var out bytes.Buffer
	random := rand.New(rand.NewPCG(1, uint64(len(stream))))
	for in := []byte(stream); len(in) > 0; {
		n := min(most, len(in))
		if most == 0 {
			n = 1 + random.IntN(len(in))
		}
		kept, err := f.Pass(bytes.Clone(in[:n]))
		out.Write(kept)
		if err != nil {
			return out.String(), err
		}
		in = in[n:]
	}
	return out.String(), nil
}

func TestTheClipboardIsTakenOutBehindEveryMessage(t *testing.T) {
	for name, format := range map[string][16]byte{"deep": deep, "deeper": deeper, "thin": thin, "mapped": mapped} {
		all, stream, want := serverMessages(format), "", ""
		for what, m := range all {
			for _, most := range []int{1, 2, 13, 1 << 20} {
				if got, err := pass(format, plainCut+m+extendedCut+m+plainCut, most); err != nil || got != m+m {
					t.Errorf("%s, %s, in pieces of %d: %d bytes, want %d; %v", name, what, most, len(got), 2*len(m), err)
				}
			}
			stream, want = stream+plainCut+m+extendedCut, want+m
		}
		for range 20 {
			if got, err := pass(format, stream, 0); err != nil || got != want {
				t.Fatalf("%s: all messages in pieces: %d bytes, want %d; %v", name, len(got), len(want), err)
			}
		}
	}
}

func TestAMessageThatCannotBeFollowedEndsTheStream(t *testing.T) {
	for what, m := range map[string]string{
		"type":           "\x07",
		"QEMU":           "\xff\x02\x00\x00",
		"encoding":       update(rect(1, 1, 15)),
		"tight control":  update(rect(50, 50, 7, "\xb0")),
		"PNG control":    update(rect(50, 50, -260, "\xb0")),
		"cursor":         update(rect(1, 1, -314, u32(16))),
		"VMware cursor":  update(rect(1, 1, 0x574d5664, "\x02.")),
		"not after last": "\x00.\xff\xff" + rect(0, 0, -224) + "\x09",
	} {
		for _, most := range []int{1, 1 << 20} {
			got, err := pass(deep, "\x02"+m+plainCut, most)
			wantKind(t, err, rfb.KindMessage)
			if strings.Contains(got, "marked") || !strings.HasPrefix("\x02"+m, got) {
				t.Errorf("%s: %q passed", what, got)
			}
		}
	}
}

// A viewer changes its pixel format when it has the answer to its last request; then all that follows
// has the new one.
func TestTheFramerFollowsTheViewersPixelFormat(t *testing.T) {
	f := rfb.NewFramer(deep)
	viewer := rfb.NewFilter(rfb.Policy{Framer: f})
	say := func(messages ...string) error {
		_, err := viewer.Push(nil, []byte(strings.Join(messages, "")), start)
		return err
	}
	hear := func(message string) {
		t.Helper()
		if got, err := f.Pass([]byte(message + plainCut)); err != nil || string(got) != message {
			t.Fatalf("%q, %v, want %q", got, err, message)
		}
	}
	format := func(of [16]byte) string { return "\x00..." + string(of[:]) }
	whole := func(of [16]byte) string {
		p, _ := pixelBytes(of)
		return update(rect(5, 7, 0, noise(35*p)), rect(2, 2, 0, noise(4*p)))
	}
	if err := say(format(mapped), updateAll); err != nil {
		t.Fatal(err)
	}
	hear(whole(mapped))
	if err := say(format(thin), updateNew); err != nil {
		t.Fatal(err)
	}
	hear(whole(thin))
	if err := say(updateNew, format(thin), key); err != nil { // the same again, at any time
		t.Fatal(err)
	}
	whole16 := whole(thin)
	if got, err := f.Pass([]byte(whole16[:20])); err != nil || string(got) != whole16[:20] {
		t.Fatal(got, err)
	}
	if err := say(format(deep), updateNew); err != nil { // in the middle of the answer, as TigerVNC does
		t.Fatal(err)
	}
	hear(whole16[20:])
	hear(whole(deep))
	for _, bad := range [][16]byte{{24, 24, 0, 1}, {32, 24, 0, 0}, {}} {
		wantKind(t, rfbFilterError(deep, format(bad)), rfb.KindMessage)
	}
	wantKind(t, rfbFilterError(deep, updateNew, format(thin)), rfb.KindMessage) // nobody knows which one the next update has
}

// rfbFilterError is the error of the messages of a viewer with a framer.
func rfbFilterError(server [16]byte, messages ...string) error {
	_, err := rfb.NewFilter(rfb.Policy{Framer: rfb.NewFramer(server)}).Push(nil, []byte(strings.Join(messages, "")), start)
	return err
}

func TestAViewerWithAFramerIsOfferedOnlyWhatItCanFollow(t *testing.T) {
	f := rfb.NewFilter(rfb.Policy{Framer: rfb.NewFramer(deep)})
	got, err := f.Push(nil, []byte(list(16, 15, 7, 8, 5, 21, 50, 1, 0, -239, -314, -1063131698, -313, -316, -23, -250, -450, 1100, -224)+continuous), start)
	if want := list(16, 7, 5, 50, 1, 0, -239, -314, -23, -250, -450, -224); err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// Any cut of any stream gives the same bytes and the same end, and nothing is added.
func FuzzFramer(f *testing.F) {
	for _, format := range [][16]byte{deep, thin} {
		for _, m := range serverMessages(format) {
			f.Add(format[0], []byte(plainCut+m[:min(len(m), 400)]), uint64(3))
		}
	}
	f.Fuzz(func(t *testing.T, bits byte, stream []byte, seed uint64) {
		format := deep
		if format[0] = bits; bits != 32 {
			format = thin
		}
		want, wantErr := pass(format, string(stream), len(stream)+1)
		if len(want) > len(stream) {
			t.Fatalf("%d bytes became %d", len(stream), len(want))
		}
		one, err := pass(format, string(stream), 1)
		if one != want || (err == nil) != (wantErr == nil) {
			t.Fatalf("byte by byte: %q, %v, want %q, %v", one, err, want, wantErr)
		}
		random, cuts := rand.New(rand.NewPCG(seed, 0)), rfb.NewFramer(format)
		var got []byte
		for in := stream; len(in) > 0; {
			n := 1 + random.IntN(len(in))
			kept, err := cuts.Pass(bytes.Clone(in[:n]))
			if got = append(got, kept...); err != nil {
				break
			}
			in = in[n:]
		}
		if string(got) != want {
			t.Fatalf("cut: %q, want %q", got, want)
		}
	})
}
