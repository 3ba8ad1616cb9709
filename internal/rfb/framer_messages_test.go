package rfb_test

import (
	"encoding/binary"
	"strings"
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
		"gii":               "\xfd\x81" + u16(4) + "abcd",
		"little gii":        "\xfd\x01\x04\x00abcd",
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
		"VMware position":        rect(0, 0, 0x574d5666),
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
