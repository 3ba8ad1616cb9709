package computer

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// session is a request with held keys and buttons of all kinds.
const session = `{"actions":[{"type":"click","button":"left","x":1,"y":1,"keys":["CTRL"]},{"type":"type","text":"aB"},` +
	`{"type":"drag","path":[{"x":1,"y":1},{"x":9,"y":9}],"keys":["ALT"]},{"action":"hold_key","text":"shift","duration":1},` +
	`{"action":"left_mouse_down"},{"action":"scroll","scroll_direction":"up","scroll_amount":2},{"action":"left_mouse_up"}]}`

func TestAFailureStopsTheActionsAndNothingStaysDown(t *testing.T) {
	var whole int
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		if _, err := f.do(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		whole = len(f.log)
	})
	for fail := 1; fail <= whole; fail++ {
		for _, broken := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.fail.event, f.fail.panic = fail, broken
				var err error
				func() {
					defer func() {
						if broken && recover() == nil && fail < whole {
							t.Errorf("event %d: no panic", fail)
						}
					}()
					_, err = f.do(t.Context(), session)
				}()
				if len(f.down) > 0 || f.buttons != 0 {
					t.Errorf("event %d: keys %v and buttons %b are down", fail, f.down, f.buttons)
				}
				if broken {
					return
				}
				e := asRefusal(err)
				want := fmt.Sprintf(`{"done":%d,"holder":"human"}`, f.acted[0])
				if e.Code != errHeld.Code || string(e.Details) != want {
					t.Errorf("event %d: %v with %s, want %s", fail, err, e.Details, want)
				}
				if len(f.log) != fail-1 {
					t.Errorf("event %d failed, and %d came", fail, len(f.log))
				}
				if string(errHeld.Details) != `{"holder":"human"}` {
					t.Fatal("the error of the desktop was changed")
				}
			})
		}
	}
}

func TestDoneCountsTheActionsBeforeTheFailure(t *testing.T) {
	for fail, done := range map[int]int{1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.fail.event = fail
			_, err := f.do(t.Context(), `{"actions":[{"type":"move","x":1,"y":1},{"type":"keypress","keys":["a"]},{"type":"keypress","keys":["b"]}]}`)
			if want := fmt.Sprintf(`"done":%d,`, done); !strings.Contains(string(asRefusal(err).Details), want) || f.acted[0] != done {
				t.Errorf("event %d: %s, %d are counted", fail, asRefusal(err).Details, f.acted[0])
			}
		})
	}
}

func TestACallerWhoLeavesStopsTheActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel)
		_, err := f.do(ctx, `{"action":"hold_key","text":"ctrl","duration":60}`)
		e := asRefusal(err)
		if e.Code != apierror.ClientGone || string(e.Details) != `{"done":0}` || len(f.down) > 0 {
			t.Errorf("%v with %s, keys %v are down", err, e.Details, f.down)
		}
		if took := time.Since(f.began); took != 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestTheEndOfTheSessionStopsTheActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		time.AfterFunc(10*time.Second+time.Millisecond, func() { close(f.gone) })
		_, err := f.do(t.Context(), `{"action":"wait","duration":60}`)
		e := asRefusal(err)
		if took := time.Since(f.began); took != 10*time.Second+askEvery || e.Code != errHeld.Code || !jsontest.Has(t, e.Details, `{"done":0}`) {
			t.Errorf("after %v: %v with %s", took, err, e.Details)
		}
	})
}

func TestAButtonThatIsPutDownStaysDownDuringMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		for _, body := range []string{`{"action":"left_mouse_down"}`, `{"action":"mouse_move","coordinate":[5,5]}`} {
			if _, err := f.do(t.Context(), body); err != nil {
				t.Fatal(err)
			}
		}
		if f.buttons != buttonLeft {
			t.Fatal("the button is up")
		}
		f.buttons = 0 // it has come up by itself: a move does not press it again
		if _, err := f.do(t.Context(), `{"action":"mouse_move","coordinate":[6,6]}`); err != nil || f.buttons != 0 {
			t.Errorf("buttons %b are down, %v", f.buttons, err)
		}
	})
}

