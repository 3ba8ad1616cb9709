package computer

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// vendorActions are actions as both vendors' documentation and SDKs have them, and what a desktop of
// 1280 x 720 gets, where the pointer is at 10,20. A move to 0.5 s away is shortened to its end.
var vendorActions = []struct {
	body   string
	events string
	took   time.Duration
}{
	// OpenAI: computer_call.actions.
	{`{"actions":[{"type":"screenshot"}]}`, "look", 0},
	{`{"actions":[{"type":"click","button":"left","x":405,"y":157},{"type":"type","text":"penguin"}]}`,
		"405,157 ; 405,157 left; 405,157 ; +p; -p; +e; -e; +n; -n; +g; -g; +u; -u; +i; -i; +n; -n", 180 * time.Millisecond},
	{`{"actions":[{"type":"click","button":"right","x":1,"y":2,"keys":null}]}`, "1,2 ; 1,2 right; 1,2 ", 110 * time.Millisecond},
	{`{"actions":[{"type":"click","button":"wheel","x":1,"y":2,"keys":["CTRL","SHIFT"]}]}`,
		"1,2 ; +Control_L; +Shift_L; 1,2 middle; 1,2 ; -Shift_L; -Control_L", 130 * time.Millisecond},
	{`{"actions":[{"type":"double_click","x":405,"y":157,"keys":null}]}`,
		"405,157 ; 405,157 left; 405,157 ; 405,157 left; 405,157 ", 210 * time.Millisecond},
	{`{"actions":[{"type":"keypress","keys":["CTRL","A"]}]}`, "+Control_L; +a; -a; -Control_L", 70 * time.Millisecond},
	{`{"actions":[{"type":"keypress","keys":["ENTER"]}]}`, "+Return; -Return", 60 * time.Millisecond},
	{`{"actions":[{"type":"keypress","keys":["ctrl+shift+t"]}]}`, "+Control_L; +Shift_L; +T; -T; -Shift_L; -Control_L", 80 * time.Millisecond},
	{`{"actions":[{"type":"move","x":1279,"y":719}]}`, "1279,719 ", 10 * time.Millisecond},
	{`{"actions":[{"type":"move","x":3,"y":4,"keys":["SHIFT"]}]}`, "+Shift_L; 3,4 ; -Shift_L", 20 * time.Millisecond},
	{`{"actions":[{"type":"scroll","x":100,"y":200,"scroll_x":0,"scroll_y":300}]}`,
		"100,200 ; 100,200 down; 100,200 ; 100,200 down; 100,200 ; 100,200 down; 100,200 ", 70 * time.Millisecond},
	{`{"actions":[{"type":"scroll","x":1,"y":2,"scroll_x":-149,"scroll_y":-1,"keys":["CTRL"]}]}`,
		"1,2 ; +Control_L; 1,2 up; 1,2 ; 1,2 leftwards; 1,2 ; -Control_L", 60 * time.Millisecond},
	{`{"actions":[{"type":"scroll","x":1,"y":2,"scroll_x":150,"scroll_y":-150}]}`,
		"1,2 ; 1,2 up; 1,2 ; 1,2 up; 1,2 ; 1,2 rightwards; 1,2 ; 1,2 rightwards; 1,2 ", 90 * time.Millisecond},
	{`{"actions":[{"type":"wait"}]}`, "look", 2 * time.Second},
	{`{"actions":[{"type":"drag","path":[{"x":100,"y":100},{"x":200,"y":300}]}]}`,
		"100,100 ; 100,100 left; 102,104 left … 200,300 left; 200,300 ", 660 * time.Millisecond},
	{`{"actions":[{"type":"drag","path":[{"x":0,"y":0},{"x":25,"y":0},{"x":25,"y":50}],"keys":["ALT"]}]}`,
		"0,0 ; +Alt_L; 0,0 left; 1,0 left … 25,50 left; 25,50 ; -Alt_L", 670 * time.Millisecond},
	{`{"action":{"type":"click","button":"left","x":156,"y":50}}`, "156,50 ; 156,50 left; 156,50 ", 110 * time.Millisecond},

	// Anthropic: tool_use.input.
	{`{"action":"screenshot"}`, "look", 0},
	{`{"action":"left_click","coordinate":[500,300]}`, "500,300 ; 500,300 left; 500,300 ", 110 * time.Millisecond},
	{`{"action":"left_click","coordinate":[500,300],"text":"shift"}`,
		"500,300 ; +Shift_L; 500,300 left; 500,300 ; -Shift_L", 120 * time.Millisecond},
	{`{"action":"left_click","coordinate":[500,300],"key":"ctrl+shift"}`,
		"500,300 ; +Control_L; +Shift_L; 500,300 left; 500,300 ; -Shift_L; -Control_L", 130 * time.Millisecond},
	{`{"action":"left_click"}`, "10,20 left; 10,20 ", 100 * time.Millisecond},
	{`{"action":"right_click","coordinate":[1,2]}`, "1,2 ; 1,2 right; 1,2 ", 110 * time.Millisecond},
	{`{"action":"middle_click","coordinate":[1,2]}`, "1,2 ; 1,2 middle; 1,2 ", 110 * time.Millisecond},
	{`{"action":"double_click","coordinate":[1,2]}`, "1,2 ; 1,2 left; 1,2 ; 1,2 left; 1,2 ", 210 * time.Millisecond},
	{`{"action":"triple_click","coordinate":[1,2]}`, "1,2 ; 1,2 left; 1,2 ; 1,2 left; 1,2 ; 1,2 left; 1,2 ", 310 * time.Millisecond},
	{`{"action":"mouse_move","coordinate":[7,8]}`, "7,8 ", 10 * time.Millisecond},
	{`{"action":"left_click_drag","start_coordinate":[100,100],"coordinate":[200,300]}`,
		"100,100 ; 100,100 left; 102,104 left … 200,300 left; 200,300 ", 660 * time.Millisecond},
	{`{"action":"left_click_drag","coordinate":[60,120],"text":"shift"}`,
		"+Shift_L; 10,20 left; 11,22 left … 60,120 left; 60,120 ; -Shift_L", 660 * time.Millisecond},
	{`{"action":"left_mouse_down"}`, "10,20 left", 50 * time.Millisecond},
	{`{"action":"left_mouse_up"}`, "10,20 ", 50 * time.Millisecond},
	{`{"action":"cursor_position"}`, "look", 0},
	{`{"action":"key","text":"ctrl+s"}`, "+Control_L; +s; -s; -Control_L", 70 * time.Millisecond},
	{`{"action":"key","text":"Return"}`, "+Return; -Return", 60 * time.Millisecond},
	{`{"action":"key","text":"alt+Tab"}`, "+Alt_L; +Tab; -Tab; -Alt_L", 70 * time.Millisecond},
	{`{"action":"key","text":"KP_0"}`, "+KP_0; -KP_0", 60 * time.Millisecond},
	{`{"action":"key","text":"Page_Down","repeat":2}`, "+Next; -Next; +Next; -Next", 120 * time.Millisecond},
	{`{"action":"key","text":"ctrl+a Delete"}`, "+Control_L; +a; -a; -Control_L; +Delete; -Delete", 130 * time.Millisecond},
	{`{"action":"hold_key","text":"shift","duration":1}`, "+Shift_L; -Shift_L", 1010 * time.Millisecond},
	{`{"action":"type","text":"Hi\n"}`, "+Shift_L; +H; -H; -Shift_L; +i; -i; +Return; -Return", 40 * time.Millisecond},
	{`{"action":"scroll","coordinate":[500,400],"scroll_direction":"down","scroll_amount":2}`,
		"500,400 ; 500,400 down; 500,400 ; 500,400 down; 500,400 ", 50 * time.Millisecond},
	{`{"action":"scroll","scroll_direction":"right","scroll_amount":1,"text":"ctrl"}`,
		"+Control_L; 10,20 rightwards; 10,20 ; -Control_L", 30 * time.Millisecond},
	{`{"action":"scroll","scroll_direction":"up","scroll_amount":1}`, "10,20 up; 10,20 ", 20 * time.Millisecond},
	{`{"action":"scroll","scroll_direction":"left","scroll_amount":1}`, "10,20 leftwards; 10,20 ", 20 * time.Millisecond},
	{`{"action":"wait","duration":0.5}`, "look", 500 * time.Millisecond},
	{`{"action":"zoom","region":[100,200,400,350]}`, "look", 0},

	// A list takes the actions of the toolset too.
	{`{"actions":[{"action":"mouse_move","coordinate":[7,8]},{"action":"left_mouse_down"},{"action":"left_mouse_up"}]}`,
		"7,8 ; 7,8 left; 7,8 ", 110 * time.Millisecond},
}

