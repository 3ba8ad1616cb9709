package vnc

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/handlers/openapi"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsocket"
	"github.com/gatehouse-proxy/gatehouse/tests/described"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// startDescribed starts a gateway that has every route of the gateway's own.
func startDescribed(t *testing.T) *harness.Gateway {
	block, id := recordBlock(t)
	t.Setenv("AUDITOR", id.String())
	return harness.StartVNC(t, harness.Setup{
		Keys: "key full {\nsecret {env.KEY_FULL}\nmcp demo\nrate 1000/min\nconcurrency 100\nbudget 1M tokens/day soft\n" +
			"scopes chat:write models:read activity:read keys:manage limits:read providers:read mcp:call " +
			"workstations:connect workstations:manage workstations:observe workstations:automate recordings:read recordings:manage\n}\n" +
			"key activity {\nsecret {env.KEY_ACTIVITY}\nscopes activity:read\n}\n",
		Options: "responses_websocket\nrealtime\nmcp demo {\ndemo\n}\nruntime_keys {\nscopes models:read\n}\n", Site: "gatehouse_health\ngatehouse\n",
		VNC: strings.Replace(block, "record {\n", "record {\nreplay_identity {env.AUDITOR}\n", 1) +
			"session {\nrecord on\n}\nautomation control\nregister_networks 127.0.0.1/32\nworkstation demo {\ntest_card\n}\n",
	})
}

// descriptionTest notes which answers of which operations were seen: harness.Client holds each
// against the description.
type descriptionTest struct {
	*harness.Gateway
	succeeded, refused map[string]bool
}

func (d *descriptionTest) note(r *http.Request, a harness.Answer) {
	d.T.Helper()
	id, err := described.Check(d.T, r, a.Status, a.Header, a.Body)
	if err != nil {
		d.T.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	seen := d.succeeded
	if a.Status >= 400 {
		seen = d.refused
	}
	seen[id] = true
}

// ask makes a call, with a key and without.
func (d *descriptionTest) ask(status int, method, path, body string) harness.Answer {
	d.T.Helper()
	a := d.Client.Want(status, method, path, "full", body)
	d.note(request(d.Client, method, path, "full", body), a)
	if method != http.MethodGet || strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/api/") {
		d.note(request(d.Client, method, path, "", body), d.Client.Want(401, method, path, "", body))
	}
	return a
}

func request(c *harness.Client, method, path, key, body string) *http.Request {
	r := c.Request(path, key, body)
	r.Method = method
	return r
}

// upgrade asks for a WebSocket.
func (d *descriptionTest) upgrade(path, protocol string) {
	d.T.Helper()
	for _, key := range []string{"full", ""} {
		r := d.Client.Request(path, key, "")
		for name, value := range map[string]string{
			"Connection": "Upgrade", "Upgrade": "websocket",
			"Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": protocol, "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
		} {
			r.Header.Set(name, value)
		}
		if key == "" {
			d.note(r, d.Client.Send(r))
			continue
		}
		resp, err := d.Client.HTTP.Do(r)
		if err != nil {
			d.T.Fatal(err)
		}
		_ = resp.Body.Close()
		d.note(r, harness.Answer{Status: resp.StatusCode, Header: resp.Header})
	}
}

// Every route of the gateway's own answers as the description of the API says, with success and
// with refusals.
func TestEachOwnRouteAnswersAsItIsDescribed(t *testing.T) {
	d := &descriptionTest{startDescribed(t), map[string]bool{}, map[string]bool{}}
	text := func(a harness.Answer, path ...any) string {
		s, _ := harness.At(harness.Parse(t, a.Body), path...).(string)
		return s
	}
	if got := d.ask(200, "GET", openapi.Path, ""); string(got.Body) != string(openapi.Document()) {
		t.Errorf("%d bytes", len(got.Body))
	}
	for _, path := range []string{
		"/healthz", "/readyz", "/v1/about", "/v1/providers?model=test/nothing", "/v1/mcp", "/v1/models",
		"/v1/models/test/echo", "/v1/workstations", "/v1/workstations?limit=1", "/v1/workstations/demo", "/api/v1/key",
		"/api/v1/auth/key", "/api/v1/limits", "/api/v1/credits", "/api/v1/keys?source=configuration",
		"/api/v1/keys/full?source=configuration", "/api/v1/models?limit=1", "/api/v1/model/test/echo",
		"/api/v1/models/count", "/api/v1/embeddings/models", "/api/v1/images/models", "/api/v1/models/test/echo/endpoints",
	} {
		d.ask(200, "GET", path, "")
	}
	d.keys(text)
	d.workstations()
	session := d.sessions(text)
	d.recordings(session)
	call := d.Client.Post(harness.ChatRouter, "full", harness.Chat("test/echo", ""))
	d.ask(200, "GET", "/api/v1/generation?id="+call.Header.Get("X-Generation-Id"), "")
	for _, path := range []string{
		"", "?group_by=day", "?format=csv", "?id=" + call.Header.Get("X-Generation-Id"), "?id=" + session, "/series?by=key", "/series?format=csv",
	} {
		d.ask(200, "GET", "/api/v1/activity"+path, "")
	}
	d.refusals()
	for _, id := range described.Operations(t) {
		open := slices.Contains([]string{"isAlive", "isReady", "describeAPI"}, id)
		if !d.succeeded[id] || !d.refused[id] && !open {
			t.Errorf("%s: success %v, refusal %v", id, d.succeeded[id], d.refused[id])
		}
	}
}

