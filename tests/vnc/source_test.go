package vnc

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// plane is a control plane: it answers questions about a workstation with what the test has set.
type plane struct {
	*httptest.Server
	status atomic.Int64

	mu    sync.Mutex // guards the following
	says  map[string]string
	asked []map[string]any
}

func newPlane(t *testing.T) *plane {
	p := &plane{says: make(map[string]string)}
	p.status.Store(http.StatusOK)
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Server.Close)
	t.Setenv("SOURCE_SECRET", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3")
	return p
}

func (p *plane) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q map[string]any
	_ = json.Unmarshal(body, &q)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(p.status.Load()))
	name, _ := q["workstation_id"].(string)
	answer := p.says[name]
	if answer == "" {
		answer = `{"decision":"unknown"}`
	}
	_, _ = io.WriteString(w, answer)
}

// say sets the answer for a workstation, "" for the list.
func (p *plane) say(name, answer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.says[name] = answer
}

func (p *plane) questions() []map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]map[string]any(nil), p.asked...)
}

// block is the source in a Caddyfile.
func (p *plane) block(options string) string {
	return "source lab {\nwebhook " + p.URL + "/desktops {\nsecret {env.SOURCE_SECRET}\n" + options + "\n}\nnetworks 127.0.0.1/32\nports 1024-65535\n}\n"
}

func allowing(d *harness.VNCServer, more string) string {
	return `{"decision":"allow","address":"` + d.Address() + `"` + more + `}`
}

// The control plane's password opens the desktop, and stays in memory.
func TestVNCASourceSaysWhereAWorkstationIsAndWhatItsPasswordIs(t *testing.T) {
	d, p := harness.NewVNCServer(t, harness.VNCAuth), newPlane(t)
	p.say("lab1", allowing(d, `,"generation":"vm-1","login":{"password":"`+harness.DeskPassword+`"}`))
	h := harness.StartVNC(t, harness.Setup{VNC: p.block("")})
	a := h.VNC.Issue("connect", "lab1", "")
	w := h.VNC.View(a)
	mustSucceed(h, w.Echo(3, 4))
	sessions := h.Client.Get(workstations+"/lab1/sessions", "desk")
	if ids := h.VNC.Sessions("lab1"); len(ids) != 1 {
		t.Errorf("%d sessions", len(ids))
	}
	w.Leave()
	row := vncRecord(h, "lab1")
	asked := p.questions()
	if len(asked) != 1 || asked[0]["type"] != "workstation.resolve" || asked[0]["reason"] != "issue" || asked[0]["tenant"] != "default" {
		t.Errorf("asked %v", asked)
	}
	if caller, _ := asked[0]["caller"].(map[string]any); caller["key"] != "connect" || caller["address"] != "127.0.0.1" {
		t.Errorf("the caller is %v", caller)
	}
	rows, _ := json.Marshal(row)
	everywhere := harness.Log.Text() + harness.DataFiles(h) + string(rows) + string(sessions.Body)
	if strings.Contains(everywhere, harness.DeskPassword) {
		t.Error("the password is in the log, the data, a row or a list")
	}
	harness.WantRefusal(t, "unknown", h.Client.Do("POST", workstations+"/lab2/vnc", "connect", ""), 404, "not_found")
	harness.WantRefusal(t, "another tenant's", h.Client.Do("POST", workstations+"/lab1/vnc", "foreign", ""), 404, "not_found")
}

func TestVNCASourceFillsLists(t *testing.T) {
	d, p := harness.NewVNCServer(t, harness.NoSecurity), newPlane(t)
	h := harness.StartVNC(t, harness.Setup{VNC: p.block("cache 1ms") + d.As("one", "")})
	list := func() string { return string(h.Client.Want(200, "GET", workstations, "connect", "").Body) }
	if text := list(); !jsontest.Has(t, text, `{"sources":[{"tenant":"default","source":"lab","list":"missing"}]}`) || !strings.Contains(text, `"one"`) {
		t.Errorf("%s", text)
	}
	p.say("", `{"items":[{"workstation_id":"lab1","labels":{"course":"cs101"},"state":"stopped"},{"workstation_id":"one"},{"workstation_id":"../x"}]}`)
	h.Become(harness.Setup{VNC: p.block("") + d.As("one", "")})
	if !harness.Eventually(func() bool { return strings.Contains(list(), `"lab1"`) }) {
		t.Fatal("lab1 is not in the list")
	}
	text := list()
	if !jsontest.Has(t, text, `{"workstation_id":"lab1","tenant":"default","source":"lab","state":"stopped"}`) || !jsontest.Has(t, text, `{"labels":{"course":"cs101"}}`) ||
		strings.Count(text, `"workstation_id"`) != 2 || strings.Contains(text, "missing") {
		t.Errorf("%s", text)
	}
	one := h.Client.Want(200, "GET", workstations+"/lab1", "connect", "")
	if harness.At(harness.Parse(t, one.Body), "state") != "stopped" {
		t.Errorf("%s", one.Body)
	}
	harness.WantRefusal(t, "not in the list", h.Client.Get(workstations+"/lab2", "connect"), 404, "not_found")
}

