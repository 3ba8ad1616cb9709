package replay

import (
	"bytes"
	"compress/flate"
	"image"
	"io"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
)

const (
	// momentEvery is at least between two moments, in bytes of the workstation: they take about a third of a
	// second to decode.
	momentEvery = 8 << 20
	// maxMoments bounds what a replay holds of moments, in bytes.
	maxMoments = 64 << 20
	// windows is what a moment has besides its picture, in bytes: six zlib streams.
	windows = 6 * 32 << 10
)

// moment is the state of a decoding between two messages, to go on from.
type moment struct {
	at      time.Duration
	frames  int   // were read
	bytes   int64 // of the workstation
	decoder *framebuffer.Decoder
	packed  []byte // its picture
	pointer pointer
}

// pointer is where the pointer is, if that is known.
type pointer struct {
	image.Point
	known  bool
	placed image.Point // where the workstation has last said that it is
}

// moments are in the order of time. They are kept while a recording is decoded, so that going back does
// not begin at the beginning.
type moments struct {
	kept  []moment
	size  int
	every int64 // bytes of the workstation
}

// before is the last moment up to a time; without one ok is false.
func (m *moments) before(at time.Duration) (last moment, ok bool) {
	for _, each := range m.kept {
		if each.at > at {
			break
		}
		last, ok = each, true
	}
	return last, ok
}

// keep keeps where a pass is, if it is far enough from the last. If that is too much it lets go of every
// other one.
func (m *moments) keep(p *pass) {
	last := int64(0)
	if n := len(m.kept); n > 0 {
		last = m.kept[n-1].bytes
	}
	if p.bytes < last+m.every {
		return
	}
	kept := p.moment
	kept.decoder = p.decoder.Clone()
	picture := kept.decoder.Picture()
	var packed bytes.Buffer
	zip, _ := flate.NewWriter(&packed, flate.BestSpeed) // a level that exists
	_, _ = zip.Write(picture.Pix)                       // into memory
	_ = zip.Close()
	kept.packed, picture.Pix = packed.Bytes(), nil
	m.kept = append(m.kept, kept)
	m.size += len(kept.packed) + windows
	if m.size <= maxMoments {
		return
	}
	all := m.kept
	m.kept, m.size, m.every = nil, 0, 2*m.every
	for i := 1; i < len(all); i += 2 {
		m.kept = append(m.kept, all[i])
		m.size += len(all[i].packed) + windows
	}
}

// resume returns the decoder of a moment, which stays as it is.
func (m moment) resume() (*framebuffer.Decoder, error) {
	decoder := m.decoder.Clone()
	picture := decoder.Picture()
	picture.Pix = make([]byte, 4*picture.Width*picture.Height)
	_, err := io.ReadFull(flate.NewReader(bytes.NewReader(m.packed)), picture.Pix)
	return decoder, err
}
