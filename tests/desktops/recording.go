//go:build linux

package main

import (
	"context"
	"fmt"
	"image"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// recorded is the end of the name of a workstation that is the same desktop, and is recorded.
const recorded = "-recorded"

// moment is what a desktop showed at a time.
type moment struct {
	at      time.Time
	picture *image.RGBA
}

// recording lets an agent act at a desktop that is recorded, and compares the recording with what was there
// at three times.
func (o options) recording(ctx context.Context, g *gateway, s *server) *process.Result {
	began := time.Now()
	r := process.NewResult("desktop recording")
	defer func() { r.Took = time.Since(began) }()
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	a := &agent{r, &caller{gateway: g, workstation: s.name + recorded}, s, o.keep}
	if !r.Must("the form is empty", s.form.Clear()) {
		return r
	}
	var moments []moment
	for _, call := range []string{click(desktop.FormAgreed), click(desktop.FormName), typing("recorded")} {
		err := a.api.acts(ctx, call)
		if err == nil {
			err = a.sees(ctx)
		}
		m, at := a.rest(ctx)
		if err == nil {
			err = at
		}
		if !r.Must("the agent acts and sees it", err) {
			return r
		}
		moments = append(moments, m)
	}
	var list struct {
		Data []struct {
			ID    string    `json:"id"`
			Begun time.Time `json:"begun"`
			State string    `json:"state"`
			Role  string    `json:"role"`
		} `json:"data"`
	}
	err := a.api.end(ctx)
	if err == nil {
		err = arrives(ctx, func() error {
			err := g.call(ctx, http.MethodGet, "/v1/recordings?workstation="+a.api.workstation, g.person, nil, &list)
			if err == nil && (len(list.Data) != 1 || list.Data[0].State != "complete" || list.Data[0].Role != "agent") {
				err = fmt.Errorf("the recordings are %+v", list.Data)
			}
			return err
		})
	}
	if !r.Check("the session of the agent is among the recordings", err) {
		return r
	}
	_, file, err := g.ask(ctx, http.MethodGet, "/v1/recordings/"+list.Data[0].ID+"/fbs", g.person, nil, nil)
	for i, m := range moments {
		failed := err
		if failed == nil {
			var picture *image.RGBA
			if picture, failed = desktop.PictureAt(file, m.at.Sub(list.Data[0].Begun)); failed == nil {
				failed = desktop.Differ(picture, m.picture)
			}
		}
		r.Check(fmt.Sprintf("moment %d of the recording is what the desktop showed, pixel by pixel", i+1), failed)
	}
	return r
}
