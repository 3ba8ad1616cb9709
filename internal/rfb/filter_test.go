package rfb_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// One message of each type that viewers send.
var (
	setPixelFormat = "\x00...abcdefghijklmnop"
	updateAll      = "\x03\x00\x00\x00\x00\x00\x05\x00\x02\xd0"
	updateNew      = "\x03\x01\x00\x00\x00\x00\x05\x00\x02\xd0"
	key            = "\x04\x01..\x00\x00\x00a"
	pointer        = "\x05\x01\x00\x10\x00\x20"
	cutText        = "\x06...\x00\x00\x00\x05hello"
	extendedText   = "\x06...\xff\xff\xff\xfcabcd"
	continuous     = "\x96\x01\x00\x00\x00\x00\x05\x00\x02\xd0"
	fence          = "\xf8...\x80\x00\x00\x01\x03abc"
	xvp            = "\xfa.\x01\x02"
	desktopSize    = "\xfb.\x05\x00\x02\xd0\x01." + "0123456789abcdef"
	giiBig         = "\xfd\x81\x00\x04abcd"
	giiInput       = "\xfd\x00\x04\x00abcd"
	qemuKey        = "\xff\x00\x00\x01\x00\x00\x00a\x00\x00\x00\x1e"
	qemuAudioOn    = "\xff\x01\x00\x00"
	qemuAudio      = "\xff\x01\x00\x02\x03\x02\x00\x00\xac\x44"

	// UltraVNC's own, which never pass.
	textChat      = "\x0b...\x00\x00\x00\x02hi"
	fileOffer     = "\x07\x08..\x00\x00\x00\x09\x00\x00\x00\x03a,b\x00\x00\x00\x00"
	ultraMessages = []string{
		textChat, "\x0b...\xff\xff\xff\xff", "\x0b...\xff\xff\xff\xfe", "\x0b...\xff\xff\xff\xfd", "\x0b...\x00\x00\x00\x00",
		"\x08\x02..", "\x09\x01..", "\x0a\x01\x00\x01\x00\x01", "\x0d", "\x0f\x02..", "\x14", "\x15\x01", "\x50...", "\xfe\x01..",
		fileOffer,
		"\x07\x01\x00\x02....\x00\x00\x00\x00",             // the drives
		"\x07\x01\x00\x01....\x00\x00\x00\x03C:\\",         // a folder
		"\x07\x03......\x00\x00\x00\x01f",                  // a file
		"\x07\x04......\x00\x00\x00\x00",                   // go on with it
		"\x07\x05..\x00\x00\x00\x01\x00\x00\x00\x04zzzz",   // a block
		"\x07\x05..\x00\x00\x00\x02\x00\x00\x80\x00",       // a block that is there already
		"\x07\x06..........",                               // the end, with what was in memory
		"\x07\x07\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00", // a request for permission
		"\x07\x0a\x00\x01....\x00\x00\x00\x01d",            // a command
		"\x07\x0c......\x00\x00\x00\x02cc",                 // checksums
		"\x07\x0e..........", "\x07\x0f..........", "\x07\x10..........",
	}

	everyMessage = []string{setPixelFormat, list(7, 1, 0), updateAll, updateNew, key, pointer, cutText, extendedText, continuous,
		fence, xvp, desktopSize, giiBig, giiInput, qemuKey, qemuAudioOn, qemuAudio}
)

// start is the time of tests that do not care.
var start = time.Unix(1_000_000, 0)

// list is SetEncodings.
func list(encodings ...int32) string {
	b := []byte{2, 0}
	b = binary.BigEndian.AppendUint16(b, uint16(len(encodings)))
	for _, e := range encodings {
		b = binary.BigEndian.AppendUint32(b, uint32(e))
	}
	return string(b)
}

// push is what a new filter makes of messages.
func push(p rfb.Policy, messages ...string) (string, error) {
	out, err := rfb.NewFilter(p).Push(nil, []byte(strings.Join(messages, "")), start)
	return string(out), err
}

func TestAPolicyDropsWhatItForbidsAndNothingElse(t *testing.T) {
	for name, test := range map[string]struct {
		policy rfb.Policy
		drops  []string
	}{
		"none":       {rfb.Policy{}, nil},
		"fixed size": {rfb.Policy{FixedSize: true}, []string{desktopSize}},
		"clipboard":  {rfb.Policy{NoClipboardIn: true}, []string{cutText, extendedText}},
		"pacing":     {rfb.Policy{FPS: 30}, []string{continuous}},
		"tight":      {rfb.Policy{PreferTight: true}, nil},
		"view only": {rfb.Policy{ViewOnly: true}, []string{key, pointer, cutText, extendedText, xvp, desktopSize, giiBig, giiInput,
			qemuKey, qemuAudioOn, qemuAudio}},
	} {
		t.Run(name, func(t *testing.T) {
			want := strings.Join(everyMessage, "")
			for _, m := range test.drops {
				want = strings.Replace(want, m, "", 1)
			}
			if got, err := push(test.policy, everyMessage...); got != want || err != nil {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		})
	}
}

func TestMessagesWhoseEndIsNotKnownEndTheSession(t *testing.T) {
	for name, test := range map[string]struct {
		bad  string
		kind rfb.Kind
		says string
	}{
		"type 1":           {"\x01", rfb.KindMessage, "[1]"},
		"type 12":          {"\x0c..", rfb.KindMessage, "[12]"},
		"file transfer 2":  {"\x07\x02..........", rfb.KindMessage, "[7 2]"},
		"a long chat":      {"\x0b...\x00\x01\x00\x01", rfb.KindTooLong, "65537"},
		"a long file name": {"\x07\x08......\x00\x00\xff\xfd", rfb.KindTooLong, "65537"},
		"a long block":     {"\x07\x05......\xff\xff\xff\xff", rfb.KindTooLong, "4294967295"},
		"type 249":         {"\xf9..", rfb.KindMessage, "[249]"},
		"QEMU 2":           {"\xff\x02...........", rfb.KindMessage, "[255 2]"},
		"QEMU audio 3":     {"\xff\x01\x00\x03......", rfb.KindMessage, "[255 1 0 3]"},
		"encodings":        {"\x02.\x04\x01", rfb.KindTooLong, "1025"},
		"cut text":         {"\x06...\x01\x00\x00\x01", rfb.KindTooLong, "16777217"},
		"extended text":    {"\x06...\xfe\xff\xff\xff", rfb.KindTooLong, "16777217"},
		"least number":     {"\x06...\x80\x00\x00\x00", rfb.KindTooLong, "2147483648"},
		"dropped all same": {"\x06...\x7f\xff\xff\xff", rfb.KindTooLong, "2147483647"},
	} {
		t.Run(name, func(t *testing.T) {
			f := rfb.NewFilter(rfb.Policy{NoClipboardIn: true, FPS: 1})
			out, err := f.Push([]byte("dst"), []byte(key+updateNew+updateNew+test.bad+key), start)
			wantKind(t, err, test.kind)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q in it", err, test.says)
			}
			if string(out) != "dst"+key+updateNew {
				t.Errorf("%q went on", out)
			}
			out, again := f.Push(nil, []byte(key), start.Add(time.Hour))
			if len(out) > 0 || again != err || !f.Due().IsZero() || len(f.Release(nil, start.Add(time.Hour))) > 0 {
				t.Errorf("%q went on afterwards, %v", out, again)
			}
		})
	}
}

