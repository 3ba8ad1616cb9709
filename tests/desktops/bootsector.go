//go:build linux

package main

import (
	"encoding/binary"
	"image"
	"image/color"
)

// The size of the picture that bootSector draws.
const bootWidth, bootHeight = 1280, 720

// bootSector is a program of 16 bits that a virtual machine starts instead of a system. It draws a
// picture of 32 bits a pixel, of as many colours as a photograph has, through the window of 64 KiB that
// Bochs' graphics adapter has at a0000h (its registers are at ports 1ceh and 1cfh). Then it writes what is
// typed to the first serial port, as the characters that the BIOS makes of the keys, and paints the first
// 16 pixels with the code of the last one. Registers: bx bank, di place in it, cx column, bp row.
func bootSector() []byte {
	sector := make([]byte, 512)
	table := copy(sector, bootCode)
	// Off; the size and the depth; on, without a linear picture.
	for i, word := range []uint16{4, 0, 1, bootWidth, 2, bootHeight, 3, 32, 4, 1} {
		binary.LittleEndian.PutUint16(sector[table+2*i:], word)
	}
	sector[510], sector[511] = 0x55, 0xaa // it can be started
	return sector
}

// bootPicture is the picture after a character was typed, '\0' for none.
func bootPicture(last byte) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, bootWidth, bootHeight))
	for y := range bootHeight {
		for x := range bootWidth {
			img.SetRGBA(x, y, color.RGBA{uint8((x ^ y) & 0xf0), uint8(y >> 2), uint8(x >> 3), 0xff})
		}
	}
	for x := 0; last != 0 && x < 16; x++ {
		img.SetRGBA(x, 0, color.RGBA{0, 0, last, 0xff})
	}
	return img
}

// bootCode is loaded at 7c00h. The table of registers and their values follows it.
var bootCode = []byte{
	0xfa,       // _start: cli
	0x31, 0xc0, // xor ax,ax
	0x8e, 0xd8, // mov ds,ax
	0x8e, 0xd0, // mov ss,ax
	0xbc, 0x00, 0x7c, // mov sp,0x7c00
	0xfb,             // sti
	0xfc,             // cld
	0xbe, 0x8f, 0x7c, // mov si,table
	0xb9, 0x05, 0x00, // mov cx,0x5
	0xad,             // next: lodsw
	0xba, 0xce, 0x01, // mov dx,0x1ce
	0xef,       // out dx,ax
	0x42,       // inc dx
	0xad,       // lodsw
	0xef,       // out dx,ax
	0xe2, 0xf6, // loop next
	0x68, 0x00, 0xa0, // push 0xa000
	0x07,       // pop es
	0x31, 0xdb, // xor bx,bx
	0x31, 0xff, // xor di,di
	0xe8, 0x5c, 0x00, // call bank
	0x31, 0xed, // xor bp,bp
	0x31, 0xc9, // row: xor cx,cx
	0x89, 0xc8, // pixel: mov ax,cx
	0x31, 0xe8, // xor ax,bp
	0x25, 0xf0, 0x00, // and ax,0xf0
	0x66, 0xc1, 0xe0, 0x10, // shl eax,0x10
	0x89, 0xe8, // mov ax,bp
	0xc1, 0xe8, 0x02, // shr ax,0x2
	0x88, 0xc4, // mov ah,al
	0x89, 0xca, // mov dx,cx
	0xc1, 0xea, 0x03, // shr dx,0x3
	0x88, 0xd0, // mov al,dl
	0x66, 0xab, // stosd
	0x85, 0xff, // test di,di
	0x75, 0x04, // jne same
	0x43,             // inc bx
	0xe8, 0x35, 0x00, // call bank
	0x41,                   // same: inc cx
	0x81, 0xf9, 0x00, 0x05, // cmp cx,0x500
	0x72, 0xd6, // jb pixel
	0x45,                   // inc bp
	0x81, 0xfd, 0xd0, 0x02, // cmp bp,0x2d0
	0x72, 0xcd, // jb row
	0x31, 0xdb, // xor bx,bx
	0xe8, 0x22, 0x00, // call bank
	0xb0, 0x3e, // mov al,0x3e
	0x50,             // say: push ax
	0xba, 0xfd, 0x03, // wait: mov dx,0x3fd
	0xec,       // in al,dx
	0xa8, 0x20, // test al,0x20
	0x74, 0xf8, // je wait
	0x58,             // pop ax
	0xba, 0xf8, 0x03, // mov dx,0x3f8
	0xee,       // out dx,al
	0x30, 0xe4, // xor ah,ah
	0xcd, 0x16, // int 0x16
	0x31, 0xff, // xor di,di
	0xb9, 0x10, 0x00, // mov cx,0x10
	0x66, 0x0f, 0xb6, 0xc0, // movzx eax,al
	0x66, 0xf3, 0xab, // rep stosd
	0xeb, 0xe0, // jmp say
	0xba, 0xce, 0x01, // bank: mov dx,0x1ce
	0xb8, 0x05, 0x00, // mov ax,0x5
	0xef,       // out dx,ax
	0x42,       // inc dx
	0x89, 0xd8, // mov ax,bx
	0xef, // out dx,ax
	0xc3, // ret
}
