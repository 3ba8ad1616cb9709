package screen

import (
	"context"
	"errors"
	"image"
	"time"
)

const (
	// MaxLook bounds a call of Look.
	MaxLook = time.Minute
	// SettleQuiet and SettleMax are what a desktop needs as a rule to draw what an action has done.
	SettleQuiet = 300 * time.Millisecond
	SettleMax   = 3 * time.Second
	// holderEvery is how soon a call that waits for a change sees that a person has taken the input.
	holderEvery = time.Second
)

// Want says what a picture has, and when it is taken. The zero value is the whole desktop as it is now.
type Want struct {
	Region              image.Rectangle // of the desktop; empty: all
	MaxWidth, MaxHeight int             // the picture is made smaller to fit; 0: no bound
	Known               string          // ETags that the caller has, in any form
	Wait                time.Duration   // at most, until the picture is not Known; without one, until it is another
	Quiet, Max          time.Duration   // then until nothing has changed for Quiet, at most Max; 0: not
}

// Shot is a picture.
type Shot struct {
	PNG     []byte          // nil unless Changed; the caller must not change it, or use it after its context
	ETag    string          // of the pixels and Space, hex digits; equal pictures have the same
	Size    image.Point     // of the desktop
	Space   image.Point     // of the picture
	Region  image.Rectangle // what it shows
	Changed bool            // it is not Known
	Settled bool            // nothing had changed for Quiet
}

// Look takes a picture. It waits for at most MaxLook. The PNG counts in the memory of pictures until ctx ends,
// which is when it has been written. Errors besides those of the session's end:
// invalid_value for a region that is not inside the desktop, control_held while a person holds the input,
// automation_busy where no memory is left.
func (x *Screen) Look(ctx context.Context, want Want) (Shot, error) {
	end := time.Now().Add(MaxLook)
	if err := x.Session().Input.MayLook(); err != nil { // before anything is asked for
		return Shot{}, err
	}
	if err := x.updates.fresh(ctx, x.conn); err != nil {
		return Shot{}, err
	}
	if want.Wait > 0 {
		if err := x.waitForChange(ctx, want, earlier(end, time.Now().Add(want.Wait))); err != nil {
			return Shot{}, err
		}
	}
	settled, err := x.updates.settle(ctx, x.conn, want.Quiet, earlier(end, time.Now().Add(want.Max)))
	if err != nil {
		return Shot{}, err
	}
	shot, err := x.take(ctx, &want, true)
	if shot.Settled = settled; shot.PNG != nil {
		x.conn.session.Screenshots.Add(1)
	}
	return shot, err
}

// take takes a shot of the picture as it is here.
func (x *Screen) take(ctx context.Context, want *Want, encoded bool) (Shot, error) {
	if x.Session().Why() != "" { // what came before is still there for a moment
		return Shot{}, x.conn.ended()
	}
	if err := x.Session().Input.MayLook(); err != nil {
		return Shot{}, err
	}
	version, _ := x.updates.state()
	shot, err := x.shots.take(ctx, want, version, encoded)
	if errors.Is(err, errClosed) {
		err = x.conn.ended()
	}
	return shot, err
}

// waitForChange returns when the picture is not the one that the caller knows, or at a time.
func (x *Screen) waitForChange(ctx context.Context, want Want, until time.Time) error {
	for {
		version, _ := x.updates.state()
		shot, err := x.take(ctx, &want, false)
		if err != nil || shot.Changed && want.Known != "" || !time.Now().Before(until) {
			return err
		}
		if want.Known == "" {
			want.Known = shot.ETag
		}
		if err := x.updates.follow(ctx, x.conn, version, earlier(until, time.Now().Add(holderEvery))); err != nil {
			return err
		}
	}
}
