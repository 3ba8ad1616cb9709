package screen

import (
	"context"
	"errors"
	"image"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

const (
	// MaxLook bounds a call of Look.
	MaxLook = time.Minute
	// SettleQuiet and SettleMax are what a desktop needs as a rule to draw what an action has done.
	SettleQuiet = 300 * time.Millisecond
	SettleMax   = 3 * time.Second
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
	PNG     []byte          // nil unless Changed; the caller must not change it
	ETag    string          // of the pixels and Space, hex digits; equal pictures have the same
	Size    image.Point     // of the desktop
	Space   image.Point     // of the picture
	Region  image.Rectangle // what it shows
	Changed bool            // it is not Known
	Settled bool            // nothing had changed for Quiet
}

// Look takes a picture. It waits for at most MaxLook. Errors besides those of the session's end:
// invalid_value for a region that is not inside the desktop.
func (x *Screen) Look(ctx context.Context, want Want) (Shot, error) {
	end := time.Now().Add(MaxLook)
	if err := x.fresh(ctx); err != nil {
		return Shot{}, err
	}
	if want.Wait > 0 {
		if err := x.waitForChange(ctx, &want, earlier(end, time.Now().Add(want.Wait))); err != nil {
			return Shot{}, err
		}
	}
	settled, err := x.settle(ctx, want.Quiet, earlier(end, time.Now().Add(want.Max)))
	if err != nil {
		return Shot{}, err
	}
	shot, err := x.take(ctx, &want, true)
	if err != nil {
		return Shot{}, err
	}
	if shot.Settled = settled; shot.PNG != nil {
		x.session.Screenshots.Add(1)
	}
	return shot, nil
}

// take takes a shot of the picture as it is here.
func (x *Screen) take(ctx context.Context, want *Want, encoded bool) (Shot, error) {
	version, _ := x.sight.state()
	shot, err := x.shots.take(ctx, want, version, encoded)
	if errors.Is(err, errClosed) {
		err = x.ended()
	}
	return shot, err
}

// fresh returns when the picture is what the desktop shows. A workstation that does not send it in time
// ends the session.
func (x *Screen) fresh(ctx context.Context) error {
	limit := time.NewTimer(answerLimit)
	defer limit.Stop()
	var check uint64
	for {
		request, news, done := x.sight.freshen(&check, time.Now())
		if done {
			return nil
		}
		if request != nil {
			if err := x.send(request); err != nil {
				return err
			}
			continue
		}
		select {
		case <-news:
		case <-limit.C:
			x.session.Live.End(desktop.ReasonWorkstation)
			return x.ended()
		case <-x.session.Live.Ended():
			return x.ended()
		case <-ctx.Done():
			return gone(ctx)
		}
	}
}

// follow returns with the next update, or at a time. It asks for changes meanwhile.
func (x *Screen) follow(ctx context.Context, until time.Time) error {
	for {
		now := time.Now()
		request, news, next := x.sight.follow(now)
		if request != nil {
			if err := x.send(request); err != nil {
				return err
			}
		}
		wake := until
		if !next.IsZero() {
			wake = earlier(wake, next)
		}
		timer := time.NewTimer(wake.Sub(now))
		select {
		case <-news:
			timer.Stop()
			return nil
		case <-timer.C:
			if wake == until {
				return nil
			}
		case <-x.session.Live.Ended():
			timer.Stop()
			return x.ended()
		case <-ctx.Done():
			timer.Stop()
			return gone(ctx)
		}
	}
}

// waitForChange returns when the picture is not the one that the caller knows, or at a time.
func (x *Screen) waitForChange(ctx context.Context, want *Want, until time.Time) error {
	known := *want
	for {
		shot, err := x.take(ctx, &known, false)
		if err != nil || shot.Changed && known.Known != "" {
			return err
		}
		if known.Known == "" {
			known.Known = shot.ETag
		}
		if !time.Now().Before(until) {
			return nil
		}
		if err := x.follow(ctx, until); err != nil {
			return err
		}
	}
}

// settle reports whether nothing has changed for quiet before a time.
func (x *Screen) settle(ctx context.Context, quiet time.Duration, until time.Time) (bool, error) {
	if quiet <= 0 {
		return false, nil
	}
	began := time.Now()
	for {
		_, changed := x.sight.state()
		now, calm := time.Now(), later(changed, began).Add(quiet)
		switch {
		case !now.Before(calm):
			return true, nil
		case !now.Before(until):
			return false, nil
		}
		if err := x.follow(ctx, earlier(calm, until)); err != nil {
			return false, err
		}
	}
}
