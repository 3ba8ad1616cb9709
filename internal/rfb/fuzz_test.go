package rfb_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// script is a connection whose other side says something and hangs up.
type script struct {
	net.Conn
	says  io.Reader
	heard int
}

func (s *script) Read(p []byte) (int, error)  { return s.says.Read(p) }
func (s *script) Write(p []byte) (int, error) { s.heard += len(p); return len(p), nil }
func (*script) SetDeadline(time.Time) error   { return nil }

// handshakes are both sides of dialogues, as seeds.
var handshakes = []string{
	"RFB 003.008\n\x01\x01", "RFB 003.007\n\x01\x00", "RFB 003.003\n\x01", "RFB 003.889\n\x02" + strings.Repeat("r", 16) + "\x00",
	"RFB 003.008\n\x13\x00\x02\x00\x00\x01\x06", "RFB 003.008\n\x13\x00\x02\x00\x00\x01\x04\x16\x03\x01\x00\x05hello",
	"RFB 003.008\n\x02\x13\x02\x00\x02\x00\x02\x00\x00\x01\x04\x00\x00\x01\x06\x01\x15\x03\x03\x00\x02\x02\x28",
	"RFB 003.008\n\x01\x01\x00\x00\x00\x00" + initBytes, "RFB 003.003\n\x00\x00\x00\x00\x00\x00\x00\x04Why?",
	"RFB 003.003\n\x00\x00\x00\x02" + strings.Repeat("c", 16) + "\x00\x00\x00\x01", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00", "\u021c00",
}

// wantOurs checks that an error is of this package and quotes nothing unescaped.
func wantOurs(t *testing.T, err error) {
	t.Helper()
	wantKind(t, err, rfb.KindOf(err))
}

func FuzzServer(f *testing.F) {
	for _, h := range handshakes {
		for i := range 4 {
			f.Add(uint8(i), h)
		}
	}
	offers := []rfb.Offer{offer("none"), offer("vncauth"), offer("x509none x509plain"), offer("x509plain x509vnc x509none vncauth")}
	f.Fuzz(func(t *testing.T, which uint8, says string) {
		conn := &script{says: strings.NewReader(says)}
		s := rfb.NewServer(conn, rfb.Timeouts{})
		proof, _, err := serve(s, offers[int(which)%len(offers)], "")
		if err != nil {
			wantOurs(t, err)
		} else if proof.Security == 0 {
			t.Error("accepted without a security type")
		}
		if conn.heard > 64<<10 {
			t.Errorf("%d bytes were sent", conn.heard)
		}
	})
}

// FuzzCredentials is what comes inside TLS.
func FuzzCredentials(f *testing.F) {
	f.Add("\x00\x00\x00\x02\x00\x00\x00\x03mepwd")
	f.Add("\x00\x00\x01\x00\x00\x00\x00\x00")
	f.Add(strings.Repeat("\xff", 16))
	f.Fuzz(func(t *testing.T, says string) {
		for _, sub := range []rfb.SubType{rfb.X509None, rfb.X509Vnc, rfb.X509Plain} {
			conn := &script{says: strings.NewReader(says)}
			proof, err := rfb.NewServer(conn, rfb.Timeouts{}).Credentials(offer(""), sub)
			if err != nil {
				wantOurs(t, err)
				continue
			}
			if proof.Security != sub.Security() || len(proof.User) > rfb.MaxCredential || len(proof.Password) > rfb.MaxCredential {
				t.Errorf("%v: %+v", sub, proof)
			}
			if sub == rfb.X509Plain && !strings.HasPrefix(says[8:], proof.User+proof.Password) {
				t.Errorf("%q and %q of %q", proof.User, proof.Password, says)
			}
		}
	})
}

func FuzzConnect(f *testing.F) {
	for _, h := range handshakes {
		for i := range 4 {
			f.Add(uint8(i), h)
		}
	}
	logins := []rfb.Login{{}, plainLogin, {TLS: clientTLS()}, tlsLogin}
	f.Fuzz(func(t *testing.T, which uint8, says string) {
		conn := &script{says: strings.NewReader(says)}
		login := logins[int(which)%len(logins)]
		d, err := rfb.Connect(conn, login, 0)
		if err != nil {
			wantOurs(t, err)
			return
		}
		if login.TLS != nil {
			t.Error("connected without the TLS that was asked for")
		}
		if d.Init.Width == 0 || d.Init.Height == 0 || len(d.Init.Name) > rfb.MaxName || !strings.Contains(says, string(d.Init.Append(nil))) {
			t.Errorf("%+v", d.Init)
		}
	})
}

