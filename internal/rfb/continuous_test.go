package rfb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

const (
	endOfContinuous = "\x96"
	emptyUpdate     = "\x00.\x00\x00"
	buttonsUpdate   = "\x00.\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xfe\xc4" // a rectangle of -316

	noContinuous = "\x96\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	cancel       = "\x96\x01\x00\x00\x00\x00\x00\x00\x00\x00"
)

var offers = list(0, -313)

// link is a filter and its framer, as a relay has them.
type link struct {
	*testing.T
	framer *rfb.Framer
	filter *rfb.Filter
	now    time.Time
	begun  int64
}

func newLink(t *testing.T, p rfb.Policy) *link {
	l := &link{T: t, framer: rfb.NewFramer(deep), now: start}
	p.Framer = l.framer
	l.filter = rfb.NewFilter(p)
	return l
}

// viewer says something: the server hears want.
func (l *link) viewer(said, want string) {
	l.Helper()
	if out, err := l.filter.Push(nil, []byte(said), l.now); string(out) != want || err != nil {
		l.Fatalf("the server hears %q, %v, want %q", out, err, want)
	}
}

// server says something. What is due at once goes out: the server hears want.
func (l *link) server(said, want string) {
	l.Helper()
	_ = l.framer.Parts([]byte(said), func([]byte) {})
	if begun := l.framer.Begun(); begun != l.begun || l.framer.Lost() {
		l.begun = begun
		l.filter.Updated(l.now)
	}
	l.due(want)
}

// due is what goes out without anybody's saying anything.
func (l *link) due(want string) {
	l.Helper()
	if at := l.filter.Due(); !at.IsZero() && !at.After(l.now) {
		if out := l.filter.Release(nil, l.now); string(out) != want {
			l.Fatalf("the server hears %q, want %q", out, want)
		}
		return
	}
	if want != "" {
		l.Fatalf("nothing is due, want %q", want)
	}
}

// enabled is a viewer that has continuous updates, with its first request.
func enabled(t *testing.T, p rfb.Policy) *link {
	l := newLink(t, p)
	l.viewer(offers+updateAll, offers+updateAll)
	l.server(endOfContinuous+emptyUpdate, "")
	l.viewer(continuous, updateNew)
	return l
}

func TestAViewerWithContinuousUpdatesIsAskedFor(t *testing.T) {
	l := enabled(t, rfb.Policy{FPS: 30})
	l.now = l.now.Add(time.Hour)
	l.viewer(key, key)
	l.due("") // the server has a request, and the desktop is at rest
	l.server("\x02", "")
	for range 3 {
		l.server(emptyUpdate[:2], "")
		l.server(emptyUpdate[2:], updateNew) // late: at once
		l.server(emptyUpdate, "")            // early
		if due := l.filter.Due(); !due.Equal(l.now.Add(frame)) {
			t.Fatalf("due %v", due.Sub(l.now))
		}
		l.viewer(updateNew+fence, fence) // incremental requests are ignored
		l.now = l.now.Add(frame)
		l.due(updateNew)
		l.now = l.now.Add(time.Second)
	}
	l.viewer(updateAll, updateAll)
	const larger = "\x96\x01\x00\x00\x00\x00\x06\x00\x03\x00"
	l.viewer(larger, request(true, 0, 0, 0x600, 0x300)) // the desktop has another size
	l.now = l.now.Add(time.Second)
	l.server(emptyUpdate, request(true, 0, 0, 0x600, 0x300))
}

// As many updates as the server answers within a minute, which has 60 a second.
func TestContinuousUpdatesKeepTheRate(t *testing.T) {
	for _, fps := range []int{1, 10, 30, 60} {
		l := enabled(t, rfb.Policy{FPS: fps})
		asked, answered := 1, 0
		const tick = time.Second / 60
		for range 60 * 60 {
			l.now = l.now.Add(tick)
			if asked > answered {
				answered++
				_ = l.framer.Parts([]byte(emptyUpdate), func([]byte) {})
				l.filter.Updated(l.now)
			}
			if at := l.filter.Due(); !at.IsZero() && !at.After(l.now) {
				asked += len(l.filter.Release(nil, l.now)) / len(updateNew)
			}
		}
		if asked > 60*fps+2 || asked < 60*fps*95/100 {
			t.Errorf("%d frames a second: %d in a minute", fps, asked)
		}
	}
}

