package desktops

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// fake is one desktop, desk1, and its caller.
type fake struct {
	allowed  bool // to act
	held     bool // by a person
	same     bool // its picture never changes
	changed  bool // a person had the input
	note     string
	events   []string
	wants    []screen.Want
	released int
}

func (f *fake) List() ([]Desktop, error) {
	return []Desktop{{Name: "desk1", State: "in_service", Automation: "control", Holder: "none"}}, nil
}

func (f *fake) Open(workstation string, control bool) (Screen, func() bool, error) {
	switch {
	case workstation != "desk1":
		return nil, nil, apierror.New(apierror.NotFound, "the workstation %q does not exist", workstation)
	case control && !f.allowed:
		return nil, nil, apierror.New(apierror.AutomationOff, "agents may not act on workstation %q", workstation)
	}
	return f, func() bool { return f.changed }, nil
}

func (f *fake) RequestHelp(workstation, note string) error {
	f.note = workstation + ": " + note
	return nil
}

func (f *fake) event(format string, args ...any) error {
	if f.held {
		return &apierror.Error{Code: apierror.ControlHeld, Message: "a person holds the input", Details: []byte(`{"holder":"human"}`)}
	}
	f.events = append(f.events, fmt.Sprintf(format, args...))
	return nil
}

func (f *fake) Size() image.Point        { return image.Pt(1920, 1080) }
func (f *fake) At() (image.Point, uint8) { return image.Pt(30, 45), 0 }
func (f *fake) Turn(context.Context) (check func() error, done func(int, int), err error) {
	return func() error { return nil }, func(int, int) {}, nil
}
func (f *fake) LetGo() error     { return nil }
func (f *fake) Cut(string) error { return f.event("cut") }
func (f *fake) Release()         { f.released++ }

func (f *fake) Pointer(at image.Point, buttons uint8) error {
	return f.event("pointer %v %d", at, buttons)
}
func (f *fake) Key(keysym uint32, down bool) error { return f.event("key %x %v", keysym, down) }

func (f *fake) Look(_ context.Context, want screen.Want) (screen.Shot, error) {
	f.wants = append(f.wants, want)
	shot := screen.Shot{ETag: "e1", Size: f.Size(), Space: image.Pt(1280, 720), Region: image.Rectangle{Max: f.Size()}, Settled: true}
	if !want.Region.Empty() {
		shot.Region, shot.Space = want.Region, want.Region.Size()
	}
	if shot.Changed = !f.same || want.Known == ""; shot.Changed {
		shot.PNG = []byte("picture")
	}
	return shot, nil
}

// ask calls a tool, and returns its result or what else was answered.
func ask(t *testing.T, d Desktops, tool, arguments string) string {
	t.Helper()
	ctx := t.Context()
	if d != nil {
		ctx = With(ctx, d)
	}
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://built-in.invalid/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`))
	req.Header.Set(mcp.HeaderVersion, mcp.LatestSessions)
	resp, err := New().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	var m struct {
		Result struct {
			Content []struct{ Type, Text, Data, MimeType string }
			IsError bool
		}
		Error *struct{ Code int }
	}
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if m.Error != nil {
		return fmt.Sprint("error ", m.Error.Code)
	}
	said := ""
	for _, c := range m.Result.Content {
		said += c.Type + " " + c.MimeType + c.Data + c.Text + "; "
	}
	return strings.TrimSuffix(fmt.Sprintf("%s%v", said, m.Result.IsError), "")
}

const (
	picture = "image image/pngcGljdHVyZQ==; text " // base64 of "picture"
	whole   = "The picture is 1280 x 720, of a desktop of 1920 x 1080. Its name is \"e1\"."
	repeat  = ` Repeat with coordinates: "space":{"width":1280,"height":720}.`
	space   = `,"space":{"width":1280,"height":720}`
)