func (d *descriptionTest) keys(text func(a harness.Answer, path ...any) string) {
	made := d.ask(201, "POST", "/api/v1/keys",
		`{"name":"ci","limit":1.5,"limit_reset":"daily","scopes":["models:read"],"metadata":{"team":"a"},"max_output_tokens":5}`)
	path := "/api/v1/keys/" + text(made, "data", "hash")
	d.ask(200, "GET", "/api/v1/keys", "")
	d.ask(200, "GET", path, "")
	d.ask(200, "PATCH", path, `{"disabled":true}`)
	d.ask(201, "POST", path+"/rotate", `{"grace":"1h"}`)
	d.ask(200, "DELETE", path, "")
	d.ask(404, "GET", path, "")
	d.ask(400, "POST", "/api/v1/keys", `{"name":1}`)
}

func (d *descriptionTest) workstations() {
	const desk = "/v1/workstations/desk"
	d.ask(201, "PUT", desk, `{"address":"127.0.0.1:5901","labels":{"floor":"1"},"expires_in":3600}`)
	d.ask(200, "PUT", desk, `{"address":"127.0.0.1:5901","session":{"fps":15,"shared":false}}`)
	d.ask(400, "PUT", desk, `{"address":"10.0.0.1:5901"}`)
	d.ask(200, "GET", "/v1/workstations", "")
	d.ask(204, "POST", desk+"/refresh", "")
	d.ask(200, "POST", "/v1/workstations/sync",
		`{"source":"fleet","items":[{"workstation_id":"two","address":"127.0.0.1:5902"},{"workstation_id":"three"}]}`)
	d.ask(204, "DELETE", desk, "")
	d.ask(404, "GET", "/v1/workstations/none", "")
}

// sessions returns the id of a session that has ended.
func (d *descriptionTest) sessions(text func(a harness.Answer, path ...any) string) string {
	d.ask(200, "POST", "/v1/workstations/demo/vnc", `{"session":{"fps":5},"once":true}`)
	d.ask(404, "POST", "/v1/workstations/none/vnc", "")
	d.upgrade("/v1/responses", "")
	d.upgrade("/v1/realtime?model=fake/gpt-realtime", "realtime")
	d.upgrade("/v1/workstations/demo/socket", vncsocket.Protocol)
	d.ask(200, "GET", "/v1/workstations/demo/screenshot?max_width=64&max_ms=0", "")
	d.ask(400, "GET", "/v1/workstations/demo/screenshot?max_width=many", "")
	d.ask(200, "POST", "/v1/workstations/demo/input", `{"action":"mouse_move","coordinate":[20,10],"screenshot":{"max_ms":0}}`)
	d.ask(400, "POST", "/v1/workstations/demo/input", `{"action":"dance"}`)
	d.ask(200, "POST", "/v1/workstations/demo/control", `{"action":"request_help","note":"sign in"}`)
	d.ask(200, "GET", "/v1/workstations/demo/control", "")
	host := d.VNC.TLSFirst(d.VNC.Issue("full", "demo", "").Host).Expect(uint32(0)).Send(1)
	d.ask(200, "POST", "/v1/workstations/demo/control", `{"action":"take"}`)
	d.Client.Want(409, "POST", "/v1/workstations/demo/input", "agent", `{"action":"mouse_move","coordinate":[20,10]}`)
	d.ask(200, "GET", "/v1/workstations/demo/sessions", "")
	open := d.ask(200, "GET", "/v1/sessions?key=full&workstation=demo", "")
	viewer := ""
	for i := 0; viewer == "" && harness.At(harness.Parse(d.T, open.Body), "data", i) != nil; i++ {
		if text(open, "data", i, "role") != "agent" {
			viewer = text(open, "data", i, "session_id")
		}
	}
	d.ask(200, "POST", "/v1/sessions/"+viewer+"/guests", `{"label":"helpdesk"}`)
	d.ask(204, "DELETE", "/v1/sessions/"+viewer, "")
	host.Leave()
	again := d.VNC.TLSFirst(d.VNC.Issue("full", "demo", "").Host).Expect(uint32(0)).Send(1)
	listed := d.ask(200, "GET", "/v1/workstations/demo/sessions", "")
	for i := 0; harness.At(harness.Parse(d.T, listed.Body), "data", i) != nil; i++ {
		d.ask(204, "DELETE", "/v1/workstations/demo/sessions/"+text(listed, "data", i, "session_id"), "")
	}
	again.Leave()
	d.VNC.WaitClosed()
	return viewer
}