func TestTheEndOfContinuousUpdatesIsTheServers(t *testing.T) {
	l := enabled(t, rfb.Policy{FPS: 30})
	l.now = l.now.Add(time.Second)
	l.viewer(noContinuous, cancel+noContinuous)
	l.server(emptyUpdate, "") // it was on its way
	l.viewer(updateNew+updateNew+key, key)
	l.server(endOfContinuous, updateNew)
	l.now = l.now.Add(time.Second)
	l.server(emptyUpdate, "")
	l.viewer(updateNew, updateNew)
	l.viewer(noContinuous, noContinuous) // again: what the viewer has asked for stays so
	l.server(endOfContinuous, "")
	l.now = l.now.Add(time.Second)
	l.viewer(continuous, updateNew)
}

// TigerVNC ends continuous updates, changes the format, and begins again: updates that were made before
// the end have the old one.
func TestAPixelFormatWaitsForTheEndOfContinuousUpdates(t *testing.T) {
	for name, p := range map[string]rfb.Policy{"paced": {FPS: 30}, "no clipboard": {FPS: 30, NoClipboardOut: true}, "not paced": {NoClipboardOut: true}} {
		t.Run(name, func(t *testing.T) {
			l := enabled(t, p)
			l.now = l.now.Add(time.Second)
			l.viewer(noContinuous, cancel+noContinuous)
			l.viewer(format(thin)+continuous+request(false, 0, 0, 9, 9)+key, key)
			l.server(whole(deep)[:20], "")
			l.server(whole(deep)[20:]+endOfContinuous, format(thin)+request(false, 0, 0, 0x500, 0x2d0))
			l.now = l.now.Add(time.Second)
			l.server(whole(thin), updateNew)
			if got, err := l.framer.Pass([]byte(whole(thin) + plainCut)); string(got) != whole(thin) || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestWithoutAnAnnouncementThereAreNoContinuousUpdates(t *testing.T) {
	l := newLink(t, rfb.Policy{FPS: 30})
	l.viewer(offers+updateAll+continuous+noContinuous+updateNew, offers+updateAll+updateNew)
	for range 999 {
		l.server(emptyUpdate, "")
	}
	if l.framer.Unused() {
		t.Fatal("nobody looks for the announcement any more")
	}
	l.server(emptyUpdate, "")
	if !l.framer.Unused() {
		t.Error("a server that does not announce them is followed")
	}
	l.viewer(offers, list(0))
}

func TestAViewerThatDoesNotOfferContinuousUpdatesIsNotFollowed(t *testing.T) {
	l := newLink(t, rfb.Policy{FPS: 30})
	l.viewer(list(0, -316), list(0))
	if !l.framer.Unused() {
		t.Error("it is followed")
	}
	l.viewer(offers+continuous+key, list(0)+key) // too late
	l = newLink(t, rfb.Policy{FPS: 30, NoClipboardOut: true})
	if l.viewer(list(0), list(0)); l.framer.Unused() {
		t.Error("the clipboard is not looked for")
	}
}

// A server that heard of them once more would announce them twice, as if they had ended.
func TestAViewerOffersContinuousUpdatesFromTheFirstListOn(t *testing.T) {
	l := enabled(t, rfb.Policy{FPS: 30})
	l.viewer(list(0)+offers, list(0)+list(0))
	l.now = l.now.Add(time.Second)
	l.server(emptyUpdate, updateNew) // it still has them
	l.viewer(noContinuous+list(0)+format(thin), cancel+noContinuous+list(0))
	l.server(endOfContinuous, format(thin))
	l.viewer(updateNew, "")
	l.now = l.now.Add(time.Second)
	l.due(updateNew)
}

// A server may send what the viewer did not ask for, as far as the gateway knows.
func TestAServerThatCannotBeFollowedIsAskedAfterAnyByte(t *testing.T) {
	l := enabled(t, rfb.Policy{FPS: 30})
	l.now = l.now.Add(time.Second)
	l.server("\x00.\x00\x01\x00\x00\x00\x00\x00\x01\x00\x01\x00\x00\x00\x15", updateNew) // JPEG
	l.server("jpeg", "")
	l.now = l.now.Add(frame)
	l.due(updateNew)
	l.viewer(noContinuous+format(thin), cancel+noContinuous+format(thin))
	l.server("jpeg", "")
	l.viewer(continuous, "")
	l.now = l.now.Add(frame)
	l.due(updateNew)
}

func TestExtendedButtonsReachAServerThatKnowsThem(t *testing.T) {
	const (
		long, short = "\x05\x81\x00\x10\x00\x20\x01", "\x05\x01\x00\x10\x00\x20" // back, and the left button
		eighth      = "\x05\x80\x00\x10\x00\x20"
	)
	both := list(0, -313, -316)
	l := newLink(t, rfb.Policy{FPS: 30})
	l.viewer(eighth+key, eighth+key) // of a viewer that does not know them
	l.viewer(both+long+short+key, both+short+short+key)
	l.server(buttonsUpdate, "")
	for at := 1; at < len(long); at++ {
		l.viewer(long[:at], "")
		l.viewer(long[at:]+key, long+key)
	}
	l.viewer(offers+eighth, offers+"\x05\x00\x00\x10\x00\x20") // the server may know them still
	l.viewer(both+long, both+long)

	l = newLink(t, rfb.Policy{FPS: 30, ViewOnly: true})
	l.viewer(both, both)
	l.server(buttonsUpdate, "")
	l.viewer(strings.Repeat(long+short, 2)+updateAll, updateAll)
	if !l.filter.LastInput().Equal(l.now) {
		t.Error("they are no input")
	}
}

// Of an agent's desktop: a person who presses back takes the input.
func TestExtendedButtonsAreAskedFor(t *testing.T) {
	asked := &askedInput{}
	l := newLink(t, rfb.Policy{FPS: 30, Input: asked})
	both := list(0, -313, -316)
	l.viewer(both, both)
	l.server(buttonsUpdate, "")
	const back, left = "\x05\x80\x00\x10\x00\x20\x01", "\x05\x01\x00\x10\x00\x20"
	l.viewer(back+back+left, back+left)
	if asked.presses != 2 {
		t.Errorf("%d presses", asked.presses)
	}
}

// askedInput is that of a watched desktop, whose pointer may not be moved.
type askedInput struct{ presses int }

func (a *askedInput) Watched() bool { return true }
func (a *askedInput) Press()        { a.presses++ }
func (a *askedInput) Moves() bool   { return false }

// FuzzLink has a viewer and a server say anything in turns: the filter and its framer go on or end, and what
// goes to the server is whole messages.
func FuzzLink(f *testing.F) {
	for _, p := range []byte{0, 1, 2, 3} {
		f.Add(p, []byte(offers+updateAll+continuous+noContinuous+format(thin)+continuous+key+list(0)+updateNew), []byte(endOfContinuous+emptyUpdate+whole(deep)+endOfContinuous), uint8(7))
	}
	f.Fuzz(func(t *testing.T, bits byte, viewer, server []byte, cut uint8) {
		framer := rfb.NewFramer(deep)
		filter := rfb.NewFilter(rfb.Policy{FPS: int(bits&1) * 30, NoClipboardOut: bits&2 != 0 || bits&1 == 0, Framer: framer})
		size, now := int(cut)%29+1, start
		var out []byte
		for len(viewer)+len(server) > 0 {
			n, m := min(size, len(viewer)), min(size, len(server))
			var err error
			if out, err = filter.Push(out, viewer[:n], now); err != nil {
				return
			}
			_ = framer.Parts(server[:m], func([]byte) {})
			filter.Updated(now)
			now = now.Add(frame / 3)
			out = filter.Release(out, now)
			viewer, server = viewer[n:], server[m:]
		}
		again := rfb.NewFilter(rfb.Policy{})
		if _, err := again.Push(nil, out, now); err != nil {
			t.Errorf("the server gets %q: %v", out, err)
		}
	})
}
