package screen

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"image"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// shots are the picture of a desktop, and the last PNG of it.
type shots struct {
	memory *memory.Semaphore
	full   error         // there is no more of it
	leave  int64         // eighths of it that the picture does not take
	makers chan struct{} // of all desktops: held by those who take a shot
	next   chan struct{} // of this one: held by the one who may wait for a place among them
	// turn is held by who uses the following: the reader while a message comes, and who takes a shot.
	turn    chan struct{}
	decoder *framebuffer.Decoder
	taken   int64 // bytes of memory
	last    shot
}

// shot is a PNG, and of what.
type shot struct {
	version uint64 // of the picture
	region  image.Rectangle
	space   image.Point
	etag    string
	png     *png // nil: it was not made
}

// png is a PNG. Its memory counts until its last user has ended: the desktop, which keeps the last one, and
// calls, which write it to their clients.
type png struct {
	data   []byte
	memory *memory.Semaphore
	users  atomic.Int32
}

// size is what a PNG takes with its base64, which most answers have.
func (p *png) size() int64 { return int64(len(p.data)) * 7 / 3 }

// end ends a use.
func (p *png) end() {
	if p.users.Add(-1) == 0 {
		p.memory.Give(p.size())
	}
}

var errClosed = errors.New("the session has ended")

func newShots(s *Screens, of *pool) shots {
	return shots{memory: &of.memory, full: of.full, makers: s.makers, next: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
}

// begin makes the picture of a desktop.
func (s *shots) begin(init rfb.Init) (size image.Point, err error) {
	size = image.Pt(int(init.Width), int(init.Height))
	if err := s.hold(4 * int64(size.X) * int64(size.Y)); err != nil {
		return size, err
	}
	if s.decoder, err = framebuffer.NewDecoder(init); err != nil {
		return size, unreachable("its desktop is too large", err)
	}
	s.decoder.Room = func(pixels int) bool { // two pictures, until the first is copied
		return s.hold(4*int64(pixels)+int64(len(s.decoder.Picture().Pix))) == nil
	}
	return size, s.decoder.SetFormat(framebuffer.LiveFormat)
}

// hold changes how much memory is taken.
func (s *shots) hold(bytes int64) error {
	if more := bytes - s.taken; more <= 0 { // also where a reload has made the bound less
		s.memory.Give(-more)
	} else if !s.memory.TakeLeaving(s.leave, more) {
		return s.full
	}
	s.taken = bytes
	return nil
}

// close gives the memory back. Nobody uses s any more, or will find another picture.
func (s *shots) close() {
	s.turn <- struct{}{}
	s.memory.Give(s.taken)
	s.taken, s.decoder = 0, nil
	s.drop()
	<-s.turn
}

// read applies a message of the workstation.
func (s *shots) read(in *bufio.Reader) (m framebuffer.Message, size image.Point, err error) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if m, err = s.decoder.Read(in); err != nil {
		return m, size, err
	}
	p := s.decoder.Picture()
	if size = image.Pt(p.Width, p.Height); m.Resized {
		s.drop()
		err = s.hold(int64(len(p.Pix)))
	}
	return m, size, err
}

// take takes a shot, for which the PNG is only made if it is wanted. The version is what the picture has
// at least.
func (s *shots) take(ctx context.Context, want *Want, version uint64, encoded bool) (Shot, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return Shot{}, err
	}
	defer release()
	if s.decoder == nil {
		return Shot{}, errClosed
	}
	picture := s.decoder.Picture().Image()
	region := want.Region
	if region.Empty() {
		region = picture.Rect
	}
	if !region.In(picture.Rect) {
		return Shot{}, apierror.New(apierror.InvalidValue, "region: the desktop has %dx%d pixels", picture.Rect.Max.X, picture.Rect.Max.Y).WithParam("region")
	}
	space := fit(region.Size(), want.MaxWidth, want.MaxHeight)
	if l := &s.last; l.etag == "" || l.version != version || l.region != region || l.space != space {
		etag := fingerprint(picture, region, space)
		if etag != l.etag {
			s.drop()
		}
		l.version, l.region, l.space, l.etag = version, region, space, etag
	}
	out := Shot{ETag: s.last.etag, Size: picture.Rect.Max, Space: space, Region: region, Changed: !strings.Contains(want.Known, s.last.etag)}
	if !encoded || !out.Changed {
		return out, nil
	}
	if s.last.png == nil {
		p := &png{data: encode(shrink(picture.SubImage(region).(*image.RGBA), space)), memory: s.memory}
		if !s.memory.Take(p.size()) {
			return Shot{}, s.full
		}
		p.users.Add(1)
		s.last.png = p
	}
	s.last.png.users.Add(1)
	context.AfterFunc(ctx, s.last.png.end)
	out.PNG = s.last.png.data
	return out, nil
}

// acquire waits for a place among the makers and for the turn. It waits for either with nothing in hand: a
// message that comes slowly must hold up no other desktop, and no wait for a place the messages of this one.
// A desktop waits for one place at a time, so that its many calls do not keep out others.
func (s *shots) acquire(ctx context.Context) (release func(), err error) {
	if err := take(ctx, s.next); err != nil {
		return nil, err
	}
	for {
		if err = take(ctx, s.makers); err != nil {
			break
		}
		select {
		case s.turn <- struct{}{}:
			return func() { <-s.turn; <-s.makers; <-s.next }, nil
		default:
		}
		<-s.makers
		if err = take(ctx, s.turn); err != nil {
			break
		}
		<-s.turn
	}
	<-s.next
	return nil, err
}

// take waits for a place in a channel.
func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return gone(ctx)
	}
}

// drop lets the last PNG go.
func (s *shots) drop() {
	if s.last.png != nil {
		s.last.png.end()
	}
	s.last = shot{}
}

// fit returns the size of a picture within bounds, with the proportions of size. 0 is no bound.
func fit(size image.Point, maxWidth, maxHeight int) image.Point {
	fitted := size
	if maxWidth > 0 && fitted.X > maxWidth {
		fitted = image.Pt(maxWidth, max(1, size.Y*maxWidth/size.X))
	}
	if maxHeight > 0 && fitted.Y > maxHeight {
		fitted = image.Pt(max(1, size.X*maxHeight/size.Y), maxHeight)
	}
	return fitted
}

// fingerprint names the pixels of a region in a size.
func fingerprint(p *image.RGBA, region image.Rectangle, space image.Point) string {
	h := sha256.New()
	var head [16]byte
	for i, n := range []int{region.Dx(), region.Dy(), space.X, space.Y} {
		binary.BigEndian.PutUint32(head[4*i:], uint32(n))
	}
	h.Write(head[:])
	for y := region.Min.Y; y < region.Max.Y; y++ {
		h.Write(p.Pix[p.PixOffset(region.Min.X, y):][:4*region.Dx()])
	}
	return hex.EncodeToString(h.Sum(nil))
}
