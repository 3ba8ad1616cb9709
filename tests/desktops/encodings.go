//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

// encodings are those of pixels that viewers ask for, and that a recording can have. A server that lacks
// one sends another.
var encodings = []struct {
	name string
	code int32
}{
	{"ZRLE", rfb.EncodingZRLE}, {"Hextile", rfb.EncodingHextile}, {"Tight", rfb.EncodingTight}, {"Zlib", rfb.EncodingZlib},
	{"RRE", rfb.EncodingRRE}, {"Raw", rfb.EncodingRaw},
}

// decodes checks that the gateway's decoder reads each encoding of the server, without the gateway.
func (a *agent) decodes(ctx context.Context) {
	for _, e := range encodings {
		a.Check("pixels in "+e.name+" are decoded, each as it is", a.desk.decode(ctx, e.code))
	}
}

// decode views the server until the picture is what it shows.
func (s *server) decode(ctx context.Context, code int32) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
	if err != nil {
		return err
	}
	defer conn.Close()
	d, err := rfb.Connect(conn, rfb.Login{Password: s.password}, seenTimeout)
	if err != nil {
		return err
	}
	decoder, err := framebuffer.NewDecoder(d.Init)
	if err != nil {
		return err
	}
	if err := errors.Join(conn.SetDeadline(time.Now().Add(seenTimeout)), decoder.SetFormat(framebuffer.LiveFormat)); err != nil {
		return err
	}
	// SetPixelFormat, SetEncodings, FramebufferUpdateRequest (RFC 6143, section 7.5). With the last two a
	// server draws no pointer into the picture, and may change its size.
	const setEncodings, update = 2, 3
	codes := []int32{code, rfb.EncodingCursor, rfb.EncodingSize}
	ask := append([]byte{0, 0, 0, 0}, framebuffer.LiveFormat[:]...)
	ask = binary.BigEndian.AppendUint16(append(ask, setEncodings, 0), uint16(len(codes)))
	for _, c := range codes {
		ask = binary.BigEndian.AppendUint32(ask, uint32(c))
	}
	for incremental, r := byte(0), bufio.NewReader(d.Conn); ; incremental = 1 {
		ask = append(ask, update, incremental, 0, 0, 0, 0)
		ask = binary.BigEndian.AppendUint16(ask, d.Init.Width)
		ask = binary.BigEndian.AppendUint16(ask, d.Init.Height)
		if _, err := d.Conn.Write(ask); err != nil {
			return err
		}
		ask = nil
		if _, err := decoder.Read(r); err != nil {
			return err
		}
		want, err := s.picture()
		if err != nil {
			return err
		}
		if differ := desktop.Differ(decoder.Picture().Image(), want); differ == nil || ctx.Err() != nil {
			return differ
		}
	}
}
