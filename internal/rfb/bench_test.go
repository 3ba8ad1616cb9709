package rfb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// strict is the policy that does the most.
var strict = rfb.Policy{FixedSize: true, NoClipboardIn: true, FPS: 30, PreferTight: true}

// A message at a time is what a hand at the mouse makes; 100 in one read are what a busy relay
// sees.
func BenchmarkFilter(b *testing.B) {
	for _, bench := range []struct {
		name, message string
		policy        rfb.Policy
	}{
		{"pointer", pointer, strict}, {"key", key, strict}, {"request/paced", updateNew, strict}, {"request/free", updateNew, rfb.Policy{}},
		{"pointer/dropped", pointer, rfb.Policy{ViewOnly: true}},
		{"encodings16", list(1, 16, 7, 5, 2, 0, -23, -247, -313, -312, -258, -314, -308, -307, -224, -316), strict},
	} {
		for _, batch := range []int{1, 100} {
			b.Run(bench.name+map[int]string{1: "/one", 100: "/hundred"}[batch], func(b *testing.B) {
				f := rfb.NewFilter(bench.policy)
				in := []byte(strings.Repeat(bench.message, batch))
				out := make([]byte, 0, 2*len(in))
				now := start
				b.ReportAllocs()
				for b.Loop() {
					now = now.Add(time.Millisecond)
					var err error
					if out, err = f.Push(out[:0], in, now); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/message")
			})
		}
	}
}

// A megabyte of what a server sends, in the pieces in which a relay reads it.
func BenchmarkFramer(b *testing.B) {
	const megabyte, piece = 1 << 20, 32 << 10
	for name, u := range map[string]string{
		"tight":   update(rect(64, 64, 7, "\x00", compact(900), noise(900)), rect(16, 16, 7, "\x80", noise(3)), rect(64, 64, 7, "\x90", compact(3000), noise(3000))),
		"ZRLE":    update(rect(64, 64, 16, u32(4000), noise(4000))),
		"hextile": update(rect(64, 64, 5, strings.Repeat("\x0e"+noise(8)+"\x05"+noise(10), 16))),
		"raw":     update(rect(64, 64, 0, noise(4*64*64))),
	} {
		stream := []byte(strings.Repeat(u, megabyte/len(u)))
		b.Run(name, func(b *testing.B) {
			f := rfb.NewFramer(deep)
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				for at := 0; at < len(stream); at += piece {
					if _, err := f.Pass(stream[at:min(at+piece, len(stream))]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkVerifyVNC(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if !rfb.VerifyVNC(challenge, response, "secret") {
			b.Fatal("not verified")
		}
	}
}
