package framebuffer_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"image"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkUpdate is of a whole picture of 1280x720: a busy one, and the test card, which is more like a
// desktop. Every pixel changes with each update, or none does.
func BenchmarkUpdate(b *testing.B) {
	for name, img := range map[string]*image.RGBA{"busy": scene(1280, 720), "card": cardPicture(b)} {
		inverse := image.NewRGBA(img.Rect)
		for i := range img.Pix {
			inverse.Pix[i] = 255 - img.Pix[i]
		}
		for way, encode := range map[string]func(*server, image.Rectangle) []string{
			"raw": (*server).raw, "hextile": (*server).hextile, "ZRLE": (*server).zrle, "tight": (*server).tightColours, "JPEG": (*server).tightJPEG,
		} {
			one, other := message(img, encode), message(inverse, encode)
			for what, turns := range map[string][]string{"changed": {other, one}, "same": {one}} {
				b.Run(name+"/"+way+"/"+what, func(b *testing.B) {
					d := newDecoder(b, redFirst, img.Rect.Max)
					read(b, d, beginStreams+one)
					in, r := strings.NewReader(""), bufio.NewReaderSize(nil, 64<<10)
					before := cpu(b)
					b.ReportAllocs()
					b.SetBytes(int64(len(one)))
					for b.Loop() {
						for _, turn := range turns {
							in.Reset(turn)
							r.Reset(in)
							m, err := d.Read(r)
							if err != nil || m.Damage.Empty() != (what == "same") && way != "JPEG" {
								b.Fatal(m, err)
							}
						}
					}
					b.ReportMetric((cpu(b)-before)*1000/float64(b.N*len(turns)), "cpu-ms/picture")
				})
			}
		}
	}
}

// beginStreams are the heads of all zlib streams, in rectangles without pixels.
var beginStreams = update(rect(image.Rect(0, 0, 1, 1), 16, u32(len(firstTile)), firstTile)) +
	update(rect(image.Rect(0, 0, 9, 9), 7, "\x00", compact(len(firstPixels)), firstPixels)) +
	update(rect(image.Rect(0, 0, 9, 9), 7, "\x10", compact(len(firstPixels)), firstPixels)) +
	update(rect(image.Rect(0, 0, 9, 9), 7, "\x20", compact(len(firstPixels)), firstPixels)) +
	update(rect(image.Rect(0, 0, 9, 9), 7, "\x30", compact(len(firstPixels)), firstPixels))

var (
	firstTile   = new(deflater).flush("\x01abc")
	firstPixels = new(deflater).flush(strings.Repeat("abc", 81))
)

// message is an update that can be sent again and again: no zlib stream looks back behind its begin.
func message(img *image.RGBA, encode func(*server, image.Rectangle) []string) string {
	s := &server{format: redFirst, img: img, again: true}
	return update(encode(s, img.Rect)...)
}

// restart compresses bytes for a stream that has begun.
func restart(plain string) string {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.DefaultCompression)
	_, _ = w.Write([]byte(plain))
	_ = w.Flush()
	return out.String()
}

// cpu is the seconds that this process has computed: on a busy machine time is no measure.
func cpu(b *testing.B) float64 {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}