func TestPlacesAreOfTheSpaceInTheRequest(t *testing.T) {
	const half = `,"space":{"width":1280,"height":720}}`
	for _, c := range []struct {
		size  image.Point
		body  string
		event string
		param string
	}{
		{image.Pt(1920, 1080), `{"action":"mouse_move","coordinate":[1919,1079]}`, "1919,1079 ", ""},
		{image.Pt(1920, 1080), `{"action":"mouse_move","coordinate":[1919,1079],"space":null}`, "1919,1079 ", ""},
		{image.Pt(1920, 1080), `{"action":"mouse_move","coordinate":[1920,1079]}`, "", "coordinate"},
		{image.Pt(1920, 1080), `{"action":"mouse_move","coordinate":[1279,719]` + half, "1919,1079 ", ""},
		{image.Pt(1920, 1080), `{"action":"mouse_move","coordinate":[1280,0]` + half, "", "coordinate"},
		{image.Pt(1920, 1080), `{"actions":[{"type":"move","x":640,"y":360}]` + half, "960,540 ", ""},
		{image.Pt(800, 600), `{"action":"mouse_move","coordinate":[1599,0],"space":{"width":1600,"height":1200}}`, "799,0 ", ""},
		{image.Pt(100, 100), `{"actions":[{"type":"move","x":0,"y":0},{"type":"move","x":-1,"y":0}]}`, "", "actions[1].x"},
		{image.Pt(100, 100), `{"actions":[{"type":"move","x":0,"y":100}]}`, "", "actions[0].y"},
		{image.Pt(100, 100), `{"actions":[{"type":"move","x":0,"y":99999999999}]}`, "", "actions[0].y"},
		{image.Pt(100, 100), `{"actions":[{"type":"drag","path":[{"x":0,"y":0},{"x":100,"y":0}]}]}`, "", "actions[0].path[1]"},
		{image.Pt(100, 100), `{"action":"left_click_drag","start_coordinate":[100,0],"coordinate":[1,1]}`, "", "start_coordinate"},
		{image.Pt(100, 100), `{"action":"zoom","region":[0,0,101,100]}`, "", "region"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.size = c.size
			_, err := f.do(t.Context(), c.body)
			e := asRefusal(err)
			if e.Param != c.param || f.events() != c.event {
				t.Errorf("%s gave %q, %v, want %q of %q", c.body, f.events(), err, c.event, c.param)
			}
			if c.param != "" && e.Code != apierror.InvalidValue {
				t.Errorf("%s: %v", c.body, err)
			}
		})
	}
}

func TestThePictureIsOfTheSpaceInTheRequest(t *testing.T) {
	want := func(w screen.Want) screen.Want { w.Quiet, w.Max = 300*time.Millisecond, 3*time.Second; return w }
	const half = `,"space":{"width":1280,"height":720}}`
	for _, c := range []struct {
		body string
		want screen.Want
	}{
		{`{"action":"left_click"}`, want(screen.Want{MaxWidth: 1920, MaxHeight: 1080})},
		{`{"action":"left_click"` + half, want(screen.Want{MaxWidth: 1280, MaxHeight: 720})},
		{`{"action":"left_click","screenshot":{"known":"mine","max_width":640}` + half, want(screen.Want{MaxWidth: 640, Known: "mine"})},
		{`{"action":"screenshot","screenshot":{"known":"mine"}` + half, want(screen.Want{MaxWidth: 1280, MaxHeight: 720, Known: "mine"})},
		{`{"action":"zoom","region":[640,0,1280,361]` + half, want(screen.Want{Region: image.Rect(960, 0, 1920, 541)})},
		{`{"action":"zoom","region":[640,0,1280,361]}`, want(screen.Want{Region: image.Rect(640, 0, 1280, 361)})},
		{`{"actions":[{"action":"zoom","region":[0,0,9,9]},{"type":"screenshot"}]` + half, want(screen.Want{MaxWidth: 1280, MaxHeight: 720})},
		{`{"action":"wait","duration":0,"screenshot":{"quiet_ms":0,"max_ms":50}` + half, screen.Want{MaxWidth: 1280, MaxHeight: 720, Max: 50 * time.Millisecond}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.size = image.Pt(1920, 1080)
			if _, err := f.do(t.Context(), c.body); err != nil || f.want != c.want {
				t.Errorf("%s wants %+v, want %+v, %v", c.body, f.want, c.want, err)
			}
		})
	}
}

