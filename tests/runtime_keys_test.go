package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const runtimeBlock = `
	runtime_keys {
		scopes chat:write models:read workstations:connect
	}
`

// managerKeys are the usual keys and one that makes others.
const managerKeys = defaultKeys + `
	key manager {
		secret gk-test-manager-5f2b8c71d0e94a36
		scopes keys:manage activity:read
	}
`

// runtimeKey is a key that was made at run time.
type runtimeKey struct{ hash, secret string }

// makeKey makes a key with the members of a body besides its name.
func (h *harness) makeKey(more string) runtimeKey {
	h.t.Helper()
	a := h.want(201, "POST", "/api/v1/keys", "manager", `{"name":"made"`+more+`}`)
	body := parse(h.t, a.body)
	return runtimeKey{at(body, "data", "hash").(string), at(body, "key").(string)}
}

func (h *harness) changeKey(k runtimeKey, body string) {
	h.t.Helper()
	h.want(200, "PATCH", "/api/v1/keys/"+k.hash, "manager", body)
}

// with returns a request with the secret of a key made at run time.
func (h *harness) with(k runtimeKey, path, body string) *http.Request {
	h.t.Helper()
	r := h.request(path, "", body)
	r.Header.Set("Authorization", "Bearer "+k.secret)
	return r
}

func (h *harness) wantStatus(k runtimeKey, status int) {
	h.t.Helper()
	if a := h.send(h.with(k, chatV1, chatBody("fake/echo"))); a.status != status {
		h.t.Errorf("%d %s, want %d", a.status, a.body, status)
	}
}

func TestADeletedKeyIsRefusedAndItsStreamGoesOn(t *testing.T) {
	h := start(t, setup{keys: managerKeys, options: runtimeBlock})
	key := h.makeKey("")
	h.wantStatus(key, 200)
	s := h.open(h.with(key, chatV1, bodyFor(chatV1, "fake/step-held", streaming)))
	s.mustNext()
	h.want(200, "DELETE", "/api/v1/keys/"+key.hash, "manager", "")
	h.wantStatus(key, 401)
	h.upstream.Step("step-held", 20)
	if events, err := s.rest(); err != nil || events[len(events)-1].data != "[DONE]" {
		t.Errorf("the stream ended with %v, %v", events, err)
	}
	rows := h.get("/api/v1/activity?api_key_hash="+key.hash, "full")
	if list, _ := at(parse(t, rows.body), "data").([]any); len(list) != 2 {
		t.Errorf("the deleted key has the rows %s", rows.body)
	}
	rows = h.get("/api/v1/activity?key=manager", "full")
	if text := string(rows.body); !strings.Contains(text, "POST /api/v1/keys") || !strings.Contains(text, "DELETE /api/v1/keys/{hash}") || strings.Contains(text, key.secret) {
		t.Errorf("the manager's rows: %s", text)
	}
	if strings.Contains(logs.text(), key.secret) || !strings.Contains(logs.text(), "a key was deleted at run time") {
		t.Error("the log has the secret, or not the deletion")
	}
}

func TestANewConfigurationBoundsTheKeysMadeAtRunTime(t *testing.T) {
	with := func(options string) setup {
		return setup{keys: managerKeys, options: options}
	}
	h := start(t, with(runtimeBlock))
	key := h.makeKey("")
	for _, c := range []struct {
		options string
		status  int
	}{
		{runtimeBlock, 200},
		{"runtime_keys {\nscopes models:read\n}\n", 403},
		{"runtime_keys {\nscopes chat:write\nmodels test/*\n}\n", 404},
		{"", 401},
		{runtimeBlock, 200},
	} {
		if err := h.reload(with(c.options)); err != nil {
			t.Fatal(err)
		}
		// A request that reaches the old listener while it closes gets no answer.
		if !eventually(func() bool {
			resp, err := h.http.Do(h.with(key, chatV1, chatBody("fake/echo")))
			if err != nil {
				return false
			}
			_ = resp.Body.Close()
			return resp.StatusCode == c.status
		}) {
			t.Errorf("%q: the key is not answered with %d", c.options, c.status)
		}
	}
}

