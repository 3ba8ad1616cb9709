package rfb_test

import (
	"net"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

const (
	greets   = "S RFB 003.008\n"
	says33   = "C RFB 003.003\n"
	says37   = "C RFB 003.007\n"
	says38   = "C RFB 003.008\n"
	ok       = "S \x00\x00\x00\x00"
	no       = "S \x00\x00\x00\x01"
	reason   = "S \x00\x00\x00\x04Why?"
	venCrypt = "S \x01\x13"
)

// Each viewer as it talks, when it is accepted (with a shared flag of 0), and when it is refused
// with "Why?".
func TestViewersHearWhatTheirVersionUnderstands(t *testing.T) {
	answer := "C " + string(response[:])
	ask := "S " + string(challenge[:])
	sub := func(list, choice string) dialogue {
		return dialogue{venCrypt, "C \x13", "S \x00\x02", "C \x00\x02", "S \x00" + list, "C \x00\x00\x01" + choice, "S \x01", "T tok.vnc.test"}
	}
	plain := "C \x00\x00\x00\x02\x00\x00\x00\x03mepwd"
	for _, test := range []struct {
		name, offer string
		open        dialogue // up to the verdict
		yes, no     dialogue
		want        rfb.Proof
		version     string
	}{
		{"3.8 None", "none", dialogue{greets, says38, "S \x01\x01", "C \x01"},
			dialogue{ok}, dialogue{no, reason}, rfb.Proof{Security: rfb.SecurityNone}, "3.8"},
		{"3.7 None", "none", dialogue{greets, says37},
			dialogue{"S \x01\x01", "C \x01"}, dialogue{"S \x00", reason}, rfb.Proof{Security: rfb.SecurityNone}, "3.7"},
		{"3.3 None", "none", dialogue{greets, says33},
			dialogue{"S \x00\x00\x00\x01"}, dialogue{"S \x00\x00\x00\x00", reason}, rfb.Proof{Security: rfb.SecurityNone}, "3.3"},

		{"3.8 VNC Authentication", "vncauth", dialogue{greets, says38, "S \x01\x02", "C \x02", ask, answer},
			dialogue{ok}, dialogue{no, reason}, rfb.Proof{Security: rfb.SecurityVNCAuth, Challenge: challenge, Response: response}, "3.8"},
		{"3.8 VNC Authentication instead of VeNCrypt", "x509none vncauth", dialogue{greets, says38, "S \x02\x13\x02", "C \x02", ask, answer},
			dialogue{ok}, dialogue{no, reason}, rfb.Proof{Security: rfb.SecurityVNCAuth, Challenge: challenge, Response: response}, "3.8"},
		{"3.7 VNC Authentication", "vncauth", dialogue{greets, says37, "S \x01\x02", "C \x02", ask, answer},
			dialogue{ok}, dialogue{no}, rfb.Proof{Security: rfb.SecurityVNCAuth, Challenge: challenge, Response: response}, "3.7"},
		{"3.3 VNC Authentication", "x509none vncauth", dialogue{greets, says33, "S \x00\x00\x00\x02", ask, answer},
			dialogue{ok}, dialogue{no}, rfb.Proof{Security: rfb.SecurityVNCAuth, Challenge: challenge, Response: response}, "3.3"},

		{"3.8 X509None", "x509none x509plain", append(dialogue{greets, says38}, sub("\x02\x00\x00\x01\x04\x00\x00\x01\x06", "\x04")...),
			dialogue{ok}, dialogue{no, reason}, rfb.Proof{Security: rfb.SecurityX509None, ServerName: "tok.vnc.test"}, "3.8"},
		{"3.7 X509None", "x509none", append(dialogue{greets, says37}, sub("\x01\x00\x00\x01\x04", "\x04")...),
			dialogue{ok}, dialogue{no}, rfb.Proof{Security: rfb.SecurityX509None, ServerName: "tok.vnc.test"}, "3.7"},
		{"3.8 X509Vnc", "x509plain x509vnc", append(append(dialogue{greets, says38}, sub("\x02\x00\x00\x01\x06\x00\x00\x01\x05", "\x05")...), ask, answer),
			dialogue{ok}, dialogue{no, reason},
			rfb.Proof{Security: rfb.SecurityX509Vnc, ServerName: "tok.vnc.test", Challenge: challenge, Response: response}, "3.8"},
		{"3.8 X509Plain", "x509none x509plain", append(append(dialogue{greets, says38}, sub("\x02\x00\x00\x01\x04\x00\x00\x01\x06", "\x06")...), plain),
			dialogue{ok}, dialogue{no, reason},
			rfb.Proof{Security: rfb.SecurityX509Plain, ServerName: "tok.vnc.test", User: "me", Password: "pwd"}, "3.8"},
		{"3.8 Plain, inside TLS already", "none plain x509plain",
			dialogue{greets, says38, "S \x02\x13\x01", "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x02\x00\x00\x01\x00\x00\x00\x01\x06", "C \x00\x00\x01\x00" + plain[2:]},
			dialogue{ok}, dialogue{no, reason}, rfb.Proof{Security: rfb.SecurityPlain, User: "me", Password: "pwd"}, "3.8"},
		{"3.7 Plain, inside TLS already", "none plain",
			dialogue{greets, says37, "S \x01\x13", "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x01\x00\x00\x01\x00", "C \x00\x00\x01\x00", plain},
			dialogue{ok}, dialogue{no}, rfb.Proof{Security: rfb.SecurityPlain, User: "me", Password: "pwd"}, "3.7"},
		{"3.8 None beside Plain", "none plain", dialogue{greets, says38, "S \x02\x13\x01", "C \x01"},
			dialogue{ok}, dialogue{no, reason}, rfb.Proof{Security: rfb.SecurityNone}, "3.8"},
		{"3.3 None beside Plain", "none plain", dialogue{greets, says33},
			dialogue{"S \x00\x00\x00\x01"}, dialogue{"S \x00\x00\x00\x00", reason}, rfb.Proof{Security: rfb.SecurityNone}, "3.3"},
		{"3.7 X509Plain, empty", "x509plain", append(append(dialogue{greets, says37}, sub("\x01\x00\x00\x01\x06", "\x06")...), "C "+strings.Repeat("\x00", 8)),
			dialogue{ok}, dialogue{no}, rfb.Proof{Security: rfb.SecurityX509Plain, ServerName: "tok.vnc.test"}, "3.7"},
	} {
		for refusal, end := range map[string]dialogue{"": append(test.yes, "C \x00", "S "+initBytes), "Why?": test.no} {
			t.Run(test.name+refusal, func(t *testing.T) {
				append(test.open[:len(test.open):len(test.open)], end...).against(t, func(conn net.Conn) {
					s := rfb.NewServer(conn, rfb.Timeouts{})
					proof, shared, err := serve(s, offer(test.offer), refusal)
					if proof != test.want || shared || err != nil {
						t.Errorf("%+v, shared %v, %v", proof, shared, err)
					}
					if s.Version().String() != test.version {
						t.Errorf("version %v", s.Version())
					}
					if secure := proof.ServerName != ""; secure != (s.Conn() != conn) {
						t.Errorf("goes on with %T", s.Conn())
					}
				})
			})
		}
	}
}

func TestOddVersionsAreUnderstoodAsTheNearest(t *testing.T) {
	for said, want := range map[string]rfb.Version{
		"003.003": rfb.Version33, "003.004": rfb.Version33, "003.005": rfb.Version33, "003.006": rfb.Version33,
		"003.007": rfb.Version37, "003.008": rfb.Version38, "003.009": rfb.Version38, "003.889": rfb.Version38,
		"004.001": rfb.Version38, "005.000": rfb.Version38,
	} {
		d := dialogue{greets, "C RFB " + said + "\n"}
		if want == rfb.Version38 {
			d = append(d, "S \x01\x01", "C \x01")
		}
		d.against(t, func(conn net.Conn) {
			s := rfb.NewServer(conn, rfb.Timeouts{})
			if _, err := s.Negotiate(offer("none")); err != nil || s.Version() != want {
				t.Errorf("%s: %v, %v", said, s.Version(), err)
			}
		})
	}
}

func TestAnOldViewerIsToldWhatItLacks(t *testing.T) {
	why := "Your viewer is too old for encryption (VeNCrypt). Use a current one, such as TigerVNC."
	dialogue{greets, says33, "S \x00\x00\x00\x00\x00\x00\x00" + string(rune(len(why))) + why}.against(t, func(conn net.Conn) {
		_, err := rfb.NewServer(conn, rfb.Timeouts{}).Negotiate(offer("x509none x509plain"))
		wantKind(t, err, rfb.KindTooOld)
	})
}

func TestAReasonIsBoundedPrintableASCII(t *testing.T) {
	long := strings.Repeat("x", rfb.MaxReason-3) + "\x1b\xffé more"
	said := strings.Repeat("x", rfb.MaxReason-3) + "???"
	dialogue{greets, says38, "S \x01\x01", "C \x01", no, "S \x00\x00\x0f\xff" + said}.against(t, func(conn net.Conn) {
		if _, _, err := serve(rfb.NewServer(conn, rfb.Timeouts{}), offer("none"), long); err != nil {
			t.Error(err)
		}
	})
}

func TestTheSharedFlagIsReported(t *testing.T) {
	dialogue{greets, says38, "S \x01\x01", "C \x01", ok, "C \x01", "S " + initBytes}.against(t, func(conn net.Conn) {
		if _, shared, err := serve(rfb.NewServer(conn, rfb.Timeouts{}), offer("none"), ""); !shared || err != nil {
			t.Error(shared, err)
		}
	})
}

// What a viewer sends behind its last step is the relay's.
func TestNothingIsReadAhead(t *testing.T) {
	conn, viewer := loopback(t)
	if _, err := viewer.Write([]byte("RFB 003.008\n\x01\x01after")); err != nil {
		t.Fatal(err)
	}
	if _, err := rfb.NewServer(conn, rfb.Timeouts{}).Negotiate(offer("none")); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, 20)
	if n, err := conn.Read(rest); string(rest[:n]) != "\x01after" {
		t.Errorf("%q is left, %v", rest[:n], err)
	}
}

