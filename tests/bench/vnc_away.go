//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// awayCase is a desktop that always moves, seen from far away: pictures a second through the gateway, with
// its default fps, and directly, through the same delay. The viewer has continuous updates, as TigerVNC and
// noVNC have.
const (
	awayCase  = "vnc-away"
	awayDelay = 100 * time.Millisecond // each way
	awayWarm  = 2 * time.Second        // until the first picture, and a little more

	perSecond metric = "pictures/s"

	msgContinuous      = 150 // EnableContinuousUpdates of a viewer, EndOfContinuousUpdates of a server
	encodingContinuous = -313
	pictureSide        = 64
	pictureLen         = updateHeadLen + rectangleLen + pictureSide*pictureSide*bytesPerPixel
	picturesPerSecond  = 30 // that the desktop draws
)

var awayServers = []role{direct, gateway}

func awaySuite() suite {
	return suite{
		name: awayCase, servers: awayServers, round: atOnce(measureAway),
		head: says(fmt.Sprintf("a desktop with %d pictures a second, %v away in each direction; ratio directly / through the gateway, with its default fps", picturesPerSecond, awayDelay)),
		rows: []row{{awayCase, "picture", perSecond, goal{1.05, 1.02}, func(f map[role]figures) float64 {
			return ratio(f[direct].PerSecond, f[gateway].PerSecond)
		}, ""}},
	}
}

// measureAway looks at a desktop by both ways, one after the other.
func measureAway(ctx context.Context, r *runner, base *fleet, n int) (map[role]figures, error) {
	f := &vncFleet{fleet: base}
	defer func() { closeDesktops(f.all) }()
	s, err := f.start(ctx, gateway)
	if err != nil {
		return nil, err
	}
	s.desktop.moves.Store(true)
	got := map[role]figures{}
	for _, which := range rotate(awayServers, n) {
		d := vncEndpoint{addr: s.desktop.addr()}
		if which == gateway {
			if d, err = f.endpoint(ctx, s, false); err != nil {
				return nil, err
			}
		}
		if got[which], err = watchAway(ctx, d, r.opts.Time); err != nil {
			return nil, fmt.Errorf("%s: %w", which, err)
		}
	}
	return got, s.desktop.complaint()
}

// watchAway counts the pictures of a viewer for a time.
func watchAway(ctx context.Context, d vncEndpoint, t time.Duration) (figures, error) {
	link, err := newDelayedLink(d.addr, awayDelay)
	if err != nil {
		return figures{}, err
	}
	defer link.close()
	d.addr = link.addr()
	v, err := d.view(ctx)
	if err != nil {
		return figures{}, err
	}
	defer v.close()
	release := v.guard(ctx)
	defer release()
	if err := v.offerContinuous(); err != nil {
		return figures{}, err
	}
	for begun := time.Now(); time.Since(begun) < awayWarm; {
		if err := v.picture(); err != nil {
			return figures{}, err
		}
	}
	made, begun := 0, time.Now()
	for ; time.Since(begun) < t; made++ {
		if err := v.picture(); err != nil {
			return figures{}, err
		}
	}
	return figures{Calls: made, PerSecond: float64(made) / time.Since(begun).Seconds()}, nil
}

// wholeScreen appends what a request and EnableContinuousUpdates have: a flag and an area.
func wholeScreen(dst []byte, kind, flag byte) []byte {
	dst = append(dst, kind, flag, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint16(dst, screenWidth)
	return binary.BigEndian.AppendUint16(dst, screenHeight)
}

// offerContinuous sends the first messages of a viewer that has continuous updates.
func (v *viewer) offerContinuous() error {
	b := []byte{msgSetEncodings, 0, 0, 2, 0, 0, 0, encodingRaw}
	offered := int32(encodingContinuous)
	b = binary.BigEndian.AppendUint32(b, uint32(offered))
	return v.say(string(wholeScreen(b, msgUpdateRequest, 0)))
}

// picture reads the next one. When the server says that it can, the viewer has it send without being asked;
// until then it asks for the next one at the beginning of each, as TigerVNC does.
func (v *viewer) picture() error {
	b := make([]byte, pictureLen)
	for {
		if _, err := io.ReadFull(v.nc, b[:1]); err != nil {
			return fmt.Errorf("waiting for a picture: %w", err)
		}
		switch b[0] {
		case msgContinuous:
			v.continuous = true
			if err := v.say(string(wholeScreen(nil, msgContinuous, 1))); err != nil {
				return err
			}
		case msgFrameBuffer:
			if !v.continuous {
				if err := v.say(string(wholeScreen(nil, msgUpdateRequest, 1))); err != nil {
					return err
				}
			}
			_, err := io.ReadFull(v.nc, b[1:])
			if at := binary.BigEndian.Uint16(b[2:]); err == nil && at != 1 {
				err = fmt.Errorf("a picture of %d rectangles", at)
			}
			return err
		default:
			return fmt.Errorf("a message of type %d", b[0])
		}
	}
}

// motion is a session of a desktop that always moves.
type motion struct {
	mu         sync.Mutex // guards the following, and writes
	asked      bool
	continuous bool
	announced  bool
}

// move answers a viewer with a picture at each tick of the desktop at which it has asked for one, or has
// continuous updates.
func (d *desktop) move(c net.Conn, r *bufio.Reader) error {
	m, stop := &motion{}, make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { m.play(c, stop) })
	defer wg.Wait()
	defer close(stop)
	for {
		if err := m.hear(c, r); err != nil {
			return err
		}
	}
}

func (m *motion) play(c net.Conn, stop chan struct{}) {
	picture := appendRectangle([]byte{msgFrameBuffer, 0, 0, 1}, 0, 0, pictureSide, pictureSide)
	picture = append(picture, make([]byte, pictureSide*pictureSide*bytesPerPixel)...)
	tick := time.NewTicker(time.Second / picturesPerSecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		m.mu.Lock()
		if m.asked || m.continuous {
			m.asked = false
			_, _ = c.Write(picture) // the reader finds the connection broken
		}
		m.mu.Unlock()
	}
}

// hear reads one message of the viewer.
func (m *motion) hear(c net.Conn, r *bufio.Reader) error {
	head := make([]byte, 10)
	if _, err := io.ReadFull(r, head[:4]); err != nil {
		return err
	}
	switch head[0] {
	case msgSetEncodings:
		list := make([]byte, 4*min(binary.BigEndian.Uint16(head[2:]), maxEncodings))
		if _, err := io.ReadFull(r, list); err != nil {
			return err
		}
		return m.encodings(c, list)
	case msgUpdateRequest, msgContinuous:
	default:
		return wrongf("the desktop was sent a message of type %d", head[0])
	}
	if _, err := io.ReadFull(r, head[4:]); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if head[0] == msgContinuous {
		m.continuous = head[1] != 0
	} else {
		m.asked = true
	}
	return nil
}

// encodings announces continuous updates to a viewer that lists them for the first time.
func (m *motion) encodings(c net.Conn, list []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at := 0; at < len(list) && !m.announced; at += 4 {
		if int32(binary.BigEndian.Uint32(list[at:])) == encodingContinuous {
			m.announced = true
			_, err := c.Write([]byte{msgContinuous})
			return err
		}
	}
	return nil
}
