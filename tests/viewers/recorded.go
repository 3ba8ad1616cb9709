//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"net/http"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// recorded checks that the recording of the last session shows the desktop as it was, as it changed, and
// as it was again. The viewer has chosen pixels and encodings.
func recorded(ctx context.Context, s *session) {
	s.end()
	if !s.gateway.records {
		return
	}
	before := s.desktop.Shown
	shown := []desktop.Scene{before, changed(before), before}
	var fbs []byte
	err := process.Eventually(ctx, inputTimeout, func() error {
		var list struct {
			Data []struct{ ID, State string }
		}
		err := s.gateway.call(ctx, http.MethodGet, "/v1/recordings?workstation="+workstation, "", http.StatusOK, &list)
		if err != nil {
			return err
		}
		if len(list.Data) == 0 || list.Data[0].State != "complete" {
			return fmt.Errorf("the recordings are %+v", list.Data)
		}
		fbs, err = s.gateway.download(ctx, "/v1/recordings/"+list.Data[0].ID+"/fbs")
		return err
	})
	if err == nil {
		err = replays(fbs, shown)
	}
	s.Check("the recording replays with the desktop's colours, at three times", err)
}

// replays looks for scenes in an fbs file, one after the other.
func replays(fbs []byte, scenes []desktop.Scene) error {
	const handshake = 12 + 4 // version and security type
	stream, err := streamOf(fbs)
	if err != nil {
		return err
	}
	var init rfb.Init
	in := bufio.NewReader(bytes.NewReader(stream[handshake:]))
	head := make([]byte, 24)
	_, _ = io.ReadFull(in, head)
	init.Width, init.Height, init.Format = binary.BigEndian.Uint16(head), binary.BigEndian.Uint16(head[2:]), [16]byte(head[4:20])
	_, _ = in.Discard(int(binary.BigEndian.Uint32(head[20:])))
	d, err := framebuffer.NewDecoder(init)
	if err != nil {
		return err
	}
	why := errors.New("no update")
	for len(scenes) > 0 {
		if _, err := d.Read(in); err != nil {
			return fmt.Errorf("%d of the scenes are missing: %w; before: %w", len(scenes), err, why)
		}
		if why = scenes[0].Check(d.Picture().Image(), image.Point{}); why == nil {
			scenes = scenes[1:]
		}
	}
	return nil
}

// streamOf is what the blocks of an fbs file have.
func streamOf(fbs []byte) (stream []byte, err error) {
	rest, ok := bytes.CutPrefix(fbs, []byte("FBS 001.000\n"))
	for ok && len(rest) >= 8 {
		n := int(binary.BigEndian.Uint32(rest))
		padded := (n + 3) &^ 3
		if len(rest) < padded+8 {
			break
		}
		stream = append(stream, rest[4:4+n]...)
		rest = rest[padded+8:]
	}
	if len(rest) > 0 || len(stream) < 40 {
		return nil, fmt.Errorf("an fbs file of %d bytes ends with %d that are no block", len(fbs), len(rest))
	}
	return stream, nil
}

// changed is a scene with two areas in other colours.
func changed(before desktop.Scene) desktop.Scene {
	after := slices.Clone(before)
	after[changedOne].Colour.R, after[changedOther].Colour.G = 0xff, 0
	return after
}
