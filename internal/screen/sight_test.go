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
	s := sight{news: make(chan struct{}), size: size}
	var check uint64
	bare, drawn := framebuffer.Message{Kind: framebuffer.Update}, framebuffer.Message{Kind: framebuffer.Update, Drawn: 1}
	for _, step := range []struct {
		what        string
		incremental byte // of the request, which is the first of two for the one pixel
		then        framebuffer.Message
	}{
		{"the whole picture", 0, bare}, {"its pixels", 1, drawn}, {"one pixel", 1, bare}, {"that pixel again", 1, drawn},
	} {
		requests, _, done := s.freshen(&check, now)
		if done || len(requests) == 0 || requests[0][1] != step.incremental {
			t.Fatalf("%s: the requests are %x, done %v", step.what, requests, done)
		}
		if again, _, _ := s.freshen(&check, now); again != nil {
			t.Errorf("%s is asked for twice: %x", step.what, again)
		}
		s.updated(&step.then, size, now)
	}
	if request, _, done := s.freshen(&check, now); !done || request != nil {
		t.Errorf("a picture that has come is not done: %x", request)
	}
}
