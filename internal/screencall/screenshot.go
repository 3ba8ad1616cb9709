// Package screencall serves the requests of agents for desktops.
package screencall

import (
	"fmt"
	"image"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
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

// Screenshot answers with what a desktop shows, as PNG: 304 if that has the ETag of If-None-Match. open
// connects to the desktop, for a request that may wait for a change.
func Screenshot(q *request.Request, parameters url.Values, open func(waits bool) (*screen.Screen, error)) error {
	want, err := wantOf(parameters)
	if err != nil {
		return err
	}
	want.Known = strings.Join(q.HTTP.Header.Values("If-None-Match"), ",")
	desk, err := open(want.Wait > 0)
	if err != nil {
		return err
	}
	defer desk.Release()
	shot, err := desk.Look(q.HTTP.Context(), want)
	if err != nil {
		return err
	}
	h := q.Writer.Header()
	h.Set("ETag", strconv.Quote(shot.ETag))
	h.Set("Cache-Control", "no-store") // a browser keeps no desktop on its disk
	h.Set(headerSize, sizeText(shot.Size))
	h.Set(headerSpace, sizeText(shot.Space))
	h.Set(headerSession, desk.Session().ID)
	if want.Quiet > 0 {
		h.Set(headerSettled, strconv.FormatBool(shot.Settled))
	}
	if !shot.Changed {
		q.Outcome.Succeed(http.StatusNotModified)
		q.Writer.WriteHeader(http.StatusNotModified)
		return nil
	}
	q.Outcome.Succeed(http.StatusOK)
	h.Set("Content-Type", "image/png")
	h.Set("Content-Length", strconv.Itoa(len(shot.PNG)))
	q.Writer.WriteHeader(http.StatusOK)
	_ = q.Write(shot.PNG) // the request's context shows that a client has left
	return nil
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
