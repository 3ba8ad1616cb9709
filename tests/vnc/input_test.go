package vnc

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image/png"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// card is a workstation that shows the test card and keeps what each viewer sends.
type card struct {
	mu   sync.Mutex // guards the following
	sent []*bytes.Buffer
}

// keepingCard is a card at an address.
func keepingCard(t *testing.T) (c *card, address string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c = new(card)
	var over sync.WaitGroup
	over.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			k := kept{conn, c, new(bytes.Buffer)}
			c.mu.Lock()
			c.sent = append(c.sent, k.sent)
			c.mu.Unlock()
			over.Go(func() { _ = testcard.Serve(t.Context(), k, "desk") })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		over.Wait()
	})
	return c, listener.Addr().String()
}

type kept struct {
	net.Conn
	card *card
	sent *bytes.Buffer
}

func (k kept) Read(p []byte) (int, error) {
	n, err := k.Conn.Read(p)
	k.card.mu.Lock()
	defer k.card.mu.Unlock()
	k.sent.Write(p[:n])
	return n, err
}

// events are the input that came from a viewer: keys by their keysym, places with the buttons.
func (c *card) events(viewer int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	const greeting = len("RFB 003.008\n") + 2
	if len(c.sent) <= viewer || c.sent[viewer].Len() < greeting {
		return ""
	}
	p := bytes.Clone(c.sent[viewer].Bytes())
	var all []string
	for p = p[greeting:]; len(p) >= 4; {
		n := map[byte]int{0: 20, 2: 4 + 4*(int(p[2])<<8|int(p[3])), 3: 10, 4: 8, 5: 6}[p[0]]
		if n == 0 || n > len(p) {
			break
		}
		switch p[0] {
		case 4:
			all = append(all, fmt.Sprintf("%c%c", "-+"[p[1]], rune(binary.BigEndian.Uint32(p[4:]))))
		case 5:
			all = append(all, fmt.Sprintf("%d,%d:%d", int(p[2])<<8|int(p[3]), int(p[4])<<8|int(p[5]), p[1]))
		}
		p = p[n:]
	}
	return strings.Join(all, " ")
}

const inputPath = "/v1/workstations/card/input"

func TestAnAgentActsOnADesktop(t *testing.T) {
	c, address := keepingCard(t)
	h := harness.StartVNC(t, harness.Setup{VNC: "automation control\nworkstation card " + address + "\n"})
	a := h.Client.Want(200, "POST", inputPath, "agent",
		`{"actions":[{"type":"click","button":"left","x":300,"y":100},{"type":"type","text":"Hi"}],"screenshot":{"max_ms":100}}`)
	answer := harness.Parse(t, a.Body)
	for _, want := range []struct {
		value string
		path  []any
	}{
		{"2", []any{"done"}}, {"agent", []any{"control"}}, {"false", []any{"settled"}}, // the card moves for ever
		{"1280", []any{"size", "width"}}, {"720", []any{"space", "height"}}, {"300", []any{"cursor", "x"}}, {"100", []any{"cursor", "y"}},
		{"image/png", []any{"screenshot", "media_type"}}, {"true", []any{"screenshot", "changed"}},
	} {
		if got := fmt.Sprint(harness.At(answer, want.path...)); got != want.value {
			t.Errorf("%v is %v, want %v", want.path, got, want.value)
		}
	}
	text, _ := harness.At(answer, "screenshot", "data").(string)
	data, _ := base64.StdEncoding.DecodeString(text)
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if picture.At(300, 100) == picture.At(310, 50) {
		t.Error("the pointer is not in the picture")
	}
	h.Client.Want(200, "POST", inputPath, "agent", `{"action":"mouse_move","coordinate":[20,10],"space":{"width":640,"height":360},"screenshot":{"max_ms":0}}`)
	const want = "300,100:0 300,100:1 300,100:0 +\uffe1 +H -H -\uffe1 +i -i 41,21:0"
	if got := c.events(0); got != want {
		t.Errorf("the workstation got %s, want %s", got, want)
	}
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	if fmt.Sprint(harness.At(row, "status")) != "200" || harness.At(row, "workstation") != "card" {
		t.Errorf("the row is %v", row)
	}
}

