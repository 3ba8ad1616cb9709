package computer

import (
	"context"
	"image"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// Screen is the desktop of an agent: [*screen.Screen]. After the end of its session each method that can
// returns an [*apierror.Error] that says why; those that send input also while a person holds it.
type Screen interface {
	// Size is that of the desktop.
	Size() image.Point
	// At is where the pointer was sent last, and which buttons are down.
	At() (place image.Point, buttons uint8)

	// Turn waits until no other call acts. Check returns the error that an event would have now; done ends the
	// turn, and counts what was done.
	Turn(ctx context.Context) (check func() error, done func(actions, typed int), err error)

	Pointer(at image.Point, buttons uint8) error
	Key(keysym uint32, down bool) error
	Cut(text string) error
	LetGo() error
	Look(ctx context.Context, want screen.Want) (screen.Shot, error)
}

// Result is what came of a request.
type Result struct {
	Done   int         // actions
	Cursor image.Point // in Space
	Space  image.Point // what coordinates in the Shot refer to; of a part those in the request
	Shot   screen.Shot

	// Unconfirmed are the characters other than ASCII that keys have typed: no server says whether its
	// keyboard has them.
	Unconfirmed string
}

// run is a request that is being run.
type run struct {
	ctx    context.Context
	screen Screen
	check  func() error
	space  image.Point // of the caller's coordinates
	typed  int
}

// Run does the actions one after the other and takes a picture when the desktop has settled. It stops
// at the first failure: the error is an [*apierror.Error] whose details have "done", the number of
// actions before it. A place outside the space is refused before anything happens. Keys and buttons that
// an action holds come up with it, and all that are down after a failure or a panic; a button of
// left_mouse_down stays down, as long as the Screen lets it.
func (r *Request) Run(ctx context.Context, s Screen) (Result, error) {
	check, end, err := s.Turn(ctx)
	if err != nil {
		return Result{}, err
	}
	x, done := run{ctx: ctx, screen: s, check: check, space: r.space}, 0
	defer func() { end(done, x.typed) }()
	if x.space == (image.Point{}) {
		x.space = s.Size()
	}
	for i := range r.actions {
		if err := r.actions[i].inside(x.space); err != nil {
			return Result{}, err
		}
	}
	if err := x.all(&r.plan, &done); err != nil {
		return Result{}, failed(err, done)
	}
	return x.look(r, done)
}

// look takes the picture of the answer.
func (x *run) look(r *Request, done int) (Result, error) {
	want := r.want
	if want.MaxWidth == 0 && want.MaxHeight == 0 { // as large as the caller's coordinates are
		want.MaxWidth, want.MaxHeight = x.space.X, x.space.Y
	}
	if !want.Region.Empty() {
		want.Region.Min = x.place(want.Region.Min)
		want.Region.Max = x.place(want.Region.Max.Sub(image.Pt(1, 1))).Add(image.Pt(1, 1))
		want.MaxWidth, want.MaxHeight = r.want.MaxWidth, r.want.MaxHeight // in full size
	}
	shot, err := x.screen.Look(x.ctx, want)
	if err != nil {
		return Result{}, failed(err, done)
	}
	at, _ := x.screen.At()
	space := shot.Space
	if !want.Region.Empty() {
		space = x.space
	}
	return Result{Done: done, Cursor: scale(at, x.screen.Size(), space), Space: space, Shot: shot, Unconfirmed: string(r.plan.other)}, nil
}

// all does the steps, and counts the actions that they complete.
func (x *run) all(p *plan, done *int) error {
	complete := false
	defer func() {
		if !complete {
			_ = x.screen.LetGo() // the failure says more
		}
	}()
	for i := range p.steps {
		for p.ends[*done] <= i {
			*done++
		}
		if err := x.do(&p.steps[i]); err != nil {
			return err
		}
	}
	*done, complete = len(p.ends), true
	return nil
}

// do does a step, and waits for the time after it. It asks for the buttons each time, because one that was
// put down comes up by itself.
func (x *run) do(s *step) (err error) {
	at, buttons := x.screen.At()
	switch s.do {
	case move:
		return x.move(s, at)
	case press:
		err = x.screen.Pointer(at, buttons|s.button)
	case release:
		err = x.screen.Pointer(at, buttons&^s.button)
	case keyDown, keyUp:
		err = x.screen.Key(s.keysym, s.do == keyDown)
	case cut:
		err = x.screen.Cut(s.text)
	}
	if err != nil {
		return err
	}
	x.typed += s.typed
	return x.wait(s)
}

// move moves the pointer there in as many moves as the step has.
func (x *run) move(s *step, from image.Point) error {
	to := x.place(s.to)
	for i := 1; i <= s.moves; i++ {
		_, buttons := x.screen.At()
		if err := x.screen.Pointer(from.Add(to.Sub(from).Mul(i).Div(s.moves)), buttons); err != nil {
			return err
		}
		if err := x.wait(s); err != nil {
			return err
		}
	}
	return nil
}

// askEvery is how soon a long wait sees that a person has the input, or that the session has ended.
const askEvery = 250 * time.Millisecond

// wait waits for the time after a step.
func (x *run) wait(s *step) error {
	for left := s.pause; left > 0; left -= askEvery {
		timer := time.NewTimer(min(left, askEvery))
		select {
		case <-timer.C:
		case <-x.ctx.Done():
			timer.Stop()
			return apierror.New(apierror.ClientGone, "the client left").WithCause(x.ctx.Err())
		}
		if s.pause > askEvery {
			if err := x.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// place is where a place of the caller's is on the desktop.
func (x *run) place(p image.Point) image.Point { return scale(p, x.space, x.screen.Size()) }

// scale maps the middle of a pixel of one picture to the pixel of another that has it.
func scale(p, from, to image.Point) image.Point {
	if from == to {
		return p
	}
	side := func(v, from, to int) int { return (2*v + 1) * to / (2 * from) }
	return image.Pt(side(p.X, from.X, to.X), side(p.Y, from.Y, to.Y))
}
