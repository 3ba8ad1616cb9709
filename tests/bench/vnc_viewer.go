//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"time"
)

// viewerBuffer takes several TLS records in one read, so that the viewer is not the bottleneck of a
// bulk transfer.
const viewerBuffer = 64 << 10

// castagnoli has its own instruction on most CPUs: checking every byte of every frame costs little
// compared with its decryption.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// vncEndpoint is how viewers reach one server.
type vncEndpoint struct {
	addr     string         // host:port
	name     string         // SNI
	roots    *x509.CertPool // nil: without TLS
	vencrypt bool           // RFB in clear first, TLS within it; else TLS first
}

// viewer is one VNC session of the load client.
type viewer struct {
	nc     net.Conn // the TLS connection once there is one
	state  tls.ConnectionState
	seq    uint16
	event  []byte
	got    [echoLen]byte
	want   []byte
	frames []byte // nil in a viewer that requests none

	continuous bool // it gets pictures without asking
}

// buffered is a connection that reads ahead.
type buffered struct {
	net.Conn
	r *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// view opens a session up to ServerInit, in the way that the endpoint needs.
func (d vncEndpoint) view(ctx context.Context) (*viewer, error) {
	dialer := net.Dialer{Timeout: ioTimeout}
	raw, err := dialer.DialContext(ctx, "tcp", d.addr)
	if err != nil {
		return nil, err
	}
	v := &viewer{nc: &buffered{raw, bufio.NewReaderSize(raw, viewerBuffer)}}
	release := v.guard(ctx)
	defer release()
	if err := v.handshake(ctx, d); err != nil {
		raw.Close()
		return nil, err
	}
	return v, nil
}

// guard bounds the following operations in time. The end of ctx closes the connection, which ends
// every wait; release undoes the latter.
func (v *viewer) guard(ctx context.Context) (release func() bool) {
	nc := v.nc
	nc.SetDeadline(time.Now().Add(ioTimeout))
	return context.AfterFunc(ctx, func() { nc.Close() })
}

// close ends the session as viewers do: with close_notify and FIN.
func (v *viewer) close() { v.nc.Close() }

// begin sends a viewer's usual first messages, so that the session is an ordinary one.
func (v *viewer) begin() error {
	b := []byte{msgSetEncodings, 0, 0, 2}
	b = binary.BigEndian.AppendUint32(b, encodingTight)
	b = binary.BigEndian.AppendUint32(b, encodingRaw)
	b = append(b, msgUpdateRequest, 0, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, screenWidth)
	b = binary.BigEndian.AppendUint16(b, screenHeight)
	return v.say(string(b))
}

func (v *viewer) say(text string) error {
	_, err := io.WriteString(v.nc, text)
	return err
}

// point sends a PointerEvent and reads the pixel under it.
func (v *viewer) point(ctx context.Context) error {
	release := v.guard(ctx)
	defer release()
	v.seq++
	x, y := v.seq%screenWidth, v.seq%screenHeight
	v.event = appendPointer(v.event[:0], buttonsEcho, x, y)
	if _, err := v.nc.Write(v.event); err != nil {
		return err
	}
	if _, err := io.ReadFull(v.nc, v.got[:]); err != nil {
		return fmt.Errorf("waiting for the answer to a pointer: %w", err)
	}
	if v.want = appendEcho(v.want[:0], x, y); !bytes.Equal(v.got[:], v.want) {
		return fmt.Errorf("a pointer at %d, %d was answered with % x", x, y, v.got)
	}
	return nil
}

// pull requests n frames and compares every byte of them with the checksum of one.
func (v *viewer) pull(ctx context.Context, n uint16, sum uint32) error {
	if v.frames == nil {
		v.frames = make([]byte, viewerBuffer)
	}
	release := v.guard(ctx)
	defer release()
	v.event = appendPointer(v.event[:0], buttonsFrames, n, 0)
	if _, err := v.nc.Write(v.event); err != nil {
		return err
	}
	for i := range n {
		var got uint32
		for left := frameLen; left > 0; {
			m, err := v.nc.Read(v.frames[:min(left, len(v.frames))])
			got = crc32.Update(got, castagnoli, v.frames[:m])
			if left -= m; err != nil && left > 0 {
				return fmt.Errorf("frame %d of %d lacks %d bytes: %w", i+1, n, left, err)
			}
		}
		if got != sum {
			return fmt.Errorf("frame %d of %d is not the one that was sent", i+1, n)
		}
	}
	return nil
}
