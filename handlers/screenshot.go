package handlers

import (
	"context"
	"fmt"
	"image"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// Headers of a picture of a desktop.
const (
	headerSize    = "Gatehouse-Size"    // of the desktop: 1920x1080
	headerSpace   = "Gatehouse-Space"   // of the picture
	headerSession = "Gatehouse-Session" // the agent's, as in lists
	headerSettled = "Gatehouse-Settled" // where quiet_ms was asked for
)

// serveScreenshot answers with what a desktop shows, as PNG: 304 if that has the ETag of If-None-Match.
func serveScreenshot(x *apiRequest) error {
	q, err := x.strictQuery("max_height", "max_ms", "max_width", "quiet_ms", "region", "wait")
	if err != nil {
		return err
	}
	want, err := wantOf(q)
	if err != nil {
		return err
	}
	want.Known = strings.Join(x.r.Header.Values("If-None-Match"), ",")
	desk, err := openScreen(x.r.Context(), x, x.name, false)
	if err != nil {
		return err
	}
	defer desk.Release()
	shot, err := desk.Look(x.r.Context(), want)
	if err != nil {
		return err
	}
	h := x.w.Header()
	h.Set("ETag", strconv.Quote(shot.ETag))
	h.Set("Cache-Control", "private, no-cache")
	h.Set(headerSize, sizeText(shot.Size))
	h.Set(headerSpace, sizeText(shot.Space))
	h.Set(headerSession, desk.Session().ID)
	if want.Quiet > 0 {
		h.Set(headerSettled, strconv.FormatBool(shot.Settled))
	}
	if !shot.Changed {
		x.req.Outcome.Succeed(http.StatusNotModified)
		x.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	x.req.Outcome.Succeed(http.StatusOK)
	h.Set("Content-Type", "image/png")
	h.Set("Content-Length", strconv.Itoa(len(shot.PNG)))
	x.w.WriteHeader(http.StatusOK)
	if err := x.req.Write(shot.PNG); err != nil {
		x.req.Outcome.Fail(apierror.New(apierror.ClientGone, "the client left").WithCause(err))
	}
	return nil
}

// openScreen returns the desktop of a workstation, for an agent that looks or acts. The caller releases
// it. The row of its session has the trace of the request.
func openScreen(ctx context.Context, x *apiRequest, workstation string, control bool) (*screen.Screen, error) {
	if _, err := x.desktops(); err != nil {
		return nil, err
	}
	x.req.SetWorkstation(workstation)
	by := issuerOf(x)
	by.Trace = by.Trace.InRun(x.req.Outcome.Record.TraceID)
	desk, err := x.gateway.VNC().Screen(ctx, screen.Who{
		Issuer: by, Workstation: workstation, Client: caddykit.ClientAddr(x.r), Public: !request.OnLoopback(x.r), Control: control,
	})
	if err == nil {
		x.req.Trace.SetSession(desk.Session().ID)
	}
	return desk, err
}

func sizeText(p image.Point) string { return fmt.Sprintf("%dx%d", p.X, p.Y) }

// wantOf reads which picture is wanted.
func wantOf(q url.Values) (want screen.Want, err error) {
	if want.Region, err = regionOf(q); err != nil {
		return want, err
	}
	var wait, quiet, most int
	for _, n := range []struct {
		name        string
		least, most int
		to          *int
	}{
		{"max_width", 1, maxSide, &want.MaxWidth},
		{"max_height", 1, maxSide, &want.MaxHeight},
		{"wait", 0, int(screen.MaxLook / time.Second), &wait},
		{"quiet_ms", 0, int(screen.MaxLook / time.Millisecond), &quiet},
		{"max_ms", 0, int(screen.MaxLook / time.Millisecond), &most},
	} {
		if !q.Has(n.name) {
			continue
		}
		if *n.to, err = strconv.Atoi(q.Get(n.name)); err != nil || *n.to < n.least || *n.to > n.most {
			return want, apierror.New(apierror.InvalidValue, "%s: want a number from %d to %d", n.name, n.least, n.most).WithParam(n.name)
		}
	}
	want.Wait, want.Quiet, want.Max = time.Duration(wait)*time.Second, time.Duration(quiet)*time.Millisecond, time.Duration(most)*time.Millisecond
	if !q.Has("max_ms") {
		want.Max = screen.SettleMax
	}
	return want, nil
}

// maxSide is the longest side of a picture that VNC can have, in pixels.
const maxSide = 1<<16 - 1

// regionOf reads region=X,Y,W,H.
func regionOf(q url.Values) (image.Rectangle, error) {
	if !q.Has("region") {
		return image.Rectangle{}, nil
	}
	var n [4]int
	texts := strings.Split(q.Get("region"), ",")
	ok := len(texts) == len(n)
	for i := 0; ok && i < len(n); i++ {
		var err error
		n[i], err = strconv.Atoi(texts[i])
		ok = err == nil && n[i] >= i/2 && n[i] <= maxSide
	}
	if !ok {
		return image.Rectangle{}, apierror.New(apierror.InvalidValue, "region: want X,Y,WIDTH,HEIGHT in pixels of the desktop").WithParam("region")
	}
	return image.Rect(n[0], n[1], n[0]+n[2], n[1]+n[3]), nil
}