// policy is one of all.
func policy(bits uint8) rfb.Policy {
	return rfb.Policy{ViewOnly: bits&1 != 0, FixedSize: bits&2 != 0, NoClipboardIn: bits&4 != 0, PreferTight: bits&8 != 0, FPS: int(bits>>4) * 2}
}

// FuzzFilter checks that cuts change nothing, that no more comes out than went in, and that what
// comes out is whole messages, none of which the policy forbids.
func FuzzFilter(f *testing.F) {
	all := strings.Join(everyMessage, "")
	for bits := range 16 {
		f.Add(uint8(bits*16+bits), uint16(bits*7+1), []byte(all+all))
	}
	f.Add(uint8(0), uint16(5), []byte(strings.Join(ultraMessages, "")+all))
	f.Add(uint8(0xff), uint16(3), []byte(list(7, -313, -316, -23)+updateNew+updateAll+"\x01"))
	f.Add(uint8(0x11), uint16(22), []byte("\x00"+strings.Repeat("0", 19)+"\x030000000000000"))
	f.Fuzz(func(t *testing.T, bits uint8, cut uint16, data []byte) {
		whole, pieces := rfb.NewFilter(policy(bits)), rfb.NewFilter(policy(bits))
		at := start.Add(time.Second)
		in, out := 0, 0
		for range 2 { // the second time something is held, and due
			want, wantErr := whole.Push(nil, data, at)
			var got []byte
			var gotErr error
			size := int(cut)%13 + 1
			for rest := data; len(rest) > 0 && gotErr == nil; {
				n := min(size, len(rest))
				got, gotErr = pieces.Push(got, rest[:n], at)
				rest, size = rest[n:], (size*5+int(cut))%17+1
			}
			if !bytes.Equal(got, want) || (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
				t.Fatalf("in pieces %q, %v, at once %q, %v", got, gotErr, want, wantErr)
			}
			if !pieces.Due().Equal(whole.Due()) || !pieces.LastInput().Equal(whole.LastInput()) {
				t.Fatalf("due %v and %v, input %v and %v", pieces.Due(), whole.Due(), pieces.LastInput(), whole.LastInput())
			}
			in, out = in+len(data), out+len(want)
			if out > in {
				t.Fatalf("%d bytes became %d", in, out)
			}
			if wantErr != nil {
				wantOurs(t, wantErr)
				return
			}
			if whole.Due().IsZero() {
				at = at.Add(time.Second)
			} else {
				at = whole.Due()
			}
		}
		once, err := rfb.NewFilter(policy(bits)).Push(nil, data, at)
		if err == nil {
			wantAllowed(t, policy(bits), once)
		}
	})
}

// wantAllowed reads messages, the last of which may be cut, by itself.
func wantAllowed(t *testing.T, p rfb.Policy, out []byte) {
	t.Helper()
	requests := 0
	for len(out) > 0 {
		need := map[byte]int{0: 20, 2: 4, 3: 10, 4: 8, 5: 6, 6: 8, 150: 10, 248: 9, 250: 4, 251: 8, 253: 4, 255: 4}[out[0]]
		if need == 0 || need > len(out) {
			t.Fatalf("% x is not the head of a message", out)
		}
		switch out[0] {
		case 2:
			need += 4 * int(binary.BigEndian.Uint16(out[2:]))
			for at := 4; at < need; at += 4 {
				switch e := int32(binary.BigEndian.Uint32(out[at:])); {
				case e == -316, e == -313 && p.FPS > 0, p.PreferTight && (e == -23 || e <= -247 && e > -250), p.PreferTight && e == 7 && at > 4:
					t.Errorf("encoding %d at %d", e, at)
				}
			}
		case 3:
			if out[1] != 0 {
				requests++
			}
		case 6:
			n := int64(int32(binary.BigEndian.Uint32(out[4:])))
			need += int(max(n, -n))
		case 248:
			need += int(out[8])
		case 251:
			need += 16 * int(out[6])
		case 253:
			need += int(out[2])<<8 + int(out[3])
			if out[1] < 128 {
				need = 4 + int(out[3])<<8 + int(out[2])
			}
		case 255:
			if out[1] == 0 {
				need = 12
			} else if out[3] == 2 {
				need = 10
			}
		}
		if bytes.IndexByte([]byte{4, 5, 6, 250, 251, 253, 255}, out[0]) >= 0 && p.ViewOnly || out[0] == 251 && p.FixedSize ||
			out[0] == 6 && p.NoClipboardIn || out[0] == 150 && p.FPS > 0 {
			t.Fatalf("message %d went on", out[0])
		}
		out = out[min(need, len(out)):]
	}
	if p.FPS > 0 && requests > 1 {
		t.Errorf("%d incremental requests at once", requests)
	}
}