func TestTheBoundsThemselvesPass(t *testing.T) {
	long := "\x06...\x01\x00\x00\x00" + strings.Repeat("x", rfb.MaxCutText)
	many := list(make([]int32, rfb.MaxEncodings)...)
	if got, err := push(rfb.Policy{}, long, many, list(), key); got != long+many+list()+key || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// Other servers end the connection at such a message.
func TestUltraVNCsOwnMessagesAreReadAndNotSentOn(t *testing.T) {
	for _, p := range []rfb.Policy{{}, {ViewOnly: true}} {
		for _, m := range ultraMessages {
			if got, err := push(p, updateAll, m, m, updateAll); got != updateAll+updateAll || err != nil {
				t.Errorf("%q: %q, %v", m, got, err)
			}
		}
	}
	if got, err := push(rfb.Policy{}, textChat[:8], strings.Repeat("x", 2), fileOffer[:12], strings.Repeat("x", 7), key); got != key || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestInputIsWhatAPersonDoes(t *testing.T) {
	want := map[string]bool{key: true, pointer: true, qemuKey: true, giiInput: true}
	for _, m := range append(ultraMessages, everyMessage...) {
		for _, p := range []rfb.Policy{{}, {ViewOnly: true}} {
			f := rfb.NewFilter(p)
			var last time.Time
			for _, at := range []time.Time{start, start.Add(time.Second)} {
				f.Push(nil, []byte(m), at)
				if want[m] {
					last = at
				}
				if got := f.LastInput(); !got.Equal(last) {
					t.Errorf("%q: %v, want %v", m, got, last)
				}
			}
		}
	}
}

func TestEncodingsAreRewrittenAndNeverAdded(t *testing.T) {
	const (
		tight, quality8, quality9, compress6, compress9 = 7, -24, -23, -250, -247
		continuous, buttons, clipboard                  = -313, -316, -1063131698
	)
	for name, test := range map[string]struct {
		policy   rfb.Policy
		in, want string
	}{
		"as they are":         {rfb.Policy{}, list(16, 7, 7, -23, -247, -313, -1063131698), list(16, 7, 7, -23, -247, -313, -1063131698)},
		"ambiguous":           {rfb.Policy{}, list(0, buttons), list(0)},
		"UltraVNC's messages": {rfb.Policy{}, list(-32769, -32768, -32767, -32764, -32763, -1063131697), list(-32769, -32763)},
		"tight first":         {rfb.Policy{PreferTight: true}, list(1, 16, tight, 0), list(tight, 1, 16, 0)},
		"tight twice":         {rfb.Policy{PreferTight: true}, list(1, tight, 0, tight), list(tight, 1, 0)},
		"tight is not added":  {rfb.Policy{PreferTight: true}, list(16, 1, 0), list(16, 1, 0)},
		"levels are capped":   {rfb.Policy{PreferTight: true}, list(tight, quality9, compress9), list(tight, quality8, compress6)},
		"lower levels stay":   {rfb.Policy{PreferTight: true}, list(-32, -25, -24, -256, -250, -22, -246, -33, -257), list(-32, -25, -24, -256, -250, -22, -246, -33, -257)},
		"pacing":              {rfb.Policy{FPS: 30}, list(7, continuous, -312), list(7, -312)},
		"plain clipboard":     {rfb.Policy{NoClipboardIn: true}, list(7, clipboard), list(7)},
		"view only's":         {rfb.Policy{ViewOnly: true}, list(clipboard, 7), list(7)},
		"nothing left":        {rfb.Policy{}, list(buttons), list()},
		"all that TigerVNC has": {rfb.Policy{PreferTight: true, FPS: 30}, list(-314, -308, -307, -224, continuous, -312, -258,
			16, tight, 5, 2, 1, 0, -254, quality9, buttons), list(tight, -314, -308, -307, -224, -312, -258, 16, 5, 2, 1, 0, -254, quality8)},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := push(test.policy, test.in, fence, test.in); got != test.want+fence+test.want || err != nil {
				t.Errorf("%q, %v, want %q around a fence", got, err, test.want)
			}
		})
	}
}
