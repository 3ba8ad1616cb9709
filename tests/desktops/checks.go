//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

// looks checks pictures: exact, unchanged, of a part, made smaller, and after a change.
func (a *agent) looks(ctx context.Context) {
	if !a.Check("the picture is that of the desktop, pixel by pixel", a.sees(ctx)) {
		return
	}
	img, err := a.api.screenshot(ctx, "")
	if err == nil && img != nil {
		err = errors.New("it was sent again")
	}
	a.Check("a picture that has not changed is not sent again", err)
	a.Check("a part of it is that part", a.part(ctx, image.Rect(1100, 500, 1280, 720)))
	a.Check("a smaller picture has the size that was asked for", a.smaller(ctx))
	if a.desk.form == nil {
		return
	}
	err = a.desk.form.Paint(desktop.Area{Where: image.Rect(1000, 100, 1203, 157), Colour: color.RGBA{1, 254, 127, 255}})
	a.Check("a change is seen, pixel by pixel", errors.Join(err, a.sees(ctx)))
}

func (a *agent) part(ctx context.Context, r image.Rectangle) error {
	whole, err := a.desk.picture()
	if err != nil {
		return err
	}
	want := image.NewRGBA(image.Rectangle{Max: r.Size()})
	draw.Draw(want, want.Rect, whole, r.Min, draw.Src)
	a.api.etag = ""
	got, err := a.api.screenshot(ctx, fmt.Sprintf("?region=%d,%d,%d,%d", r.Min.X, r.Min.Y, r.Dx(), r.Dy()))
	if err != nil {
		return err
	}
	return desktop.Differ(got, want)
}

func (a *agent) smaller(ctx context.Context) error {
	res, text, err := a.api.ask(ctx, http.MethodGet, a.api.path("screenshot")+"?max_width=640&max_height=640", a.api.agent, nil, nil)
	if err != nil {
		return err
	}
	got, err := decode(text)
	if err != nil {
		return err
	}
	size, space := res.Header.Get("Gatehouse-Size"), res.Header.Get("Gatehouse-Space")
	if got.Rect.Size() != image.Pt(640, 360) || size != "1280x720" || space != "640x360" {
		return fmt.Errorf("it is %v of %q, and is said to be %q", got.Rect.Size(), size, space)
	}
	return nil
}

// types checks that each character of ASCII arrives, in order and once.
func (a *agent) types(ctx context.Context) {
	text := ascii()
	if a.desk.form == nil {
		before := a.desk.typed()
		err := a.api.acts(ctx, typing(text))
		if err == nil {
			err = arrives(ctx, func() error { return same(strings.TrimPrefix(a.desk.typed(), before), text) })
		}
		a.Check("all 95 characters of ASCII arrive as they were typed", err)
		a.Check("what it shows afterwards is seen, pixel by pixel", a.sees(ctx))
		return
	}
	err := a.api.acts(ctx, click(desktop.FormName), typing(text))
	if err == nil {
		err = arrives(ctx, func() error { return same(a.desk.form.Contents().Name, text) })
	}
	a.Check("all 95 characters of ASCII arrive as they were typed", err)
	a.Check("what it shows afterwards is seen, pixel by pixel", a.sees(ctx))
	a.Check("no key is held afterwards", a.free(ctx))
}

func same(got, want string) error {
	if got != want {
		return fmt.Errorf("%q arrived, not %q", got, want)
	}
	return nil
}

// free checks that no key or button is down.
func (a *agent) free(ctx context.Context) error {
	return arrives(ctx, func() error {
		held, err := a.desk.form.Held()
		if err == nil && held != "" {
			err = fmt.Errorf("%s are down", held)
		}
		return err
	})
}

// pastes checks the text that the server's clipboard takes.
func (a *agent) pastes(ctx context.Context) {
	text := map[string]string{"all": "Grüße, 中文 😀", "ascii": "pasted & not typed"}[a.desk.paste]
	if text == "" {
		return
	}
	paste := action("type", map[string]any{"text": text, "via": "paste"})
	if a.desk.form == nil {
		err := a.api.acts(ctx, paste)
		if err == nil {
			err = arrives(ctx, func() error { return a.desk.says("utf8 " + text) })
		}
		a.Check("text arrives by paste", err)
		return
	}
	err := a.desk.form.Clear()
	if err == nil {
		err = a.api.acts(ctx, click(desktop.FormNote), paste)
	}
	a.Check("text arrives by paste", a.has(ctx, err, desktop.Contents{Note: text, Chosen: desktop.NoRow}))
	a.Check("no key is held after a paste", a.free(ctx))
}

// resizes checks the picture of a desktop that has got another size, and again when it has its own.
func (a *agent) resizes(ctx context.Context) {
	if a.desk.resized == "" {
		return
	}
	own := a.desk.picture
	defer func() { a.desk.picture = own }()
	a.desk.picture = func() (*image.RGBA, error) {
		x, err := desktop.OpenScreen(a.desk.resized)
		if err != nil {
			return nil, err
		}
		defer x.Close()
		return x.Picture()
	}
	x, err := desktop.OpenScreen(a.desk.resized)
	if !a.Must("the size can be changed", err) {
		return
	}
	defer x.Close()
	for _, size := range []image.Point{{1024, 768}, {desktop.Width, desktop.Height}} {
		err := x.Resize(size)
		if err == nil {
			err = a.sees(ctx)
		}
		a.Check(fmt.Sprintf("a desktop of %v is seen, pixel by pixel", size), err)
	}
}