func TestVNCAPersonReadsWhyASourceSaysNo(t *testing.T) {
	d, p := harness.NewVNCServer(t, harness.NoSecurity), newPlane(t)
	p.say("lab1", allowing(d, `,"cache_seconds":0`))
	h := harness.StartVNC(t, harness.Setup{VNC: p.block("")})
	a := h.VNC.Issue("connect", "lab1", "")
	const reason = "Your booking begins at 14:00."
	p.say("lab1", `{"decision":"deny","reason":"`+reason+`"}`)
	refusedWith(h, a, reason)
	vncLogLine(h, "vnc connection refused", `"workstation":"lab1"`, `"code":"workstation_denied"`)
	answer := h.Client.Do("POST", workstations+"/lab1/vnc", "connect", "")
	harness.WantRefusal(t, "denied", answer, 403, "workstation_denied")
	if !strings.Contains(string(answer.Body), reason) {
		t.Errorf("%s", answer.Body)
	}
}

func TestVNCAWorkstationThatIsStartingOpensLater(t *testing.T) {
	d, p := harness.NewVNCServer(t, harness.NoSecurity), newPlane(t)
	p.say("lab1", `{"decision":"wait","retry_after":20,"reason":"The workstation is starting."}`)
	h := harness.StartVNC(t, harness.Setup{VNC: p.block("")})
	answer := h.Client.Do("POST", workstations+"/lab1/vnc", "connect", "")
	harness.WantRefusal(t, "starting", answer, 503, "workstation_starting")
	if after := answer.Header.Get("Retry-After"); after != "20" {
		t.Errorf("Retry-After: %s", after)
	}
	p.say("lab1", allowing(d, ""))
	harness.WantRefusal(t, "not asked again yet", h.Client.Do("POST", workstations+"/lab1/vnc", "connect", ""), 503, "workstation_starting")
	h.Client.Want(204, "POST", workstations+"/lab1/refresh", "manage", "")
	w := h.VNC.View(h.VNC.Issue("connect", "lab1", ""))
	w.Leave()
}

// Open sessions live on while the control plane is down, and viewers come back; nobody new comes.
func TestVNCDesktopsOutliveTheControlPlane(t *testing.T) {
	d, p := harness.NewVNCServer(t, harness.NoSecurity), newPlane(t)
	p.say("lab1", allowing(d, `,"generation":"vm-1","cache_seconds":0`))
	h := harness.StartVNC(t, harness.Setup{VNC: p.block("")})
	a := h.VNC.Issue("connect", "lab1", "")
	w := h.VNC.View(a)
	p.status.Store(http.StatusInternalServerError)
	for range 5 {
		harness.WantRefusal(t, "down", h.Client.Do("POST", workstations+"/lab1/vnc", "connect", ""), 503, "source_unavailable")
	}
	vncLogLine(h, "the source of workstations gave no answer that counts", `"source":"lab"`, `"code":"status"`)
	asked := len(p.questions())
	answer := h.Client.Do("POST", workstations+"/lab1/vnc", "connect", "")
	harness.WantRefusal(t, "refused at once", answer, 503, "source_unavailable")
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err != nil || seconds < 5 {
		t.Errorf("Retry-After: %s", answer.Header.Get("Retry-After"))
	}
	if up := h.Records.Metric(`gatehouse_source_up{source="lab"}`); up != 0 {
		t.Errorf("up %v", up)
	}
	h.Become(harness.Setup{VNC: p.block("timeout 1s")}) // a reload forgets nothing
	mustSucceed(h, w.Echo(1, 2))
	w.Leave()
	h.VNC.WaitClosed()
	again := h.VNC.View(a)
	mustSucceed(h, again.Echo(1, 3))
	if n := len(p.questions()) - asked; n > 2 {
		t.Errorf("asked %d times while it was down", n)
	}
	p.status.Store(http.StatusOK)
	h.Client.Want(204, "POST", workstations+"/lab1/refresh", "manage", "")
	if !harness.Eventually(func() bool { return h.Client.Do("POST", workstations+"/lab1/vnc", "connect", "").Status == 200 }) {
		t.Error("nobody gets an address after the control plane is back")
	}
	if up := h.Records.Metric(`gatehouse_source_up{source="lab"}`); up != 1 {
		t.Errorf("up %v", up)
	}
}
