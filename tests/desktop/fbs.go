//go:build linux

package desktop

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

var errNotFBS = errors.New("not an fbs file")

// PictureAt plays an fbs file (FrameBuffer Stream) up to a time, and returns what it shows then. The
// file is "FBS 001.000\n", and blocks of a length u32, so many bytes of a server of RFB 3.3, padding
// to a multiple of 4, and their time u32 in milliseconds, all big-endian.
func PictureAt(file []byte, at time.Duration) (*image.RGBA, error) {
	const magic, number = "FBS 001.000\n", 4
	rest, found := bytes.CutPrefix(file, []byte(magic))
	if !found {
		return nil, errNotFBS
	}
	var stream []byte
	for len(rest) >= number {
		n := int(binary.BigEndian.Uint32(rest))
		end := number + (n+3)&^3
		if n > len(rest) || end+number > len(rest) {
			return nil, fmt.Errorf("%w: a block of %d bytes", errNotFBS, n)
		}
		if time.Duration(binary.BigEndian.Uint32(rest[end:]))*time.Millisecond > at {
			break
		}
		stream, rest = append(stream, rest[number:number+n]...), rest[end+number:]
	}
	// Its greeting, its security type, then the ServerInit (RFC 6143, section 7.3.2).
	const greeting, security, fixed = 12, 4, 24
	if len(stream) < greeting+security+fixed {
		return nil, fmt.Errorf("%w: no desktop", errNotFBS)
	}
	opened := stream[greeting+security:]
	init := rfb.Init{Width: binary.BigEndian.Uint16(opened), Height: binary.BigEndian.Uint16(opened[2:]), Format: [16]byte(opened[4:20])}
	name := int(binary.BigEndian.Uint32(opened[20:]))
	if name > len(opened)-fixed {
		return nil, fmt.Errorf("%w: a name of %d bytes", errNotFBS, name)
	}
	d, err := framebuffer.NewDecoder(init)
	if err != nil {
		return nil, err
	}
	for r := bufio.NewReader(bytes.NewReader(opened[fixed+name:])); ; {
		if _, err := d.Read(r); err == io.EOF {
			return d.Picture().Image(), nil
		} else if err != nil {
			return nil, err
		}
	}
}
