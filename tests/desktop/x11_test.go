//go:build linux

package desktop

import (
	"bytes"
	"encoding/hex"
	"image"
	"io"
	"net"
	"testing"
)

// setupReply is the first message of an X server of 1280 by 720 pixels: two keys (codes 8 and 9),
// the vendor "abcde", one pixmap format.
func setupReply() []byte {
	body := make([]byte, 32+8+8+40)
	le.PutUint32(body[4:], 0x200000) // resource id base
	le.PutUint16(body[16:], 5)       // vendor
	body[20], body[21] = 1, 1        // screens, formats
	body[26], body[27] = 8, 9        // key codes
	screen := body[32+8+8:]          //
	le.PutUint32(screen, 0x123)      // root
	le.PutUint16(screen[20:], 1280)  //
	le.PutUint16(screen[22:], 720)   //
	screen[38] = 24                  // depth
	head := []byte{1, 0, 11, 0, 0, 0, byte(len(body) / 4), 0}
	return append(head, body...)
}

// keysReply is the keyboard: a and A, 1 and !.
func keysReply() []byte {
	m := make([]byte, 32)
	m[0], m[1], m[4] = 1, 2, 4
	for _, sym := range []uint32{'a', 'A', '1', '!'} {
		m = le.AppendUint32(m, sym)
	}
	return m
}

// dial connects to a server that sends answer.
func dial(answer []byte) (*Screen, error) {
	client, server := net.Pipe()
	defer client.Close()
	go func() { _, _ = io.Copy(io.Discard, server) }()
	go func() {
		_, _ = server.Write(answer)
		server.Close()
	}()
	x := &Screen{conn: client}
	return x, x.setup()
}

func TestAScreenIsReadFromTheSetup(t *testing.T) {
	x, err := dial(append(setupReply(), keysReply()...))
	if err != nil {
		t.Fatal(err)
	}
	if x.Root != 0x123 || x.depth != 24 || x.width != 1280 || x.height != 720 || x.id() != 0x200001 {
		t.Errorf("%+v", x)
	}
	for sym, want := range map[uint32]struct {
		code  byte
		shift bool
	}{'a': {8, false}, 'A': {8, true}, '1': {9, false}, '!': {9, true}} {
		if code, shift, err := x.codes.find(sym); err != nil || code != want.code || shift != want.shift {
			t.Errorf("%q is on %d, %v, %v; want %+v", rune(sym), code, shift, err, want)
		}
	}
	if _, _, err := x.codes.find('z'); err == nil {
		t.Error("there is no z")
	}
	if x.codes.symbol(9) != '1' || x.codes.symbol(7) != 0 || x.codes.symbol(10) != 0 {
		t.Errorf("%c %d %d", x.codes.symbol(9), x.codes.symbol(7), x.codes.symbol(10))
	}
}

func TestASetupThatIsCutOrLiesIsAnError(t *testing.T) {
	whole := append(setupReply(), keysReply()...)
	for n := range whole {
		if _, err := dial(whole[:n]); err == nil {
			t.Errorf("%d bytes of %d are enough", n, len(whole))
		}
	}
	for what, change := range map[string]func(b []byte){
		"refused":              func(b []byte) { b[0] = 0 },
		"a body of nothing":    func(b []byte) { b[6] = 0 },
		"a vendor without end": func(b []byte) { b[8+16], b[8+17] = 0xff, 0xff },
		"no symbols":           func(b []byte) { b[len(setupReply())+1] = 0 },
		"more symbols":         func(b []byte) { b[len(setupReply())+1] = 9 },
		"a reply of gigabytes": func(b []byte) { b[len(setupReply())+7] = 0x7f },
	} {
		b := bytes.Clone(whole)
		change(b)
		if _, err := dial(b); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func TestRequestsAreLaidOutAsTheProtocolSays(t *testing.T) {
	x := &Screen{Root: 0x123, xtest: 0x84}
	motion, err := x.fake(motionNotify, 0, image.Pt(700, -1))
	if err != nil {
		t.Fatal(err)
	}
	for what, row := range map[string]struct {
		got  []byte
		want string
	}{
		"GetInputFocus": {request(opGetInputFocus, 0), "2b000100"},
		"ClearArea":     {request(opClearArea, 0, 0x123, pair(1, 2), pair(3, 4)), "3d0004002301000001000200" + "03000400"},
		"InternAtom":    {sized(append(request(opInternAtom, 0, 5), "WM_NA"...)), "10000400" + "05000000" + "574d5f4e41000000"},
		"FakeInput": {motion, "84020900" + "06000000" + "00000000" + "23010000" + "0000000000000000" +
			"bc02ffff" + "0000000000000000"},
	} {
		if got := hex.EncodeToString(row.got); got != row.want {
			t.Errorf("%s is\n%s, want\n%s", what, got, row.want)
		}
	}
}

func TestThePasswordFileIsWhatVNCServersRead(t *testing.T) {
	got, err := passwordFile("password")
	if want := "dbd83cfd727a1458"; err != nil || hex.EncodeToString(got) != want {
		t.Errorf("%x, %v; want %s", got, err, want)
	}
}