// letsGo checks that what an agent has pressed comes up when its call ends before it, and at the end of
// its session.
func (a *agent) letsGo(ctx context.Context) {
	if a.desk.form == nil || !a.Must("the form is empty", a.desk.form.Clear()) {
		return
	}
	_, err := a.api.act(ctx, click(image.Rect(5000, 5000, 5001, 5001)))
	var no *refused
	if !errors.As(err, &no) || no.status != http.StatusBadRequest {
		err = fmt.Errorf("it gets %w", err)
	} else {
		err = nil
	}
	a.Check("a click beside the desktop is refused", err)

	leaving, leave := context.WithCancel(ctx)
	_, err = a.holds(leaving, func() error { leave(); return nil })
	a.Check("keys come up when the caller leaves while they are held", err)
	_, err = a.holds(ctx, func() error { return a.api.end(ctx) })
	a.Check("keys come up when the session ends while they are held", err)
	leave()
	a.Check("a release during a call ends it at once", a.released(ctx))
	err = a.api.acts(ctx, `{"action":"mouse_move","coordinate":[600,650]}`, `{"action":"left_mouse_down"}`)
	if err == nil {
		err = a.api.end(ctx)
	}
	a.Check("a button that is down comes up at the end of the session", errors.Join(err, a.free(ctx)))
}

// released releases the workstation while keys are held, and takes the release back.
func (a *agent) released(ctx context.Context) error {
	const bound = 3 * time.Second // a second, and what a busy machine takes
	var began time.Time
	workstation := "/v1/workstations/" + a.api.workstation
	failure, err := a.holds(ctx, func() error {
		began = time.Now()
		return a.api.call(ctx, http.MethodDelete, workstation, a.api.person, nil, nil)
	})
	var no *refused
	if took := time.Since(began); err == nil && (!errors.As(failure, &no) || no.status/100 != 4 || took > bound) {
		err = fmt.Errorf("after %v: %w", took, failure)
	}
	return errors.Join(err, a.api.call(ctx, http.MethodPut, workstation, a.api.person, []byte("{}"), nil))
}

// holds makes a call that holds keys, does what ends it once they are down, and waits until they are up.
// It returns how the call has failed.
func (a *agent) holds(ctx context.Context, end func() error) (failure, err error) {
	done := make(chan error, 1)
	go func() {
		_, err := a.api.act(ctx, `{"action":"hold_key","text":"ctrl+shift","duration":20}`)
		done <- err
	}()
	down := arrives(context.WithoutCancel(ctx), func() error {
		held, err := a.desk.form.Held()
		if err == nil && strings.Count(held, "0xff") != 2 {
			err = fmt.Errorf("%q is down, not two keys", held)
		}
		return err
	})
	err = errors.Join(down, end(), a.free(context.WithoutCancel(ctx)))
	if failure = <-done; failure == nil && err == nil {
		err = errors.New("the call has not failed")
	}
	return failure, err
}

// end ends the agent's session.
func (c *caller) end(ctx context.Context) error {
	var list struct {
		Data []struct {
			ID   string `json:"session_id"`
			Role string `json:"role"`
		} `json:"data"`
	}
	if err := c.call(ctx, http.MethodGet, "/v1/sessions?workstation="+c.workstation, c.person, nil, &list); err != nil {
		return err
	}
	if len(list.Data) != 1 || list.Data[0].Role != "agent" {
		return fmt.Errorf("the sessions are %+v, not one of an agent", list.Data)
	}
	return c.call(ctx, http.MethodDelete, "/v1/sessions/"+list.Data[0].ID, c.person, nil, nil)
}

// waits checks that a screen that never rests is answered for, and that an agent can wait for a change.
func (a *agent) waits(ctx context.Context) {
	if a.desk.form == nil {
		return
	}
	moving, stop := context.WithCancel(ctx)
	still := make(chan error, 1)
	go func() { still <- a.animate(moving) }()
	const most, slack = 600 * time.Millisecond, 3 * time.Second
	began := time.Now()
	got, err := a.api.act(ctx, `{"actions":[{"type":"move","x":30,"y":30}],"screenshot":{"quiet_ms":300,"max_ms":600}}`)
	took := time.Since(began)
	if err == nil && (got.Settled || took < most || took > most+slack) {
		err = fmt.Errorf("settled is %v after %v", got.Settled, took)
	}
	a.Check("a screen that always moves is answered for in time", err)
	stop()
	a.Check("a screen that has stopped settles", errors.Join(<-still, a.settles(ctx)))
}

// animate paints something else again and again.
func (a *agent) animate(ctx context.Context) error {
	const frame = 50 * time.Millisecond
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for i := 0; ; i++ {
		if err := a.desk.form.Paint(desktop.Area{Where: image.Rect(1000, 200, 1060, 260), Colour: color.RGBA{uint8(40 * i), 9, 99, 255}}); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (a *agent) settles(ctx context.Context) error {
	got, err := a.api.act(ctx, `{"action":"screenshot"}`)
	if err == nil && !got.Settled {
		err = errors.New("it has not settled")
	}
	return err
}
