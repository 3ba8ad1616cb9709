//go:build linux

package main

import (
	"hash/crc32"
	"io"
	"net"
	"strings"
	"testing"
)

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
