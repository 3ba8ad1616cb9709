package screen

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"slices"
	"sync"
)

// packer compresses pictures. It is much larger than what it makes, so that packers are kept.
type packer struct {
	out  bytes.Buffer
	zlib *zlib.Writer
	row  []byte
}

var packers = sync.Pool{New: func() any {
	p := new(packer)
	p.zlib, _ = zlib.NewWriterLevel(&p.out, zlib.BestSpeed) // the level exists
	return p
}}

// encode makes a PNG (RFC 2083). Its rows have no filter: to try all five for each, as image/png does,
// takes longer than everything else, and desktops, which are flat, get no smaller by it.
func encode(p *image.RGBA) []byte {
	k := packers.Get().(*packer)
	defer packers.Put(k)
	k.out.Reset()
	k.zlib.Reset(&k.out)
	width, height := p.Rect.Dx(), p.Rect.Dy()
	k.row = append(k.row[:0], make([]byte, 1+3*width)...)
	for y := range height {
		pix := p.Pix[y*p.Stride:][:4*width]
		for x := range width {
			copy(k.row[1+3*x:][:3], pix[4*x:][:3])
		}
		_, _ = k.zlib.Write(k.row) // a buffer has no errors
	}
	_ = k.zlib.Close()
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	out := append(make([]byte, 0, k.out.Len()+64), "\x89PNG\r\n\x1a\n"...)
	out = appendChunk(out, "IHDR", append(header, 8, 2, 0, 0, 0)) // 8 bits each of red, green, blue
	out = appendChunk(out, "IDAT", k.out.Bytes())
	return slices.Clip(appendChunk(out, "IEND", nil))
}

func appendChunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	begin := len(out)
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[begin:]))
}
