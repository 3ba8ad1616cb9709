//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

func testDesktop(t *testing.T) *desktop {
	t.Helper()
	d, err := newDesktop(nil) // none of its viewers asks for frames
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

// spoken sends bytes to a desktop and returns its answer until it closes.
func spoken(t *testing.T, d *desktop, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", d.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, text)
	c.(*net.TCPConn).CloseWrite()
	answer, _ := io.ReadAll(c) // a reset is an end too
	d.close()                  // waits until the desktop has counted everything
	return string(answer)
}

// hello is a viewer's part of the handshake with a desktop.
const hello = rfbVersion + "\x01\x01"

func TestDesktopUnderstandsViewers(t *testing.T) {
	d := testDesktop(t)
	said := hello +
		"\x00..." + strings.Repeat("f", formatBytes) +
		"\x02.\x00\x02" + "\x00\x00\x00\x07" + "\x00\x00\x00\x00" +
		"\x03\x00\x00\x00\x00\x00\x05\x00\x02\xd0" +
		"\x04\x01..\x00\x00\x00a" +
		"\x06...\x00\x00\x00\x03abc" +
		"\x05\x00\x00\x07\x00\x09"
	got := spoken(t, d, said)
	want := rfbVersion + "\x01\x01" + "\x00\x00\x00\x00" + string(serverInit()) + string(appendEcho(nil, 7, 9))
	if got != want {
		t.Errorf("the desktop answered %q, want %q", got, want)
	}
	if err := d.complaint(); err != nil {
		t.Errorf("an ordinary viewer drew a complaint: %v", err)
	}
	if got := d.counts(); got != (counts{sessions: 1, echoes: 1}) {
		t.Errorf("counted %+v", got)
	}
}

func TestDesktopReportsWhatRFBDoesNotAllow(t *testing.T) {
	tests := []struct{ name, said, complaint string }{
		{"another version", "RFB 003.003\n", "instead of \"RFB 003.008"},
		{"another type", rfbVersion + "\x02", "instead of \"\\x01\""},
		{"a desktop for itself", rfbVersion + "\x01\x00", "instead of \"\\x01\""},
		{"an unknown message", hello + "\x07", "message of type 7"},
		{"too many encodings", hello + "\x02.\xff\xff", "more than"},
		{"a long clipboard", hello + "\x06...\x7f\xff\xff\xff", "more than"},
		{"other buttons", hello + "\x05\x04\x00\x01\x00\x02", "buttons 4"},
		{"too many frames", hello + "\x05\x01\xff\xff\x00\x00", "a pointer at 65535"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := testDesktop(t)
			spoken(t, d, tt.said)
			if err := d.complaint(); err == nil || !strings.Contains(err.Error(), tt.complaint) {
				t.Errorf("complaint %v, want one of %q", err, tt.complaint)
			}
		})
	}
	t.Run("a viewer that leaves is none", func(t *testing.T) {
		for n := range len(hello) + pointerEventLen {
			d := testDesktop(t)
			spoken(t, d, (hello + "\x05\x00\x00\x01\x00\x02")[:n])
			if err := d.complaint(); err != nil {
				t.Errorf("after %d bytes: %v", n, err)
			}
		}
	})
}

func TestClosedDesktopHasNoConnections(t *testing.T) {
	d := testDesktop(t)
	c, err := net.Dial("tcp", d.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.ReadFull(c, make([]byte, len(rfbVersion))) // it has been accepted
	d.close()
	if n, err := io.Copy(io.Discard, c); err == nil && n > 0 {
		t.Errorf("%d bytes after the end", n)
	}
	if len(d.conns) != 0 {
		t.Errorf("%d connections are left", len(d.conns))
	}
}

func TestFrameIsOneUpdateOfWholeScreens(t *testing.T) {
	frame := newFrame()
	if len(frame) != frameLen || len(frame) > 8_000_000 {
		t.Fatalf("a frame of %d bytes, frameLen is %d", len(frame), frameLen)
	}
	head := appendRectangle([]byte{msgFrameBuffer, 0, 0, rectanglesPerUpdate}, 0, 0, screenWidth, screenHeight)
	if !bytes.HasPrefix(frame, head) {
		t.Errorf("it begins with % x", frame[:len(head)])
	}
	second := frame[updateHeadLen+rectangleLen+screenWidth*screenHeight*bytesPerPixel:]
	if !bytes.HasPrefix(second, head[updateHeadLen:]) {
		t.Errorf("its second rectangle begins with % x", second[:rectangleLen])
	}
	seen := map[string]bool{}
	for at := len(head); at+64 <= len(head)+(16<<10); at += 64 {
		seen[string(frame[at:at+64])] = true
	}
	if len(seen) != (16<<10)/64 {
		t.Errorf("pixels repeat within a record: %s", fmt.Sprint(len(seen)))
	}
}