func TestTheToolsUseDesktopsAsTheirCaller(t *testing.T) {
	f := &fake{allowed: true}
	for _, test := range []struct{ tool, arguments, want string }{
		{"list_desktops", `{}`, `text [{"desktop":"desk1","state":"in_service","automation":"control","holder":"none"}]; false`},
		{"look", `{"desktop":"desk1"}`, picture + whole + repeat + "; false"},
		{"look", `{"desktop":"desk1","region":[0,0,128,72]` + space + `}`, picture + "This is a part of the picture. Coordinates of actions stay those of the whole picture." + repeat + "; false"},
		{"look", `{"desktop":"desk1","region":[0,0,1281,72]` + space + `}`, "text invalid_value: region: want a place on the desktop of 1280 x 720 (see \"space\"); true"},
		{"look", `{"desktop":"other"}`, `text not_found: the workstation "other" does not exist; true`},
		{"look", `{"desktop":"` + strings.Repeat("x", 129) + `"}`, "text missing_required_parameter: desktop: want the name of one, see list_desktops; true"},
		{"look", `{}`, "text missing_required_parameter: desktop: want the name of one, see list_desktops; true"},
		{"act", `{"desktop":"desk1","actions":[{"type":"move","x":20,"y":30},{"type":"keypress","keys":["a"]}]` + space + `}`,
			picture + "Actions done: 2. The pointer is at 20, 30. " + whole + repeat + "; false"},
		{"act", `{"desktop":"desk1","action":"mouse_move","coordinate":[1920,0]}`, "text invalid_value: coordinate: want a place on the desktop of 1920 x 1080 (see \"space\"); true"},
		{"act", `{"desktop":"desk1","action":"left_click","space":{"width":1280}}`, "text missing_required_parameter: space: want width and height, in pixels; true"},
		{"act", `{"desktop":"desk1","action":"key","text":"é"}`, picture + "Actions done: 1. The pointer is at 20, 30. The desktop may not have typed é: " +
			`if the picture lacks them, type them with "via":"paste". ` + whole + repeat + "; false"},
		{"act", `{"desktop":"desk1","action":"key","text":"a"}`, picture + "Actions done: 1. The pointer is at 20, 30. " + whole + repeat + "; false"},
		{"act", `{"desktop":"desk1","action":"dance"}`, "text invalid_value: action: want an action of OpenAI's or Anthropic's computer tool; true"},
		{"act", `{"desktop":"desk1","action":"type","text":"` + strings.Repeat("x", 300<<10) + `"}`, "text request_too_large: the actions have more than 262144 bytes; call the tool for each part; true"},
		{"wait", `{"desktop":"desk1","seconds":61}`, "text invalid_value: seconds: want 1 to 60; true"},
		{"wait", `{"desktop":7}`, "error -32602"},
		{"request_help", `{"desktop":"desk1","note":"A password is asked for."}`, "text A person was asked for help. Wait, then look; actions are refused while the person holds the input.; false"},
		{"request_help", `{"desktop":"desk1"}`, "text missing_required_parameter: note: say what a person is needed for; true"},
	} {
		if got := ask(t, f, test.tool, test.arguments); got != test.want {
			t.Errorf("%s %.80s: got\n%s\nwant\n%s", test.tool, test.arguments, got, test.want)
		}
	}
	if f.note != "desk1: A password is asked for." {
		t.Errorf("the note is %q", f.note)
	}
	if opened := len(f.wants) + 2; f.released != opened { // of the places outside no picture was taken
		t.Errorf("%d desktops were opened, %d released", opened, f.released)
	}
	for _, want := range f.wants {
		if want.MaxWidth != maxWidth || want.MaxHeight != maxHeight || want.Quiet == 0 {
			t.Errorf("a picture of any size, or at any time: %+v", want)
		}
	}
}

// A person holds the input: nothing is done, and the model reads who holds it.
func TestAHeldInputIsToldToTheModel(t *testing.T) {
	f := &fake{allowed: true, held: true}
	if got, want := ask(t, f, "act", `{"desktop":"desk1","action":"key","text":"a"}`), "text control_held: a person holds the input\n{\"done\":0,\"holder\":\"human\"}; true"; got != want {
		t.Errorf("got %s", got)
	}
	f = &fake{allowed: true, changed: true}
	if got := ask(t, f, "act", `{"desktop":"desk1","action":"key","text":"a"}`); !strings.Contains(got, "A person had the input since you acted last.") {
		t.Errorf("got %s", got)
	}
	f = &fake{}
	if got := ask(t, f, "act", `{"desktop":"desk1","action":"key","text":"a"}`); !strings.HasPrefix(got, "text automation_off: ") || len(f.events) > 0 {
		t.Errorf("got %s, %v", got, f.events)
	}
}

// Nothing is kept of what a model has seen: another client may have the same key.
func TestWaitWaitsForAnotherPicture(t *testing.T) {
	f := &fake{same: true, allowed: true}
	if got := ask(t, f, "wait", `{"desktop":"desk1","seconds":5,"known":"e1"}`); got != "text "+whole+repeat+" It has not changed.; false" {
		t.Errorf("got %s", got)
	}
	if want := f.wants[0]; want.Known != "e1" || want.Wait.Seconds() != 5 {
		t.Errorf("%+v", want)
	}
	if got := ask(t, f, "wait", `{"desktop":"desk1"}`); !strings.HasPrefix(got, picture) || f.wants[1].Known != "" {
		t.Errorf("a wait without a known picture: %s, %+v", got, f.wants[1])
	}
	if got := ask(t, f, "act", `{"desktop":"desk1","action":"wait","duration":0,"known":"e1"}`); !strings.HasSuffix(got, " It has not changed.; false") {
		t.Errorf("an act that changed nothing: %s", got)
	}
	if got := ask(t, f, "look", `{"desktop":"desk1"}`); !strings.HasPrefix(got, picture) {
		t.Errorf("a look at the same picture: %s", got)
	}
}

func TestWithoutACallerThereAreNoDesktops(t *testing.T) {
	if got := ask(t, nil, "list_desktops", `{}`); got != "text not_found: there are no desktops at this gateway; true" {
		t.Errorf("got %s", got)
	}
}

// Clients give the schemas to models as they are.
func TestTheSchemasAreJSON(t *testing.T) {
	for _, tool := range New().Tools {
		var schema struct {
			Type       string
			Required   []string
			Properties map[string]any
		}
		if err := json.Unmarshal([]byte(tool.Schema), &schema); err != nil || schema.Type != "object" {
			t.Errorf("%s: %v", tool.Name, err)
		}
		for _, name := range schema.Required {
			if schema.Properties[name] == nil {
				t.Errorf("%s requires %s, which it does not have", tool.Name, name)
			}
		}
	}
}