func (d *descriptionTest) recordings(session string) {
	one := "/v1/recordings/" + session
	d.ask(200, "GET", "/v1/recordings?limit=1", "")
	d.ask(200, "GET", one, "")
	d.ask(200, "GET", one+"/file", "")
	d.ask(200, "GET", one+"/fbs", "")
	d.upgrade(one+"/socket", vncsocket.Protocol)
	d.ask(404, "GET", "/v1/recordings/vnc-0000000000000000", "")
	if !harness.Eventually(func() bool { return d.Client.Do("DELETE", one, "full", "").Status == 204 }) {
		d.T.Error("the recording cannot be deleted")
	}
	r := request(d.Client, "DELETE", one, "full", "")
	d.note(r, harness.Answer{Status: 204})
	d.note(r, d.Client.Want(404, "DELETE", one, "full", ""))
}

// refusals asks with parameters and members that no route has, and with those that are described.
func (d *descriptionTest) refusals() {
	var document struct {
		Paths map[string]map[string]struct {
			Parameters  []struct{ Name, In string }
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Properties           map[string]any
						AdditionalProperties any
					}
				}
			}
			Responses map[string]any
		}
	}
	if err := json.Unmarshal(openapi.Document(), &document); err != nil {
		d.T.Fatal(err)
	}
	bodies := 0
	for path, methods := range document.Paths {
		at := strings.NewReplacer("{id}", "demo", "{hash}", "none", "{session}", "none", "{model}", "test/echo").Replace(path)
		for method, o := range methods {
			if method = strings.ToUpper(method); o.Responses["default"] != nil || !strings.Contains(path, "/v1/") {
				continue
			}
			var known []string
			for _, p := range o.Parameters {
				if p.In == "query" {
					known = append(known, p.Name)
				}
			}
			if a := d.Client.Do(method, at+"?nosuch=1", "full", ""); unsupported(a) {
				slices.Sort(known)
				_, takes, _ := strings.Cut(string(a.Body), "this route takes ")
				takes, _, _ = strings.Cut(takes, `"`)
				got := strings.Split(takes, ", ")
				if slices.Sort(got); takes != "none" && !slices.Equal(got, known) || takes == "none" && known != nil {
					d.T.Errorf("%s %s is described with %q, and takes %s", method, path, known, takes)
				}
			}
			body := o.RequestBody.Content["application/json"].Schema
			if body.Properties == nil {
				continue
			}
			bodies++
			for name := range body.Properties {
				if a := d.Client.Do(method, at, "full", `{"`+name+`":null}`); unsupported(a) {
					d.T.Errorf("%s %s does not know %s: %s", method, path, name, a.Body)
				}
			}
			if a := d.Client.Do(method, at, "full", `{"nosuch":1}`); body.AdditionalProperties == false && !unsupported(a) {
				d.T.Errorf("%s %s takes any member: %d %s", method, path, a.Status, a.Body)
			}
		}
	}
	if bodies < 7 {
		d.T.Errorf("%d bodies", bodies)
	}
}

// unsupported reports whether an answer refuses a parameter or a member whose name is unknown.
func unsupported(a harness.Answer) bool {
	return a.Status == 400 && (strings.Contains(string(a.Body), "unknown parameter") || strings.Contains(string(a.Body), "unknown field"))
}
