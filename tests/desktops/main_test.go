//go:build linux

package main

import (
	"image/color"
	"regexp"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

func TestAMissingServerIsAFailure(t *testing.T) {
	const none = "/nonexistent/server"
	o := options{
		Options:  process.Options{Only: regexp.MustCompile("")},
		programs: programs{xvnc: none, x11vnc: none, xvfb: none, qemu: none, cc: none, sway: none, wayvnc: none},
	}
	started, failed := o.start(t.Context(), t.TempDir())
	if len(started) != 0 || len(failed) != len(servers) {
		t.Fatalf("%d servers have started, %d failed", len(started), len(failed))
	}
	for _, r := range failed {
		if r.Failed != 1 || r.Passed != 0 {
			t.Errorf("%s", r)
		}
	}
}

func TestTheBootSectorCanBeStartedAndFits(t *testing.T) {
	sector := bootSector()
	if len(sector) != 512 || sector[510] != 0x55 || sector[511] != 0xaa || len(bootCode) > 510-20 {
		t.Errorf("%d bytes, of which code %d, end with %x", len(sector), len(bootCode), sector[510:])
	}
	img := bootPicture('a')
	for _, row := range []struct {
		x, y int
		want color.RGBA
	}{
		{0, 0, color.RGBA{0, 0, 'a', 255}}, {15, 0, color.RGBA{0, 0, 'a', 255}}, {16, 0, color.RGBA{16, 0, 2, 255}},
		{1279, 719, color.RGBA{0x30, 179, 159, 255}},
	} {
		if got := img.RGBAAt(row.x, row.y); got != row.want {
			t.Errorf("at %d, %d the picture is %v, want %v", row.x, row.y, got, row.want)
		}
	}
}

func TestSymbolsAreReadFromTheLogOfAServer(t *testing.T) {
	const log = "listening\ndown 0xffe1\ndown 0x41\nup 0x41\nup 0xffe1\ndown 0x7e\nutf8 down 0x42\n"
	if got := symbols(log); got != "A~" {
		t.Errorf("%q", got)
	}
}
