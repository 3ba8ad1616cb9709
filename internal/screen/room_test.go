package screen

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// The memory of a larger picture is taken before the picture is made: several workstations may become
// larger at once.
func TestMemoryIsTakenBeforeAPictureGrows(t *testing.T) {
	var all memory.Semaphore
	all.SetLimit(1 << 20)
	s := shots{memory: &all, full: errMemory, turn: make(chan struct{}, 1)}
	if _, err := s.begin(rfb.Init{Width: 100, Height: 100, Format: framebuffer.LiveFormat}); err != nil {
		t.Fatal(err)
	}
	room := s.decoder.Room
	asked := false
	s.decoder.Room = func(pixels int) bool {
		has := room(pixels)
		asked = true
		if want := int64(4 * (pixels + 100*100)); all.Used() != want || len(s.decoder.Picture().Pix) != 4*100*100 {
			t.Errorf("%d bytes are taken, want %d", all.Used(), want)
		}
		return has
	}
	resize := []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 200, 0, 200, 255, 255, 255, 33}
	if _, size, err := s.read(bufio.NewReader(bytes.NewReader(resize))); err != nil || size.X != 200 || !asked || all.Used() != 4*200*200 {
		t.Errorf("%v, %v, %d bytes are taken", size, err, all.Used())
	}
	if !all.Take(all.Limit() - all.Used() - 4*300*300 + 1) {
		t.Fatal("the rest")
	}
	larger := []byte{0, 0, 0, 1, 0, 0, 0, 0, 1, 44, 1, 44, 255, 255, 255, 33} // 300 x 300
	s.decoder.Room = room
	if _, _, err := s.read(bufio.NewReader(bytes.NewReader(larger))); err == nil {
		t.Error("it grows where there is no room for both pictures")
	}
}
