package screen

import (
	"image"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
)

// TigerVNC's server sends the layout of its screens in an update of its own for each request that is not
// incremental, and no pixels before the next request.
func TestPixelsThatAnUpdateDoesNotHaveAreAskedForAgain(t *testing.T) {
	size, now := image.Pt(1280, 720), time.Now()
	u := updates{news: make(chan struct{}), size: size, pending: make(map[int]image.Point)}
	var check int
	bare, drawn := framebuffer.Message{Kind: framebuffer.Update}, framebuffer.Message{Kind: framebuffer.Update, Drawn: image.Rectangle{Max: size}}
	for _, step := range []struct {
		what        string
		incremental byte // of the request, which is the first of two for the one pixel
		then        framebuffer.Message
	}{
		{"the whole picture", 0, bare}, {"its pixels", 1, drawn}, {"one pixel", 1, bare}, {"that pixel again", 1, drawn},
	} {
		requests, _, done := u.freshen(&check, now)
		if done || len(requests) == 0 || requests[0][1] != step.incremental {
			t.Fatalf("%s: the requests are %x, done %v", step.what, requests, done)
		}
		if again, _, _ := u.freshen(&check, now); again != nil {
			t.Errorf("%s is asked for twice: %x", step.what, again)
		}
		u.updated(&step.then, size, now)
	}
	if request, _, done := u.freshen(&check, now); !done || request != nil {
		t.Errorf("a picture that has come is not done: %x", request)
	}
}

// A late answer to one call is none to the next.
func TestAnAnswerIsKnownByItsPixel(t *testing.T) {
	size, now := image.Pt(130, 130), time.Now()
	u := updates{news: make(chan struct{}), size: size, pending: make(map[int]image.Point), whole: true, wanted: true}
	update := func(r image.Rectangle) {
		u.updated(&framebuffer.Message{Kind: framebuffer.Update, Drawn: r}, size, now)
	}
	pixel := func(check int) image.Rectangle {
		at := u.place(check)
		return image.Rectangle{at, at.Add(image.Pt(1, 1))}
	}
	var first, second int
	u.freshen(&first, now)
	u.freshen(&second, now)
	done := func(check int) bool { _, _, done := u.freshen(&check, now); return done }
	if update(pixel(first)); !done(first) || done(second) {
		t.Errorf("after the first answer: %v %v", done(first), done(second))
	}
	if update(image.Rectangle{Max: size}); !done(second) {
		t.Error("all was drawn")
	}
	for range 1000 { // each is inside, and of those that follow each other none is near
		before := u.place(u.checks)
		u.checks++
		if at := u.place(u.checks); !at.In(image.Rectangle{Max: size}) || at.In(image.Rectangle{before, before.Add(image.Pt(16, 16))}) {
			t.Fatalf("%v after %v", at, before)
		}
	}
}