// Two clients have the key, and each its own pictures: what one was shown is not what the other's coordinates
// refer to, or has seen.
func TestCoordinatesBelongToOneClient(t *testing.T) {
	c, address := keepingCard(t)
	h := harness.StartVNC(t, harness.Setup{Keys: toolsKeys, Options: "mcp desktops {\ndesktops\n}\n", VNC: "automation control\nworkstation card " + address + "\n"})
	small := h.Client.Want(200, "GET", cardShot+"?max_width=320&max_ms=0", "full", "")
	if space := small.Header.Get("Gatehouse-Space"); space != "320x180" {
		t.Fatalf("the other client's picture is %s", space)
	}
	for _, body := range []string{
		`{"action":"mouse_move","coordinate":[300,100],"screenshot":{"max_ms":0}}`,
		`{"actions":[{"type":"move","x":75,"y":25}],"space":{"width":320,"height":180},"screenshot":{"max_ms":0}}`,
		`{"action":"mouse_move","coordinate":[600,50],"screenshot":{"max_ms":0,"max_width":640}}`,
	} {
		answer := harness.Parse(t, h.Client.Want(200, "POST", inputPath, "full", body).Body)
		if harness.At(answer, "screenshot", "changed") != true || harness.At(answer, "screenshot", "data") == nil {
			t.Errorf("%s: the client that has no picture gets none: %v", body, answer)
		}
	}
	for _, place := range []string{`"coordinate":[500,60]`, `"coordinate":[125,15],"space":{"width":320,"height":180}`} {
		if a := useTool(t, h, "full", "act", `{"desktop":"card","action":"mouse_move",`+place+`,"screenshot":{"max_ms":0}}`); a.Result.IsError {
			t.Errorf("%+v", a)
		}
	}
	const want = "300,100:0 302,102:0 600,50:0 500,60:0 502,62:0"
	if got := c.events(0); got != want {
		t.Errorf("the workstation got %s, want %s", got, want)
	}
	for _, body := range []string{
		`{"action":"mouse_move","coordinate":[400,10],"space":{"width":320,"height":180}}`, `{"action":"mouse_move","coordinate":[4,1],"space":{"width":0,"height":180}}`,
	} {
		harness.WantRefusal(t, inputPath, h.Client.Post(inputPath, "full", body), 400, "invalid_value")
	}
}

func TestInputNeedsTheScopeTheTenantAndControl(t *testing.T) {
	h := harness.StartVNC(t, harness.Setup{VNC: "automation view\nworkstation card {\ntest_card\n}\n"})
	const click = `{"action":"left_click"}`
	for _, c := range []struct {
		key    string
		body   string
		status int
		code   string
	}{
		{"agent", click, 403, "automation_off"},
		{"desk", click, 403, "insufficient_scope"},
		{"agent", `{"action":"fly"}`, 400, "invalid_value"},
		{"agent", `{"actions":[]}`, 400, "missing_required_parameter"},
		{"agent", `[]`, 400, "invalid_json"},
	} {
		a := h.Client.Post(inputPath, c.key, c.body)
		harness.WantRefusal(t, inputPath, a, c.status, c.code)
		if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "code") != c.code {
			t.Errorf("%s: the row is %v", c.code, row)
		}
	}
}

