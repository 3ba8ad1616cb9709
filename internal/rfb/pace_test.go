package rfb_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

const frame = time.Second / 30

// request is a FramebufferUpdateRequest.
func request(incremental bool, x, y, w, h uint16) string {
	b := []byte{3, 0}
	if incremental {
		b[1] = 1
	}
	for _, n := range []uint16{x, y, w, h} {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return string(b)
}

// A step of a paced session: what comes at a time and what goes on; a step without input is the
// timer's.
type paced struct {
	at       time.Duration
	in, want string
	due      time.Duration // -1: nothing is held
}

func TestIncrementalRequestsArePaced(t *testing.T) {
	left, right := request(true, 0, 0, 100, 50), request(true, 200, 10, 50, 100)
	both := request(true, 0, 0, 250, 110)
	const none = -1
	for name, steps := range map[string][]paced{
		"the first passes at once": {{0, left, left, none}},
		"one in each frame": {{0, left, left, none}, {1, left, "", frame}, {frame - 1, "", "", frame}, {frame, "", left, none},
			{frame + 1, left, "", 2 * frame}, {2 * frame, "", left, none}},
		"what is held is merged":        {{0, left, left, none}, {1, left, "", frame}, {2, right + left, "", frame}, {frame, "", both, none}},
		"after a pause at once":         {{0, left, left, none}, {5 * frame, right, right, none}, {5*frame + 1, right, "", 6 * frame}},
		"a late timer costs no frame":   {{0, left, left, none}, {1, left, "", frame}, {frame + 5, "", left, none}, {frame + 6, left, "", 2 * frame}},
		"a very late one is no credit":  {{0, left, left, none}, {1, left, "", frame}, {3 * frame, "", left, none}, {3*frame + 6, left, "", 4 * frame}},
		"messages overtake":             {{0, left, left, none}, {1, left + key + pointer, key + pointer, frame}},
		"the next bytes bring it along": {{0, left, left, none}, {1, left, "", frame}, {frame, key, left + key, none}},
		"a whole picture passes":        {{0, left, left, none}, {1, request(false, 0, 0, 9, 9), request(false, 0, 0, 9, 9), none}},
		"it answers what it covers": {{0, left, left, none}, {1, left + request(false, 0, 0, 100, 50), request(false, 0, 0, 100, 50), none},
			{frame, "", "", none}},
		"and nothing else": {{0, left, left, none}, {1, left + request(false, 0, 0, 99, 50), request(false, 0, 0, 99, 50), frame}, {frame, "", left, none}},
		"not within a text": {{0, left, left, none}, {1, left + cutText[:9], cutText[:9], none}, {frame, "", "", none},
			{frame + 1, cutText[9:] + key, cutText[9:] + left + key, none}},
		"before half a message": {{0, left, left, none}, {1, left + key[:5], "", frame}, {frame, "", left, none}, {frame + 1, key[5:], key, none}},
		"while a list is collected": {{0, left, left, none}, {1, left + list(1, 2)[:7], "", frame}, {frame, "", left, none},
			{frame + 1, list(1, 2)[7:], list(1, 2), none}},
		"the corners of the world": {{0, left, left, none}, {1, request(true, 0, 0, 1, 1) + request(true, 65535, 65535, 65535, 65535), "", frame},
			{frame, "", request(true, 0, 0, 65535, 65535), none}},
	} {
		t.Run(name, func(t *testing.T) {
			f := rfb.NewFilter(rfb.Policy{FPS: 30})
			for _, step := range steps {
				now := start.Add(step.at)
				var out []byte
				var err error
				if step.in != "" {
					out, err = f.Push(nil, []byte(step.in), now)
				} else {
					out = f.Release(f.Release(nil, now), now) // twice is once
				}
				if string(out) != step.want || err != nil {
					t.Fatalf("at %v: %q, %v, want %q", step.at, out, err, step.want)
				}
				want := start.Add(step.due)
				if step.due == none {
					want = time.Time{}
				}
				if due := f.Due(); !due.Equal(want) {
					t.Fatalf("at %v: due %v, want %v", step.at, due.Sub(start), step.due)
				}
			}
		})
	}
}

// A greedy viewer asks every millisecond for ten seconds, with a timer that is always late.
func TestTheRateIsMetAndNotPassed(t *testing.T) {
	for _, fps := range []int{1, 10, 30, 60} {
		f := rfb.NewFilter(rfb.Policy{FPS: fps})
		passed := 0
		var timer time.Time
		for ms := range 10_000 {
			now := start.Add(time.Duration(ms) * time.Millisecond)
			var out []byte
			if !timer.IsZero() && !now.Before(timer) {
				out = f.Release(out, now)
			}
			out, _ = f.Push(out, []byte(updateNew), now)
			passed += len(out) / len(updateNew)
			timer = f.Due().Add(2 * time.Millisecond)
		}
		if passed < 10*fps-1 || passed > 10*fps+1 {
			t.Errorf("%d frames a second: %d in ten seconds", fps, passed)
		}
	}
}

func TestWithoutPacingNothingIsHeld(t *testing.T) {
	f := rfb.NewFilter(rfb.Policy{ViewOnly: true})
	many := strings.Repeat(updateNew, 100)
	if out, err := f.Push(nil, []byte(many), start); string(out) != many || err != nil || !f.Due().IsZero() {
		t.Errorf("%d bytes, due %v, %v", len(out), f.Due(), err)
	}
}
