package computer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

func list(action string, n int) string {
	return `{"actions":[` + strings.TrimSuffix(strings.Repeat(action+",", n), ",") + `]}`
}

func TestRefusedRequestsNameTheMember(t *testing.T) {
	const invalid, missing, unsupported = apierror.InvalidValue, apierror.MissingParameter, apierror.UnsupportedParameter
	for _, c := range []struct {
		body  string
		code  apierror.Code
		param string
	}{
		{``, apierror.InvalidJSON, ""},
		{`[]`, apierror.InvalidJSON, ""},
		{`{`, apierror.InvalidJSON, ""},
		{`{"actions":[],"actions":[]}`, apierror.InvalidJSON, ""},
		{`{}`, missing, "actions"},
		{`{"screenshot":{}}`, missing, "actions"},
		{`{"actions":[]}`, missing, "actions"},
		{`{"actions":{}}`, invalid, "actions"},
		{`{"actions":[1]}`, apierror.InvalidJSON, "actions[0]"},
		{`{"actions":[{"type":"wait","x":1,"x":2}]}`, apierror.InvalidJSON, "actions[0]"},
		{list(`{"type":"wait"}`, 101), invalid, "actions"},
		{`{"actions":[{"type":"wait"}],"model":"x"}`, unsupported, "model"},
		{`{"actions":[{}]}`, missing, "actions[0].type"},
		{`{"actions":[{"type":"fly"}]}`, invalid, "actions[0].type"},
		{`{"actions":[{"type":7}]}`, invalid, "actions[0].type"},
		{`{"action":"fly"}`, invalid, "action"},
		{`{"action":{"type":"fly"}}`, invalid, "action.type"},
		{`{"action":"click","x":1,"y":1,"button":"left"}`, invalid, "action"},
		{`{"actions":[{"type":"wait"},{"type":"click","x":1,"button":"left"}]}`, missing, "actions[1].y"},
		{`{"actions":[{"type":"click","x":1,"y":null,"button":"left"}]}`, missing, "actions[0].y"},
		{`{"actions":[{"type":"click","x":"1","y":1,"button":"left"}]}`, invalid, "actions[0].x"},
		{`{"actions":[{"type":"click","x":1.5,"y":1,"button":"left"}]}`, invalid, "actions[0].x"},
		{`{"actions":[{"type":"click","x":1,"y":1,"button":"back"}]}`, invalid, "actions[0].button"},
		{`{"actions":[{"type":"click","x":1,"y":1,"button":"forward"}]}`, invalid, "actions[0].button"},
		{`{"actions":[{"type":"click","x":1,"y":1,"button":""}]}`, invalid, "actions[0].button"},
		{`{"actions":[{"type":"click","x":1,"y":1,"button":"left","coordinate":[1,2]}]}`, unsupported, "actions[0].coordinate"},
		{`{"actions":[{"type":"click","x":1,"y":1,"button":"left","keys":["NOKEY"]}]}`, invalid, "actions[0].keys"},
		{`{"actions":[{"type":"click","x":1,"y":1,"button":"left","keys":"CTRL"}]}`, invalid, "actions[0].keys"},
		{`{"actions":[{"type":"keypress","keys":[]}]}`, invalid, "actions[0].keys"},
		{`{"actions":[{"type":"keypress","keys":["a","b","c","d","e","f","g","h","i","j","k"]}]}`, invalid, "actions[0].keys"},
		{`{"actions":[{"type":"keypress","keys":["a+b+c+d+e+f+g+h+i+j+k"]}]}`, invalid, "actions[0].keys"},
		{`{"actions":[{"type":"keypress","keys":[""]}]}`, invalid, "actions[0].keys"},
		{`{"actions":[{"type":"drag","path":[{"x":1,"y":1}]}]}`, invalid, "actions[0].path"},
		{`{"actions":[{"type":"drag","path":[{"x":1,"y":1},{"x":1}]}]}`, invalid, "actions[0].path"},
		{`{"actions":[{"type":"drag","path":[` + strings.TrimSuffix(strings.Repeat(`{"x":1,"y":1},`, 101), ",") + `]}]}`, invalid, "actions[0].path"},
		{`{"actions":[{"type":"scroll","x":1,"y":1,"scroll_x":0,"scroll_y":10001}]}`, invalid, "actions[0].scroll_y"},
		{`{"actions":[{"type":"scroll","x":1,"y":1,"scroll_x":-10001,"scroll_y":0}]}`, invalid, "actions[0].scroll_x"},
		{`{"action":"scroll","scroll_direction":"around","scroll_amount":1}`, invalid, "scroll_direction"},
		{`{"action":"scroll","scroll_direction":"up","scroll_amount":101}`, invalid, "scroll_amount"},
		{`{"action":"scroll","scroll_direction":"up","scroll_amount":-1}`, invalid, "scroll_amount"},
		{`{"action":"left_click","coordinate":[1]}`, invalid, "coordinate"},
		{`{"action":"left_click","coordinate":[1,2,3]}`, invalid, "coordinate"},
		{`{"action":"left_click","coordinate":{"x":1,"y":2}}`, invalid, "coordinate"},
		{`{"action":"left_click","text":"nokey"}`, invalid, "text"},
		{`{"action":"left_click","key":"nokey"}`, invalid, "key"},
		{`{"action":"left_mouse_down","coordinate":[1,2]}`, unsupported, "coordinate"},
		{`{"action":"mouse_move"}`, missing, "coordinate"},
		{`{"action":"zoom","region":[10,10,10,20]}`, invalid, "region"},
		{`{"action":"zoom","region":[10,10,20]}`, invalid, "region"},
		{`{"action":"zoom"}`, missing, "region"},
		{`{"action":"key","text":""}`, invalid, "text"},
		{`{"action":"key","text":"a","repeat":0}`, invalid, "repeat"},
		{`{"action":"key","text":"a","repeat":101}`, invalid, "repeat"},
		{`{"action":"hold_key","text":"a"}`, missing, "duration"},
		{`{"action":"hold_key","text":"a","duration":301}`, invalid, "duration"},
		{`{"action":"wait","duration":-0.1}`, invalid, "duration"},
		{`{"action":"wait","duration":"1"}`, invalid, "duration"},
		{`{"action":"type","text":"\u001b"}`, invalid, "text"},
		{`{"action":"type","text":"\ud800"}`, invalid, "text"},
		{`{"action":"type","text":7}`, invalid, "text"},
		{`{"action":"type","text":"a","via":"mail"}`, invalid, "via"},
		{`{"action":"type","text":"a","paste_key":"ctrl+v"}`, invalid, "paste_key"},
		{`{"action":"type","text":"a","via":"paste","paste_key":"ctrl+nokey"}`, invalid, "paste_key"},
		{typing(strings.Repeat("a", 10_001), ""), invalid, "actions[0].text"},
		{list(typing(strings.Repeat("a", 5_001), "")[len(`{"actions":[`):5_001+len(`{"type":"type","text":""}`)+len(`{"actions":[`)], 2), invalid, "actions[1].text"},
		{list(`{"action":"wait","duration":101}`, 3), invalid, "actions[2]"},
		{`{"action":"wait","duration":300,"space":{"width":1280}}`, missing, "space"},
		{`{"action":"screenshot","space":{}}`, missing, "space"},
		{`{"action":"screenshot","space":"1280x720"}`, apierror.InvalidJSON, "space"},
		{`{"action":"screenshot","space":{"width":0,"height":720}}`, invalid, "space.width"},
		{`{"action":"screenshot","space":{"width":1280,"height":70000}}`, invalid, "space.height"},
		{`{"action":"screenshot","space":{"depth":1}}`, unsupported, "space.depth"},
		{`{"action":"screenshot","space":1}`, apierror.InvalidJSON, "space"},
		{`{"action":"screenshot","screenshot":{"max_ms":60001}}`, invalid, "screenshot.max_ms"},
		{`{"action":"screenshot","screenshot":{"quiet_ms":-1}}`, invalid, "screenshot.quiet_ms"},
		{`{"action":"screenshot","screenshot":{"max_width":0}}`, invalid, "screenshot.max_width"},
		{`{"action":"screenshot","screenshot":{"known":"` + strings.Repeat("a", 257) + `"}}`, invalid, "screenshot.known"},
		{`{"action":"screenshot","screenshot":{"name":1}}`, unsupported, "screenshot.name"},
	} {
		_, err := Parse([]byte(c.body))
		if e := asRefusal(err); e.Code != c.code || e.Param != c.param {
			t.Errorf("%.120s gave %s of %q (%v), want %s of %q", c.body, e.Code, e.Param, err, c.code, c.param)
		}
	}
}