func TestALimitHoldsOverChangesAndRestarts(t *testing.T) {
	with := setup{keys: managerKeys, options: runtimeBlock}
	h := startPriced(t, with)
	key := h.makeKey(`,"limit":0.002,"limit_reset":"daily","max_output_tokens":100`)
	body := `{"model":"fake/usage-all","messages":[{"role":"user","content":"hello"}]}`
	if a := h.send(h.with(key, chatV1, body)); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	spent := func() int64 {
		data := at(parse(t, h.get("/api/v1/keys/"+key.hash, "manager").body), "data")
		for _, period := range []string{"usage", "usage_weekly", "usage_monthly"} {
			if at(data, period) != at(data, "usage_daily") {
				t.Errorf("%s is %v, usage_daily %v", period, at(data, period), at(data, "usage_daily"))
			}
		}
		return nano(t, at(data, "usage_daily").(json.Number))
	}
	if n := spent(); n != 1_001_000 {
		t.Errorf("the key has spent %d", n)
	}
	refused := func() {
		t.Helper()
		wantRefusal(t, chatV1, h.send(h.with(key, chatV1, body)), 402, "budget_exceeded")
	}
	refused()
	for _, reset := range []string{`"weekly"`, `"monthly"`, `null`} {
		h.changeKey(key, `{"limit_reset":`+reset+`}`)
		refused() // no period gives the money again
	}
	h.stop()
	with.options += "\ncatalog DIR/prices.json\n"
	if err := h.reload(with); err != nil {
		t.Fatal(err)
	}
	if n := spent(); n != 1_001_000 {
		t.Errorf("after the restart the key has spent %d", n)
	}
	refused()
	h.changeKey(key, `{"limit":0.01}`)
	if a := h.send(h.with(key, chatV1, body)); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestALimitIsNeverExceededWhileItsPeriodChanges(t *testing.T) {
	h := startPriced(t, setup{keys: managerKeys, options: runtimeBlock})
	key := h.makeKey(`,"limit":0.01,"limit_reset":"daily","max_output_tokens":100`)
	body := `{"model":"fake/usage-all","messages":[{"role":"user","content":"hello"}]}`
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for range 8 {
				if a := h.send(h.with(key, chatV1, body)); a.status != 200 && a.status != 402 {
					t.Errorf("%d %s", a.status, a.body)
				}
			}
		})
	}
	for i := range 20 {
		h.changeKey(key, fmt.Sprintf(`{"limit_reset":%s}`, []string{`"weekly"`, `"monthly"`, `null`, `"daily"`}[i%4]))
	}
	calls.Wait()
	data := at(parse(t, h.get("/api/v1/keys/"+key.hash, "manager").body), "data")
	if n := nano(t, at(data, "usage").(json.Number)); n > 10_000_000 || n < 8_000_000 {
		t.Errorf("the key has spent %d nano-USD of 10,000,000", n)
	}
}

func TestAnOperatorsKeyManagesTheKeysOfEveryTenant(t *testing.T) {
	h := start(t, setup{keys: managerKeys + "key foreman {\nsecret gk-test-foreman-5f2b8c71d0e94a36\nscopes keys:manage\ntenant other\nall_tenants\n}\n" +
		"key theirs {\nsecret gk-test-theirs-5f2b8c71d0e94a36\nscopes keys:manage\ntenant other\n}\n", options: runtimeBlock})
	key := h.makeKey("")
	own := "/api/v1/keys/" + key.hash
	for _, path := range []string{own, own + "?tenant=default"} {
		wantRefusal(t, path, h.get(path, "theirs"), 404, "not_found")
		h.want(200, "GET", path, "foreman", "")
	}
	if a := h.get("/api/v1/keys?tenant=default", "theirs"); string(a.body) != `{"data":[]}` {
		t.Errorf("another tenant sees %s", a.body)
	}
	wantRefusal(t, own, h.do("DELETE", own, "theirs", ""), 404, "not_found")
	a := h.want(201, "POST", "/api/v1/keys?tenant=default", "foreman", `{"name":"for them"}`)
	if at(parse(t, a.body), "data", "tenant") != "default" {
		t.Errorf("%s", a.body)
	}
	wantRefusal(t, own, h.do("POST", "/api/v1/keys?tenant=default", "theirs", `{"name":"x"}`), 404, "not_found")
	h.want(200, "PATCH", own, "foreman", `{"disabled":true}`)
	h.wantStatus(key, 401)
}

func TestADesktopEndsWithTheKeyThatOpenedIt(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{keys: managerKeys, options: runtimeBlock, vnc: d.as("one", "")})
	for name, end := range map[string]func(runtimeKey){
		"deleted":  func(k runtimeKey) { h.want(200, "DELETE", "/api/v1/keys/"+k.hash, "manager", "") },
		"disabled": func(k runtimeKey) { h.changeKey(k, `{"disabled":true}`) },
		"unscoped": func(k runtimeKey) { h.changeKey(k, `{"scopes":["chat:write"]}`) },
		"rotated":  func(k runtimeKey) { h.want(201, "POST", "/api/v1/keys/"+k.hash+"/rotate", "manager", "") },
		"rotated with a grace": func(k runtimeKey) {
			h.want(201, "POST", "/api/v1/keys/"+k.hash+"/rotate", "manager", `{"grace":"300ms"}`)
		},
		"expires earlier": func(k runtimeKey) {
			h.changeKey(k, `{"expires_at":"`+time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)+`"}`)
		},
	} {
		key := h.makeKey("")
		a := h.send(h.with(key, vncOfOne, "{}"))
		if a.status != 200 {
			t.Fatalf("%s: %d %s", name, a.status, a.body)
		}
		url, _ := at(parse(t, a.body), "vnc_url").(string)
		w := h.view(splitAddress(url))
		viewer := w.quietViewer()
		end(key)
		wantEnd(t, name, viewer)
	}
}