func TestStepsOutOfOrderSayNothing(t *testing.T) {
	conn, other := net.Pipe()
	other.Close()
	s := rfb.NewServer(conn, rfb.Timeouts{})
	for name, step := range map[string]func() error{
		"Accept": s.Accept, "Refuse": func() error { return s.Refuse("x") },
		"ServerInit": func() error { return s.ServerInit(desktop) },
		"ClientInit": func() error { _, err := s.ClientInit(); return err },
	} {
		if err := step(); rfb.KindOf(err) != rfb.KindOther {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, o := range map[string]rfb.Offer{
		"empty": {}, "no TLS": {SubTypes: []rfb.SubType{rfb.X509None}}, "no challenge": {VNCAuth: true},
		"Plain outside TLS":   {SubTypes: []rfb.SubType{rfb.Plain}},
		"anonymous TLS":       {SubTypes: []rfb.SubType{257}, TLS: serverTLS()},
		"no challenge in TLS": {SubTypes: []rfb.SubType{rfb.X509Vnc}, TLS: serverTLS()},
	} {
		if _, err := rfb.NewServer(conn, rfb.Timeouts{}).Negotiate(o); rfb.KindOf(err) != rfb.KindOther {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A viewer that came without a name is asked for a password first; it is asked about when it can
// make a difference.
func TestTheOrderOfSubTypesIsAskedForOnce(t *testing.T) {
	ahead := dialogue{greets, says38, venCrypt, "C \x13", "S \x00\x02", "C \x00\x02"}
	for first, list := range map[bool]string{
		true:  "S \x00\x03\x00\x00\x01\x06\x00\x00\x01\x05\x00\x00\x01\x04",
		false: "S \x00\x03\x00\x00\x01\x04\x00\x00\x01\x06\x00\x00\x01\x05",
	} {
		o, asked := offer("x509none x509plain x509vnc"), 0
		o.PasswordFirst = func() bool { asked++; return first }
		append(ahead[:len(ahead):len(ahead)], list, "X ").against(t, func(conn net.Conn) {
			_, err := rfb.NewServer(conn, rfb.Timeouts{}).Negotiate(o)
			wantKind(t, err, rfb.KindGone)
		})
		dialogue{greets, says38, venCrypt, "X "}.against(t, func(conn net.Conn) {
			_, err := rfb.NewServer(conn, rfb.Timeouts{}).Negotiate(o)
			wantKind(t, err, rfb.KindGone)
		})
		if asked != 1 || o.SubTypes[0] != rfb.X509None {
			t.Errorf("asked %d times; the offer became %v", asked, o.SubTypes)
		}
	}
}

func TestAPersonMayBeAskedOnlyBehindTheSubType(t *testing.T) {
	ahead := dialogue{greets, says38, venCrypt, "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x01\x00\x00\x01\x06"}
	for want, more := range map[bool]dialogue{false: {"X "}, true: {"C \x00\x00\x01\x06", "S \x01", "X "}} {
		o, called := offer("x509plain"), false
		o.OnPerson = func() { called = true }
		append(ahead[:len(ahead):len(ahead)], more...).against(t, func(conn net.Conn) {
			_, err := rfb.NewServer(conn, rfb.Timeouts{}).Negotiate(o)
			wantKind(t, err, rfb.KindGone)
		})
		if called != want {
			t.Errorf("behind the sub-type: %v, a person's step: %v", want, called)
		}
	}
}
