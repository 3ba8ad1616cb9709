//go:build linux

package main

import (
	"crypto/tls"
	"hash/crc32"
	"io"
	"net"
	"strings"
	"testing"
)

// met connects a viewer of that endpoint to a server that sends these bytes, whatever it receives,
// and returns the error of the handshake. TLS is left out.
func met(t *testing.T, d vncEndpoint, says string) error {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		go io.Copy(io.Discard, far)
		io.WriteString(far, says)
		far.Close()
	}()
	v := &viewer{nc: near}
	return v.handshakeInside(t.Context(), d)
}

func TestViewerTakesOnlyWhatItKnows(t *testing.T) {
	const inside, clear = false, true
	good := rfbVersion + "\x01\x01" + "\x00\x00\x00\x00" + string(serverInit())
	if err := met(t, vncEndpoint{}, good); err != nil {
		t.Fatalf("a good desktop: %v", err)
	}
	tests := []struct {
		name     string
		vencrypt bool
		says     string
		want     string
	}{
		{"another greeting", inside, "RFB 003.003\n", "the greeting is"},
		{"an empty list", inside, rfbVersion + "\x00", "security types  without 1"},
		{"a list without None", inside, rfbVersion + "\x02\x02\x13", "security types 02 13 without 1"},
		{"a list without VeNCrypt", clear, rfbVersion + "\x01\x01", "without 19"},
		{"another VeNCrypt", clear, rfbVersion + "\x01\x13\x00\x01", "the VeNCrypt version is"},
		{"a version refused", clear, rfbVersion + "\x01\x13\x00\x02\xff", "the answer to the VeNCrypt version is"},
		{"no X509None", clear, rfbVersion + "\x01\x13\x00\x02\x00\x01\x00\x00\x01\x06", "without 260"},
		{"a subtype refused", clear, rfbVersion + "\x01\x13\x00\x02\x00\x01\x00\x00\x01\x04\x00", "the answer to the subtype is"},
		{"a refusal", inside, rfbVersion + "\x01\x01\x00\x00\x00\x01\x00\x00\x00\x07expired", `refused: "expired"`},
		{"another screen", inside, strings.Replace(good, "\x05\x00\x02\xd0", "\x04\x00\x03\x00", 1), "a desktop of 1024 x 768"},
		{"a name without end", inside, good[:len(good)-9] + "\x7f\xff\xff\xff", "a name of 2147483647 bytes"},
		{"an end too soon", inside, good[:len(good)-1], "reading the desktop's name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := met(t, vncEndpoint{vencrypt: tt.vencrypt}, tt.says)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the handshake ended with %v, want %q", err, tt.want)
			}
		})
	}
}

func TestViewerChecksEveryAnswer(t *testing.T) {
	answered := func(asks int, answer []byte, do func(*viewer) error) error {
		near, far := net.Pipe()
		defer near.Close()
		go func() {
			io.ReadFull(far, make([]byte, asks))
			far.Write(answer)
			far.Close()
		}()
		return do(&viewer{nc: near})
	}
	point := func(v *viewer) error { return v.point(t.Context()) }
	if err := answered(pointerEventLen, appendEcho(nil, 1, 1), point); err != nil {
		t.Errorf("the right pixel: %v", err)
	}
	if err := answered(pointerEventLen, appendEcho(nil, 1, 2), point); err == nil || !strings.Contains(err.Error(), "was answered with") {
		t.Errorf("another pixel: %v", err)
	}
	if err := answered(pointerEventLen, appendEcho(nil, 1, 1)[:echoLen-1], point); err == nil {
		t.Error("half an answer passed")
	}

	frame := newFrame()
	sum := crc32.Checksum(frame, castagnoli)
	pull := func(v *viewer) error { return v.pull(t.Context(), 1, sum) }
	if err := answered(pointerEventLen, frame, pull); err != nil {
		t.Errorf("the right frame: %v", err)
	}
	frame[frameLen/2] ^= 1
	if err := answered(pointerEventLen, frame, pull); err == nil || !strings.Contains(err.Error(), "not the one that was sent") {
		t.Errorf("a frame with one bit wrong: %v", err)
	}
	if err := answered(pointerEventLen, frame[:frameLen-1], pull); err == nil || !strings.Contains(err.Error(), "lacks 1 bytes") {
		t.Errorf("a frame without its last byte: %v", err)
	}
}

// TestViewerSpeaksVeNCrypt connects a viewer to a gateway that is only its handshake, with real
// TLS, before a real desktop.
func TestViewerSpeaksVeNCrypt(t *testing.T) {
	files, err := newCertificate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(files.cert, files.key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		var said []byte
		for _, step := range []struct {
			say  string
			want int
		}{{rfbVersion, len(rfbVersion)}, {"\x01\x13", 1}, {"\x00\x02", 2}, {"\x00\x02\x00\x00\x01\x06\x00\x00\x01\x04", 4}} {
			io.WriteString(c, step.say)
			got := make([]byte, step.want)
			io.ReadFull(c, got)
			said = append(said, got...)
		}
		io.WriteString(c, "\x01")
		inside := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}})
		io.WriteString(inside, "\x00\x00\x00\x00"+string(serverInit()))
		got := make([]byte, 1)
		io.ReadFull(inside, got)
		heard <- string(append(said, got...)) + inside.ConnectionState().ServerName
	}()
	d := vncEndpoint{addr: l.Addr().String(), name: "token." + vncDomain, roots: files.roots, vencrypt: true}
	v, err := d.view(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	if got, want := <-heard, rfbVersion+"\x13"+"\x00\x02"+"\x00\x00\x01\x04"+"\x01"+d.name; got != want {
		t.Errorf("the gateway heard %q, want %q", got, want)
	}
	if got := tlsOf(v.state); !strings.HasPrefix(got, "TLS 1.3, TLS_") || !strings.HasSuffix(got, "ECDSA") {
		t.Errorf("the session speaks %s", got)
	}
}
