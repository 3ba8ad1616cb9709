package rfb_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

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
	viewer := rfb.NewFilter(rfb.Policy{Framer: f, NoClipboardOut: true})
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

// format is SetPixelFormat.
func format(of [16]byte) string { return "\x00..." + string(of[:]) }

// whole is an update in a pixel format.
func whole(of [16]byte) string {
	p, _ := pixelBytes(of)
	return update(rect(5, 7, 0, noise(35*p)), rect(2, 2, 0, noise(4*p)))
}

// rfbFilterError is the error of the messages of a viewer with a framer.
func rfbFilterError(server [16]byte, messages ...string) error {
	_, err := rfb.NewFilter(rfb.Policy{Framer: rfb.NewFramer(server), NoClipboardOut: true}).Push(nil, []byte(strings.Join(messages, "")), start)
	return err
}

func TestAViewerWithAFramerIsOfferedOnlyWhatItCanFollow(t *testing.T) {
	f := rfb.NewFilter(rfb.Policy{Framer: rfb.NewFramer(deep), NoClipboardOut: true})
	got, err := f.Push(nil, []byte(list(16, 15, 7, 8, 5, 21, 50, 1, 0, -239, -314, -1063131698, -313, -316, -23, -250, -450, 1100, -224)+continuous), start)
	if want := list(16, 7, 5, 50, 1, 0, -239, -314, -313, -316, -23, -250, -450, -224); err != nil || string(got) != want {
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
