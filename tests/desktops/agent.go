//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// seenTimeout is how long what has happened on a desktop may take until it is seen.
const seenTimeout = 10 * time.Second

// agent looks and acts at one server, and counts the checks.
type agent struct {
	*process.Result
	api  *caller
	desk *server
	keep string
}

// caller calls the gateway for one workstation.
type caller struct {
	*gateway
	workstation string
	etag        string // of the last picture
}

// parts are all checks, in this order.
var parts = []func(*agent, context.Context){
	(*agent).decodes,
	(*agent).looks,
	(*agent).types,
	keys,
	others,
	(*agent).fills,
	(*agent).pastes,
	(*agent).resizes,
	(*agent).letsGo,
	(*agent).waits,
}

func (c *caller) path(route string) string { return "/v1/workstations/" + c.workstation + "/" + route }

// screenshot gets a picture; nil if it has not changed since the last one.
func (c *caller) screenshot(ctx context.Context, query string) (*image.RGBA, error) {
	res, text, err := c.ask(ctx, http.MethodGet, c.path("screenshot")+query, c.agent, nil, http.Header{"If-None-Match": {c.etag}})
	if err != nil || res.StatusCode == http.StatusNotModified {
		return nil, err
	}
	c.etag = res.Header.Get("ETag")
	return decode(text)
}

func decode(text []byte) (*image.RGBA, error) {
	img, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	rgba := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(rgba, rgba.Rect, img, img.Bounds().Min, draw.Src)
	return rgba, nil
}

// sees waits until the picture is exactly what the server shows.
func (a *agent) sees(ctx context.Context) error {
	var got, want *image.RGBA
	err := process.Eventually(ctx, seenTimeout, func() (err error) {
		a.api.etag = ""
		if want, err = a.desk.picture(); err != nil {
			return err
		}
		if got, err = a.api.screenshot(ctx, ""); err != nil {
			return err
		}
		return desktop.Differ(got, want)
	})
	if err != nil && a.keep != "" && got != nil && want != nil {
		err = errors.Join(err, writePNG(filepath.Join(a.keep, a.desk.name+"-got.png"), got), writePNG(filepath.Join(a.keep, a.desk.name+"-want.png"), want))
	}
	return err
}

func writePNG(file string, img image.Image) error {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// rest returns the moment after a while without changes: a file has them a little later.
func (a *agent) rest(ctx context.Context) (moment, error) {
	const while = 500 * time.Millisecond
	select {
	case <-ctx.Done():
	case <-time.After(while):
	}
	picture, err := a.desk.picture()
	return moment{time.Now(), picture}, err
}

// answer is that of an input call.
type answer struct {
	Session     string `json:"session_id"`
	Done        int    `json:"done"`
	Control     string `json:"control"`
	Changed     bool   `json:"changed_hands"`
	Unconfirmed string `json:"unconfirmed"`
	Settled     bool   `json:"settled"`
	Screenshot  struct {
		Data    []byte `json:"data"`
		Changed bool   `json:"changed"`
	} `json:"screenshot"`
}

// act posts a call as it is.
func (c *caller) act(ctx context.Context, body string) (got answer, err error) {
	err = c.call(ctx, http.MethodPost, c.path("input"), c.agent, []byte(body), &got)
	return got, err
}

// acts posts several, one after the other.
func (c *caller) acts(ctx context.Context, bodies ...string) error {
	for _, body := range bodies {
		if _, err := c.act(ctx, body); err != nil {
			return fmt.Errorf("%s: %w", body, err)
		}
	}
	return nil
}

// action is one action of OpenAI's in a call.
func action(kind string, members map[string]any) string {
	one := map[string]any{"type": kind}
	for name, value := range members {
		one[name] = value
	}
	text, _ := json.Marshal(map[string]any{"actions": []any{one}})
	return string(text)
}

// typing is a call that types.
func typing(text string) string { return action("type", map[string]any{"text": text}) }

// click is a call that clicks in the middle of a part.
func click(part image.Rectangle) string {
	at := part.Min.Add(part.Max).Div(2)
	return action("click", map[string]any{"button": "left", "x": at.X, "y": at.Y})
}

// arrives waits until the form, or what was typed without one, is as it should be.
func arrives(ctx context.Context, check func() error) error {
	return process.Eventually(ctx, seenTimeout, check)
}

// ascii are all characters that can be typed on a keyboard for English.
func ascii() string {
	var text strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		text.WriteByte(c)
	}
	return text.String()
}