// The next request repeats the space of an answer: it is that of the picture, and of a part of one that of the
// request.
func TestTheAnswerSaysInWhichSpaceItsCoordinatesAre(t *testing.T) {
	for _, c := range []struct {
		body          string
		space, cursor image.Point
	}{
		{`{"action":"mouse_move","coordinate":[640,360],"space":{"width":1280,"height":720}}`, image.Pt(1280, 720), image.Pt(640, 360)},
		{`{"action":"mouse_move","coordinate":[960,540]}`, image.Pt(1920, 1080), image.Pt(960, 540)},
		{`{"action":"mouse_move","coordinate":[960,540],"screenshot":{"max_width":640}}`, image.Pt(640, 360), image.Pt(320, 180)},
		{`{"action":"mouse_move","coordinate":[500,500],"space":{"width":1000,"height":1000}}`, image.Pt(1000, 562), image.Pt(500, 281)},
		{`{"action":"zoom","region":[0,0,64,36],"space":{"width":1280,"height":720}}`, image.Pt(1280, 720), image.Pt(0, 0)},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.size = image.Pt(1920, 1080)
			result, err := f.do(t.Context(), c.body)
			if err != nil || result.Cursor != c.cursor || result.Space != c.space {
				t.Errorf("%s: %+v, %v", c.body, result, err)
			}
		})
	}
}

// randomRequest has actions of the examples of both vendors, in any order.
func randomRequest(random *rand.Rand) string {
	var parts []string
	for range 1 + random.IntN(6) {
		body := vendorActions[random.IntN(len(vendorActions))].body
		var asked struct {
			Action  json.RawMessage
			Actions []json.RawMessage
		}
		if err := json.Unmarshal([]byte(body), &asked); err != nil {
			panic(err)
		}
		if asked.Action != nil && asked.Action[0] == '{' {
			asked.Actions = []json.RawMessage{asked.Action}
		} else if asked.Actions == nil {
			asked.Actions = []json.RawMessage{json.RawMessage(body)}
		}
		for _, one := range asked.Actions {
			parts = append(parts, string(one))
		}
	}
	return `{"actions":[` + strings.Join(parts, ",") + `]}`
}

func TestAfterAnyRunOnlyAnExplicitButtonIsDown(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		body := randomRequest(random)
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			fails := random.IntN(3) == 0
			if fails {
				f.fail.event = 1 + random.IntN(20)
			}
			_, err := f.do(t.Context(), body)
			up := -1
			for _, ending := range []string{"left_mouse_up", "left_click", "double_click", "triple_click", "drag", `"button":"left"`} {
				up = max(up, strings.LastIndex(body, ending))
			}
			explicit := strings.LastIndex(body, "left_mouse_down") > up
			allowed := uint8(0) // also where the picture failed, after all actions
			if explicit && f.acted[0] == len(jsontest.Values(t, body, "type"))+len(jsontest.Values(t, body, "action")) {
				allowed = buttonLeft
			}
			if len(f.down) > 0 || f.buttons != allowed {
				t.Errorf("%s: keys %v and buttons %b are down, %v", body, f.down, f.buttons, err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range vendorActions {
		f.Add([]byte(c.body))
	}
	f.Add([]byte(session))
	f.Add([]byte(`{"action":"type","text":"a","via":"paste","paste_key":"shift+Insert","space":{"width":1,"height":1},"screenshot":{"max_ms":1}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Parse(body)
		if err != nil {
			if asRefusal(err).HTTPStatus() != 400 {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		var took time.Duration
		for _, s := range r.plan.steps {
			took += s.pause * time.Duration(max(1, s.moves))
		}
		// Each step but a wait takes at least the time of a key.
		if took > maxTime || len(r.plan.steps) > int(maxTime/keyTime)+2*MaxActions || len(r.plan.ends) != len(r.actions) || len(r.actions) > MaxActions {
			t.Fatalf("%q: %d steps in %v", body, len(r.plan.steps), took)
		}
	})
}
