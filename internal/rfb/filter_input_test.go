package rfb_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// input notes what a filter asks.
type input struct {
	alone, held bool // no agent is there; an agent holds the input
	asked       []string
	press       func()
}

func (i *input) Watched() bool { return !i.alone }

func (i *input) Press() {
	i.asked, i.held = append(i.asked, "press"), false
	if i.press != nil {
		i.press()
	}
}

func (i *input) Moves() bool {
	i.asked = append(i.asked, "moves")
	return !i.held
}

// point is a PointerEvent.
func point(buttons byte, x byte) string { return string([]byte{5, buttons, 0, x, 0, 0}) }

func TestWhatGoesDownTakesTheInputAndMovementWaits(t *testing.T) {
	const keyUp, qemuUp = "\x04\x00..\x00\x00\x00a", "\xff\x00\x00\x00\x00\x00\x00a\x00\x00\x00\x1e"
	for _, c := range []struct {
		name     string
		messages []string
		asked    []string
		dropped  []int
	}{
		{"a key", []string{key, keyUp}, []string{"press"}, nil},
		{"QEMU's key", []string{qemuKey, qemuUp}, []string{"press"}, nil},
		{"gii", []string{giiInput}, []string{"press"}, nil},
		{"no input", []string{updateAll, cutText, fence, giiBig, qemuAudioOn}, nil, nil},
		{"movement", []string{point(0, 1), point(0, 2)}, []string{"moves", "moves"}, []int{0, 1}},
		{"what goes up", []string{key, qemuKey, keyUp, qemuUp}, []string{"press", "press"}, nil},
		{"what is up", []string{keyUp, qemuUp}, []string{"moves", "moves"}, []int{0, 1}},
		{"a click after movement", []string{point(0, 1), point(1, 1), point(1, 2), point(0, 2), point(0, 3)},
			[]string{"moves", "press", "moves", "moves"}, []int{0}},
		{"a second button", []string{point(1, 1), point(5, 1), point(4, 1)}, []string{"press", "press"}, nil},
	} {
		for _, alone := range []bool{false, true} {
			i := &input{held: true, alone: alone}
			if alone {
				c.asked, c.dropped = nil, nil
			}
			want := ""
			for n, m := range c.messages {
				if !slices.Contains(c.dropped, n) {
					want += m
				}
			}
			got, err := push(rfb.Policy{Input: i}, c.messages...)
			if got != want || err != nil || !slices.Equal(i.asked, c.asked) {
				t.Errorf("%s, alone %v: passed %q, want %q; asked %v, want %v; %v", c.name, alone, got, want, i.asked, c.asked, err)
			}
		}
	}
}

// A button that the workstation knows of must come up, whoever holds the input by then.
func TestAButtonThatIsDownComesUpAfterTheInputWasGivenBack(t *testing.T) {
	i := new(input)
	f := rfb.NewFilter(rfb.Policy{Input: i})
	for n, c := range []struct {
		message string
		passes  bool
	}{
		{point(1, 1), true}, {point(1, 2), false}, {point(0, 3), true}, {point(0, 4), false},
	} {
		out, err := f.Push(nil, []byte(c.message), start)
		if (string(out) == c.message) != c.passes || err != nil {
			t.Errorf("%d: %q, %v", n, out, err)
		}
		i.held = true // it was given back
	}
}

func TestASessionThatOnlyWatchesNeverTakes(t *testing.T) {
	i := &input{held: true}
	if got, err := push(rfb.Policy{Input: i, ViewOnly: true}, key, point(1, 1), qemuKey, giiInput); got != "" || err != nil || len(i.asked) > 0 {
		t.Errorf("%q, %v, asked %v", got, err, i.asked)
	}
}

func TestThePressComesBeforeItsMessagePasses(t *testing.T) {
	i := &input{}
	f := rfb.NewFilter(rfb.Policy{Input: i})
	var out []byte
	i.press = func() {
		if len(out) > 0 {
			t.Error("it has passed")
		}
	}
	for _, b := range []byte(key) { // cut anywhere
		out, _ = f.Push(out, []byte{b}, start)
	}
	if string(out) != key || fmt.Sprint(i.asked) != "[press]" {
		t.Errorf("%q, asked %v", out, i.asked)
	}
}

func TestWhatAViewerHoldsComesUpWhenItMust(t *testing.T) {
	const up, qemuUp = "\x04\x00..\x00\x00\x00a", "\xff\x00\x00\x00\x00\x00\x00a\x00\x00\x00\x1e"
	half := len(cutText) - 1
	for _, c := range []struct{ name, sent, after, want string }{
		{"nothing", updateAll, "", ""},
		{"a key", key, "", up},
		{"a key that repeats", key + key, "", up},
		{"QEMU's key", qemuKey, "", qemuUp},
		{"a button", point(1, 7) + point(1, 9), "", point(0, 9)},
		{"all of it", key + qemuKey + point(5, 7), "", up + qemuUp + point(0, 7)},
		{"what is up", key + up + qemuKey + qemuUp + point(1, 7) + point(0, 8), "", ""},
		{"what is cut", key + cutText[:half], cutText[half:], cutText[half:] + up},
		{"a message that has begun", key + updateAll[:3], updateAll[3:], up + updateAll},
	} {
		f := rfb.NewFilter(rfb.Policy{})
		out, _ := f.Push(nil, []byte(c.sent), start)
		if len(out) > len(c.sent) {
			t.Fatalf("%s: %q", c.name, out)
		}
		out = f.LetGo(nil)
		if c.after == "" {
			out = f.LetGo(out) // it is up
		}
		out, err := f.Push(out, []byte(c.after), start)
		if string(out) != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", c.name, out, err, c.want)
		}
	}
	f := rfb.NewFilter(rfb.Policy{ViewOnly: true})
	out, _ := f.Push(nil, []byte(key+point(1, 1)), start)
	if out = f.LetGo(out); len(out) > 0 {
		t.Errorf("of a session that only watches: %q", out)
	}
}

// A viewer that lets nothing go cannot hold more than a keyboard has.
func TestTheKeysThatAViewerHoldsAreBounded(t *testing.T) {
	press := func(down, n byte) string { return string([]byte{4, down, 0, 0, 0, 0, 1, n}) }
	f := rfb.NewFilter(rfb.Policy{})
	var sent, want string
	for n := range byte(40) {
		sent += press(1, n)
		if n >= 32 {
			want += press(0, n-32)
		}
		want += press(1, n)
	}
	for n := byte(8); n < 40; n++ {
		want += press(0, n)
	}
	out, err := f.Push(nil, []byte(sent), start)
	if out = f.LetGo(out); string(out) != want || err != nil {
		t.Errorf("%x, %v", out, err)
	}
}