func TestActionsOfBothVendorsAreTakenUnedited(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range vendorActions {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.at.X, f.at.Y = 10, 20
			if c.events == "look" {
				c.events = ""
			}
			r, err := Parse([]byte(c.body))
			if err != nil {
				t.Fatalf("%s: %v", c.body, err)
			}
			for _, a := range r.actions {
				tested[a.row.by+" "+a.row.name] = true
			}
			result, err := r.Run(t.Context(), f)
			if err != nil || result.Done != len(r.actions) {
				t.Fatalf("%s: %d done, %v", c.body, result.Done, err)
			}
			if got := shorten(f.log); got != c.events {
				t.Errorf("%s gave\n%s, want\n%s", c.body, got, c.events)
			}
			if got := time.Since(f.began).Round(time.Millisecond); got != c.took {
				t.Errorf("%s took %v, want %v", c.body, got, c.took)
			}
			if f.acted[0] != len(r.actions) {
				t.Errorf("%s: %d actions are counted", c.body, f.acted[0])
			}
		})
	}
	for _, row := range rows {
		if !tested[row.by+" "+row.name] {
			t.Errorf("there is no example of %s %s", row.by, row.name)
		}
	}
}

// shorten leaves out what is between the first and the last event of a drag, and the picture.
func shorten(log []string) string {
	log = log[:len(log)-1]
	var short []string
	for i, e := range log {
		inside := i > 0 && i+1 < len(log) && strings.HasSuffix(e, " left") && strings.HasSuffix(log[i-1], " left") && strings.HasSuffix(log[i+1], " left")
		switch {
		case !inside:
			short = append(short, e)
		case !strings.HasSuffix(log[i-2], " left"):
			short = append(short, e+" …")
		}
	}
	return strings.ReplaceAll(strings.Join(short, "; "), "…; ", "… ")
}