func TestTheLargestRequestsAreTaken(t *testing.T) {
	for _, body := range []string{
		list(`{"type":"wait"}`, 100),
		typing(strings.Repeat("a", 10_000), ""),
		typing(strings.Repeat("😀", 10_000), `,"via":"paste"`),
		`{"action":"wait","duration":300}`,
		`{"action":"key","text":"a","repeat":100}`,
		`{"action":"scroll","scroll_direction":"up","scroll_amount":100}`,
		`{"action":"scroll","scroll_direction":"up","scroll_amount":0}`,
		`{"actions":[{"type":"scroll","x":1,"y":1,"scroll_x":10000,"scroll_y":-10000}]}`,
		`{"actions":[{"type":"keypress","keys":["a","b","c","d","e","f","g","h","i","j"]}]}`,
		`{"action":"screenshot","space":{"width":1,"height":65536},"screenshot":{"max_ms":60000,"quiet_ms":10000,"max_width":1,"max_height":65536,"known":"ab"}}`,
		`{"action":"screenshot","space":null,"screenshot":null}`,
		`{"action":"type","text":"a","via":"keys"}`,
	} {
		if _, err := Parse([]byte(body)); err != nil {
			t.Errorf("%.100s: %v", body, err)
		}
	}
	escaped := `{"action":"type","via":"paste","text":"` + strings.Repeat(`\ud83d\ude00`, 10_000) + `"}`
	if _, err := Parse([]byte(escaped)); err != nil || len(escaped) > MaxBody {
		t.Errorf("%d bytes: %v", len(escaped), err)
	}
}

const marker = "hunter2secret"

func TestErrorsDoNotRepeatWhatIsTyped(t *testing.T) {
	for _, format := range []string{
		`{"action":"type","text":"%s\u001b"}`, `{"action":"key","text":"%s"}`, `{"action":"hold_key","text":"%s","duration":1}`,
		`{"action":"left_click","text":"%s"}`, `{"action":"type","text":"a","via":"%s"}`, `{"action":"type","text":"a","paste_key":"%s"}`,
		`{"actions":[{"type":"keypress","keys":["%s"]}]}`, `{"action":"%s"}`, `{"actions":[{"type":"%s"}]}`, `{"action":"scroll","scroll_direction":"%s"}`,
		`{"actions":[{"type":"click","button":"%s","x":1,"y":1}]}`, `{"action":"type","text":{"a":"%s"}}`, `{"action":"type","text":"%s}`,
	} {
		body := fmt.Sprintf(format, marker)
		_, err := Parse([]byte(body))
		if err == nil || strings.Contains(err.Error(), marker) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
