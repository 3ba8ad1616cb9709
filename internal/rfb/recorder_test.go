package rfb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// recorder notes what a Filter tells it.
type recorder struct {
	sent    string
	aborted error
}

func (r *recorder) Sent(message []byte) { r.sent += string(message) }
func (r *recorder) Abort(cause error)   { r.aborted = cause }

func TestARecorderHearsWhatPasses(t *testing.T) {
	r, f := new(recorder), rfb.NewFramer(deep)
	filter := rfb.NewFilter(rfb.Policy{Framer: f, Recorder: r, Knows: func(e int32) bool { return e != 5 }})
	format := "\x00..." + string(deep[:])
	for _, piece := range strings.Split(format+list(7, 5, 16, -307, -1063131698)+updateAll+pointer+key+qemuKey+cutText, "") { // cut anywhere
		if _, err := filter.Push(nil, []byte(piece), start); err != nil {
			t.Fatal(err)
		}
	}
	if want := format + list(7, 16, -1063131698) + pointer + key + qemuKey; !strings.HasPrefix(r.sent, want) || strings.Contains(r.sent, "hello") {
		t.Errorf("it hears %q, want %q and no clipboard", r.sent, want)
	}
	viewer := rfb.NewFilter(rfb.Policy{Framer: f, Recorder: r, ViewOnly: true})
	r.sent = ""
	if _, err := viewer.Push(nil, []byte(pointer+key), start); err != nil || r.sent != "" {
		t.Errorf("it hears %q, which did not pass, %v", r.sent, err)
	}
}

// A viewer that changes its pixel format while an update is on its way ends a recording, but the session
// only where the clipboard must be told apart.
func TestWhatCannotBeFollowedEndsTheRecording(t *testing.T) {
	for _, clipboard := range []bool{true, false} {
		r := new(recorder)
		filter := rfb.NewFilter(rfb.Policy{Framer: rfb.NewFramer(deep), Recorder: r, NoClipboardOut: !clipboard})
		out, err := filter.Push(nil, []byte(updateNew+"\x00..."+string(thin[:])+key), start)
		if clipboard && (err != nil || r.aborted == nil || !strings.HasSuffix(string(out), key)) {
			t.Errorf("the session goes on with %q, %v; the recording ends with %v", out, err, r.aborted)
		}
		var protocol *rfb.Error
		if !clipboard && (!errors.As(err, &protocol) || r.aborted != nil) {
			t.Errorf("the session ends with %v, the recording with %v", err, r.aborted)
		}
	}
}

func TestPartsAreWhatIsBetweenTheClipboards(t *testing.T) {
	f := rfb.NewFramer(deep)
	stream, parts := "\x02"+plainCut+"\x02\x02"+plainCut, []string(nil)
	piece := []byte(stream)
	if err := f.Parts(piece, func(part []byte) { parts = append(parts, string(part)) }); err != nil || strings.Join(parts, "|") != "\x02|\x02\x02" {
		t.Errorf("%q, %v", parts, err)
	}
	if string(piece) != stream {
		t.Error("the piece was changed")
	}
}
