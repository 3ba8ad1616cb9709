//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
)

// handshake is the viewer's part of the exchange in vnc_wire.go, up to ServerInit.
func (v *viewer) handshake(ctx context.Context, d vncEndpoint) error {
	if !d.vencrypt && d.roots != nil {
		if err := v.startTLS(ctx, d); err != nil {
			return err
		}
	}
	return v.handshakeInside(ctx, d)
}

func (v *viewer) startTLS(ctx context.Context, d vncEndpoint) error {
	// A session cache would make later handshakes cheap for the server; viewers start as new
	// processes and have none.
	c := tls.Client(v.nc, &tls.Config{ServerName: d.name, RootCAs: d.roots})
	if err := c.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS handshake: %w", err)
	}
	v.nc, v.state = c, c.ConnectionState()
	return nil
}

// handshakeInside is the RFB part of it.
func (v *viewer) handshakeInside(ctx context.Context, d vncEndpoint) error {
	t := talk{viewer: v}
	t.expect("the greeting", rfbVersion)
	t.say(rfbVersion)
	if d.vencrypt {
		t.choose("security types", 1, securityVeNCrypt)
		t.expect("the VeNCrypt version", "\x00\x02")
		t.say("\x00\x02")
		t.expect("the answer to the VeNCrypt version", "\x00")
		t.choose("VeNCrypt subtypes", 4, subtypeX509None)
		t.expect("the answer to the subtype", "\x01")
		if t.err == nil {
			t.err = v.startTLS(ctx, d)
		}
	} else {
		t.choose("security types", 1, securityNone)
	}
	if t.number("the security result") != 0 {
		reason := t.read("the refusal", int(min(t.number("the refusal"), maxReason)))
		t.failf("refused: %q", reason)
	}
	t.say("\x01")
	if init := t.read("ServerInit", serverInitLen); t.err == nil {
		w, h := binary.BigEndian.Uint16(init), binary.BigEndian.Uint16(init[2:])
		name := binary.BigEndian.Uint32(init[serverInitLen-4:])
		if w != screenWidth || h != screenHeight || name > maxDesktopName {
			t.failf("a desktop of %d x %d with a name of %d bytes", w, h, name)
		}
		t.read("the desktop's name", int(min(name, maxDesktopName)))
	}
	return t.err
}

// talk is a conversation that its first failure ends.
type talk struct {
	*viewer
	err error
}

func (t *talk) failf(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

func (t *talk) say(text string) {
	if t.err == nil {
		t.err = t.viewer.say(text)
	}
}

// read returns the next n bytes; no caller lets a peer request more than a few KB.
func (t *talk) read(what string, n int) []byte {
	b := make([]byte, n)
	if t.err == nil {
		if _, err := io.ReadFull(t.nc, b); err != nil {
			t.failf("reading %s: %w", what, err)
		}
	}
	return b
}

func (t *talk) number(what string) uint32 { return binary.BigEndian.Uint32(t.read(what, 4)) }

func (t *talk) expect(what, want string) {
	if got := t.read(what, len(want)); string(got) != want {
		t.failf("%s is %q instead of %q", what, got, want)
	}
}

// choose reads a counted list of numbers of that many bytes and answers with one of them.
func (t *talk) choose(what string, bytesEach int, want uint32) {
	list := t.read(what, int(t.read(what, 1)[0])*bytesEach)
	answer := binary.BigEndian.AppendUint32(nil, want)[4-bytesEach:]
	for at := 0; at < len(list); at += bytesEach {
		if bytes.Equal(list[at:at+bytesEach], answer) {
			t.say(string(answer))
			return
		}
	}
	t.failf("%s % x without %d", what, list, want)
}
