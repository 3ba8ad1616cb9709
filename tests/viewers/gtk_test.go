//go:build linux

package main

import (
	"image"
	"image/color"
	"image/draw"
	"testing"
)

func TestAPanelIsNotAToolbar(t *testing.T) {
	paper := image.NewUniform(color.RGBA{0xf6, 0xf5, 0xf4, 0xff})
	img := greyScreen()
	draw.Draw(img, image.Rect(90, 77, 134, 935), paper, image.Point{}, draw.Src)
	if r, _ := findPanel(img); r.Dx() > 44 {
		t.Errorf("a toolbar is a panel %v", r)
	}
	panel := image.Rect(135, 117, 1510, 499)
	draw.Draw(img, panel, paper, image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(800, 200, 900, 260), image.White, image.Point{}, draw.Src)
	r, white := findPanel(img)
	if want := image.Rect(135, 117, 1506, 499); r != want || white != 6000 {
		t.Errorf("the panel is %v with %d white pixels, want %v and 6000", r, white, want)
	}
	if r, _ := findPanel(greyScreen()); !r.Empty() {
		t.Errorf("an empty screen has a panel %v", r)
	}
}

func greyScreen() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 1600, 1000))
	draw.Draw(img, img.Rect, image.NewUniform(color.RGBA{0x90, 0x90, 0x90, 0xff}), image.Point{}, draw.Src)
	return img
}
