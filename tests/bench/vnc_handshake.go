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
	if !d.vencrypt {
		if err := v.startTLS(ctx, d); err != nil {
			return err
		}
	}
	return v.handshakeInside(ctx, d)
}

// handshakeInside is the RFB part of it.
func (v *viewer) handshakeInside(ctx context.Context, d vncEndpoint) error {
	if err := v.expect("the greeting", rfbVersion); err != nil {
		return err
	}
	if err := v.say(rfbVersion); err != nil {
		return err
	}
	want := byte(securityNone)
	if d.vencrypt {
		want = securityVeNCrypt
	}
	if err := v.choose("security types", 1, uint32(want)); err != nil {
		return err
	}
	if d.vencrypt {
		if err := v.venCrypt(ctx, d); err != nil {
			return err
		}
	}
	if err := v.result(); err != nil {
		return err
	}
	if err := v.say("\x01"); err != nil {
		return err
	}
	return v.desktop()
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

// venCrypt runs the exchange between the choice of type 19 and the SecurityResult.
func (v *viewer) venCrypt(ctx context.Context, d vncEndpoint) error {
	if err := v.expect("the VeNCrypt version", "\x00\x02"); err != nil {
		return err
	}
	if err := v.say("\x00\x02"); err != nil {
		return err
	}
	if err := v.expect("the answer to the VeNCrypt version", "\x00"); err != nil {
		return err
	}
	if err := v.choose("VeNCrypt subtypes", 4, subtypeX509None); err != nil {
		return err
	}
	if err := v.expect("the answer to the subtype", "\x01"); err != nil {
		return err
	}
	return v.startTLS(ctx, d)
}

// choose reads a counted list of numbers of that many bytes and answers with one of them.
func (v *viewer) choose(what string, bytesEach int, want uint32) error {
	n, err := v.read(what, 1)
	if err != nil {
		return err
	}
	if n[0] == 0 {
		return fmt.Errorf("an empty list of %s", what)
	}
	list, err := v.read(what, int(n[0])*bytesEach)
	if err != nil {
		return err
	}
	answer := binary.BigEndian.AppendUint32(nil, want)[4-bytesEach:]
	for at := 0; at < len(list); at += bytesEach {
		if bytes.Equal(list[at:at+bytesEach], answer) {
			return v.say(string(answer))
		}
	}
	return fmt.Errorf("%s % x without %d", what, list, want)
}

// result reads the SecurityResult; a refusal carries its reason.
func (v *viewer) result() error {
	code, err := v.number("the security result")
	if err != nil || code == 0 {
		return err
	}
	n, err := v.number("the refusal")
	if err != nil {
		return err
	}
	reason, err := v.read("the refusal", int(min(n, maxReason)))
	if err != nil {
		return err
	}
	return fmt.Errorf("refused: %q", reason)
}

// desktop reads ServerInit and checks that it is that of the bench's desktop.
func (v *viewer) desktop() error {
	init, err := v.read("ServerInit", serverInitLen)
	if err != nil {
		return err
	}
	w, h := binary.BigEndian.Uint16(init), binary.BigEndian.Uint16(init[2:])
	name := binary.BigEndian.Uint32(init[serverInitLen-4:])
	if w != screenWidth || h != screenHeight || name > maxDesktopName {
		return fmt.Errorf("a desktop of %d x %d with a name of %d bytes", w, h, name)
	}
	_, err = v.read("the desktop's name", int(name))
	return err
}

func (v *viewer) say(text string) error {
	_, err := io.WriteString(v.nc, text)
	return err
}

// read returns the next n bytes; no caller lets a peer request more than a few KB.
func (v *viewer) read(what string, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(v.nc, b); err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	return b, nil
}

func (v *viewer) number(what string) (uint32, error) {
	b, err := v.read(what, 4)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b), nil
}

func (v *viewer) expect(what, want string) error {
	got, err := v.read(what, len(want))
	if err != nil {
		return err
	}
	if string(got) != want {
		return fmt.Errorf("%s is %q instead of %q", what, got, want)
	}
	return nil
}