func TestWhatAnAgentTypesIsNowhere(t *testing.T) {
	const marker = "hunter2secret"
	c, address := keepingCard(t)
	h := harness.StartVNC(t, harness.Setup{VNC: "automation control\nworkstation card " + address + "\n"})
	for _, body := range []string{
		`{"action":"type","text":"%s","screenshot":{"max_ms":0}}`, `{"action":"type","text":"%s\u0007"}`, `{"action":"key","text":"%s"}`,
		`{"actions":[{"type":"keypress","keys":["%s"]}]}`, `{"actions":[{"type":"type","text":"%s"},{"type":"move","x":1280,"y":0}]}`, `{"action":"type","text":"%s`,
	} {
		a := h.Client.Post(inputPath, "agent", fmt.Sprintf(body, marker))
		if strings.Contains(string(a.Body), marker) {
			t.Errorf("%s is answered with %.200s", body, a.Body)
		}
	}
	if got := c.events(0); !strings.Contains(got, "+h -h +u -u") || strings.Count(got, "+h") != 1 {
		t.Fatalf("the workstation got %s", got)
	}
	session := harness.Parse(t, h.Client.Want(200, http.MethodGet, "/v1/sessions", "desk", "").Body)
	id, _ := harness.At(session, "data", 0, "session_id").(string)
	h.Client.Want(204, http.MethodDelete, "/v1/sessions/"+id, "desk", "")
	row := vncRecord(h, "card")
	for name, want := range map[string]string{"typed": "13", "actions": "1", "role": "agent"} {
		if got := fmt.Sprint(harness.At(row, name)); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if text := fmt.Sprint(h.Records.Rows("")); strings.Contains(text, marker) {
		t.Errorf("a row has it: %s", text)
	}
	if lines := harness.Log.Lines(marker); len(lines) > 0 {
		t.Errorf("the log has it: %v", lines)
	}
	if metrics := h.Client.Get("/metrics", ""); strings.Contains(string(metrics.Body), marker) {
		t.Error("a metric has it")
	}
}

func wantHeld(t *testing.T, a harness.Answer) {
	t.Helper()
	if code := harness.At(harness.Parse(t, a.Body), "error", "code"); a.Status != 409 || code != "control_held" {
		t.Errorf("status %d: %s", a.Status, a.Body)
	}
}

func TestAPersonWhoTypesStopsTheAgent(t *testing.T) {
	c, address := keepingCard(t)
	h := harness.StartVNC(t, harness.Setup{VNC: "automation control\non_conflict share\nworkstation card " + address + "\n"})
	const press = `{"actions":[{"type":"keypress","keys":["a"]},{"type":"keypress","keys":["b"]}],"screenshot":{"max_ms":0}}`
	h.Client.Want(200, "POST", inputPath, "agent", press)
	person := h.VNC.TLSFirst(h.VNC.Issue("desk", "card", "").Host).Accepted()
	defer person.Leave()
	under := make(chan harness.Answer, 1)
	go func() {
		under <- h.Client.Post(inputPath, "agent", `{"actions":[{"type":"keypress","keys":["c"]},{"action":"hold_key","text":"d","duration":100}]}`)
	}()
	if !harness.Eventually(func() bool { return strings.HasSuffix(c.events(0), "+d") }) {
		t.Fatalf("the workstation got %s", c.events(0))
	}
	person.Send(4, 1, 0, 0, uint32('x'))
	a := <-under
	wantHeld(t, a)
	details := harness.At(harness.Parse(t, a.Body), "error", "details")
	if fmt.Sprint(harness.At(details, "done")) != "1" || harness.At(details, "holder") != "human" {
		t.Errorf("details %v", details)
	}
	if !strings.HasSuffix(c.events(0), "+d -d") || c.events(1) != "+x" {
		t.Errorf("the workstation got %s of the agent, %s of the person", c.events(0), c.events(1))
	}
	wantHeld(t, h.Client.Post(inputPath, "agent", press))
	const control = "/v1/workstations/card/control"
	h.Client.Want(200, "POST", control, "agent", `{"action":"request_help","note":"The page wants a code."}`)
	harness.WantDocumented(t, "agents.md", "/control", string(h.Client.Want(200, "GET", control, "desk", "").Body))
	h.Client.Want(200, "POST", control, "desk", `{"action":"return"}`)
	again := harness.Parse(t, h.Client.Want(200, "POST", inputPath, "agent", press).Body)
	if harness.At(again, "changed_hands") != true {
		t.Errorf("%v", again)
	}
}
