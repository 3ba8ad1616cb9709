//go:build linux

package desktop

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
)

// block is a part of an fbs file.
func block(data []byte, millis uint32) []byte {
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return binary.BigEndian.AppendUint32(b, millis)
}

func TestAFileShowsWhatWasThereAtATime(t *testing.T) {
	init := append([]byte{0, 1, 0, 1}, framebuffer.LiveFormat[:]...)
	init = append(init, 0, 0, 0, 2, 'a', 'b')
	pixel := func(red byte) []byte { return []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, red, 0, 0, 0} }
	file := []byte("FBS 001.000\n")
	for _, data := range [][]byte{[]byte("RFB 003.003\n"), {0, 0, 0, 1}, init} {
		file = append(file, block(data, 0)...)
	}
	file = append(file, block(pixel(10), 100)...)
	file = append(file, block(pixel(20), 2000)...)
	for at, want := range map[time.Duration]byte{0: 0, 100 * time.Millisecond: 10, 1999 * time.Millisecond: 10, time.Hour: 20} {
		picture, err := PictureAt(file, at)
		if err != nil || picture.Pix[0] != want {
			t.Errorf("at %v: %v, %v", at, picture, err)
		}
	}
	for _, bad := range [][]byte{nil, file[1:], file[:40], append([]byte("FBS 001.000\n"), 255, 255, 255, 255)} {
		if _, err := PictureAt(bad, time.Hour); err == nil {
			t.Errorf("%q is a file", bad)
		}
	}
}
