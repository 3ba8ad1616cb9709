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
	// At is where the pointer was sent last, and Buttons are those that are down.
	At() image.Point
	Buttons() uint8
	// Last is the picture of the whole desktop that the caller was shown last, without its pixels; the zero
	// value if there was none.
	Last() screen.Shot
	// Ended is closed at the end of the session.
	Ended() <-chan struct{}

	// Turn waits until no other call acts; done ends this one's turn.
	Turn(ctx context.Context) (done func(), err error)
	Pointer(at image.Point, buttons uint8) error
	Key(keysym uint32, down bool) error
	Cut(text string) error
	LetGo() error
	Acted(actions, typed int)
	Look(ctx context.Context, want screen.Want) (screen.Shot, error)
}

// Result is what came of a request.
type Result struct {
	Done   int         // actions
	Cursor image.Point // in Space
	Space  image.Point // of the caller's coordinates from now on
	Shot   screen.Shot
}

// run is a request that is being run.
type run struct {
	ctx    context.Context
	screen Screen
	space  image.Point // of the caller's coordinates
	typed  int
}

// Run does the actions one after the other and takes a picture when the desktop has settled. It stops
// at the first failure: the error is an [*apierror.Error] whose details have "done", the number of
// actions before it. A place outside the space is refused before anything happens. Keys and buttons that
// an action holds come up with it, and all that are down after a failure or a panic; a button of
// left_mouse_down stays down, as long as the Screen lets it.
func (r *Request) Run(ctx context.Context, s Screen) (Result, error) {
	over, err := s.Turn(ctx)
	if err != nil {
		return Result{}, err
	}
	defer over()
	x := run{ctx: ctx, screen: s, space: r.space}
	if x.space == (image.Point{}) {
		x.space = s.Last().Space
	}
	if x.space == (image.Point{}) {
		x.space = s.Size()
	}
	for i := range r.actions {
		if err := r.actions[i].inside(x.space); err != nil {
			return Result{}, err
		}
	}
	done, err := x.all(&r.plan)
	if err != nil {
		return Result{}, failed(err, done)
	}
	return x.look(r, done)
}

// look takes the picture of the answer.
func (x *run) look(r *Request, done int) (Result, error) {
	want, last := r.want, x.screen.Last()
	if want.MaxWidth == 0 && want.MaxHeight == 0 { // as large as the caller's coordinates are
		want.MaxWidth, want.MaxHeight = x.space.X, x.space.Y
	}
	if want.Known == "" && !r.plan.asked {
		want.Known = last.ETag
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
	space := x.space
	if r.space == (image.Point{}) && want.Region.Empty() {
		space = shot.Space
	}
	return Result{Done: done, Cursor: scale(x.screen.At(), x.screen.Size(), space), Space: space, Shot: shot}, nil
}

// all does the steps. It returns how many actions they completed.
func (x *run) all(p *plan) (done int, err error) {
	complete := false
	defer func() {
		if !complete {
			_ = x.screen.LetGo() // the failure says more
		}
		x.screen.Acted(done, x.typed)
	}()
	for i := range p.steps {
		for done < len(p.ends) && p.ends[done] <= i {
			done++
		}
		if err := p.steps[i].do(x, &p.steps[i]); err != nil {
			return done, err
		}
	}
	complete = true
	return len(p.ends), nil
}

func (x *run) press(s *step) error   { return x.button(x.screen.Buttons()|s.button, s) }
func (x *run) release(s *step) error { return x.button(x.screen.Buttons()&^s.button, s) }

// button asks for the buttons each time, because one that was put down comes up by itself.
func (x *run) button(down uint8, s *step) error {
	if err := x.screen.Pointer(x.screen.At(), down); err != nil {
		return err
	}
	return x.wait(s)
}

func (x *run) move(s *step) error {
	from, to := x.screen.At(), x.place(s.to)
	for i := 1; i <= s.moves; i++ {
		if err := x.screen.Pointer(from.Add(to.Sub(from).Mul(i).Div(s.moves)), x.screen.Buttons()); err != nil {
			return err
		}
		if err := x.wait(s); err != nil {
			return err
		}
	}
	return nil
}

func (x *run) keyDown(s *step) error { return x.key(s, true) }
func (x *run) keyUp(s *step) error   { return x.key(s, false) }

func (x *run) key(s *step, down bool) error {
	if err := x.screen.Key(s.keysym, down); err != nil {
		return err
	}
	x.typed += s.typed
	return x.wait(s)
}

func (x *run) cut(s *step) error {
	if err := x.screen.Cut(s.text); err != nil {
		return err
	}
	x.typed += s.typed
	return x.wait(s)
}

// wait waits for the time after a step.
func (x *run) wait(s *step) error {
	timer := time.NewTimer(s.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-x.screen.Ended():
		return x.screen.Pointer(x.screen.At(), x.screen.Buttons()) // says why
	case <-x.ctx.Done():
		return apierror.New(apierror.ClientGone, "the client left").WithCause(x.ctx.Err())
	}
}

// place is where a place of the caller's is on the desktop.
func (x *run) place(p image.Point) image.Point { return scale(p, x.space, x.screen.Size()) }

// scale maps the middle of a pixel of one picture to the pixel of another that has it.
func scale(p, from, to image.Point) image.Point {
	if from == to {
		return p
	}
	side := func(v, from, to int) int { return min((2*v+1)*to/(2*from), to-1) }
	return image.Pt(side(p.X, from.X, to.X), side(p.Y, from.Y, to.Y))
}
