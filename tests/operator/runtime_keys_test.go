package operator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const runtimeBlock = `
	runtime_keys {
		scopes chat:write models:read workstations:connect
	}
`

// managerKeys are the usual keys and one that makes others.
const managerKeys = harness.DefaultKeys + `
	key manager {
		secret gk-test-manager-5f2b8c71d0e94a36
		scopes keys:manage activity:read
	}
`

// runtimeKey is a key that was made at run time.
type runtimeKey struct{ hash, secret string }

// makeKey makes a key with the members of a body besides its name.
func makeKey(h *harness.Gateway, more string) runtimeKey {
	h.T.Helper()
	a := h.Client.Want(201, "POST", "/api/v1/keys", "manager", `{"name":"made"`+more+`}`)
	body := harness.Parse(h.T, a.Body)
	return runtimeKey{harness.At(body, "data", "hash").(string), harness.At(body, "key").(string)}
}

func changeKey(h *harness.Gateway, k runtimeKey, body string) {
	h.T.Helper()
	h.Client.Want(200, "PATCH", "/api/v1/keys/"+k.hash, "manager", body)
}

// requestWith returns a request with the secret of a key made at run time.
func requestWith(h *harness.Gateway, k runtimeKey, path, body string) *http.Request {
	h.T.Helper()
	r := h.Client.Request(path, "", body)
	r.Header.Set("Authorization", "Bearer "+k.secret)
	return r
}

func wantStatus(h *harness.Gateway, k runtimeKey, status int) {
	h.T.Helper()
	if a := h.Client.Send(requestWith(h, k, harness.ChatV1, harness.Hello("fake/echo"))); a.Status != status {
		h.T.Errorf("%d %s, want %d", a.Status, a.Body, status)
	}
}

func TestADeletedKeyIsRefusedAndItsStreamGoesOn(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: managerKeys, Options: runtimeBlock})
	key := makeKey(h, "")
	wantStatus(h, key, 200)
	s := h.Client.Open(requestWith(h, key, harness.ChatV1, harness.Body(harness.ChatV1, "fake/step-held", harness.Streaming)))
	s.MustNext()
	h.Client.Want(200, "DELETE", "/api/v1/keys/"+key.hash, "manager", "")
	wantStatus(h, key, 401)
	h.Provider.Fake.Step("step-held", 20)
	if events, err := s.Rest(); err != nil || events[len(events)-1].Data != "[DONE]" {
		t.Errorf("the stream ended with %v, %v", events, err)
	}
	rows := h.Client.Get("/api/v1/activity?api_key_hash="+key.hash, "full")
	if list, _ := harness.At(harness.Parse(t, rows.Body), "data").([]any); len(list) != 2 {
		t.Errorf("the deleted key has the rows %s", rows.Body)
	}
	rows = h.Client.Get("/api/v1/activity?key=manager", "full")
	if text := string(rows.Body); !strings.Contains(text, "POST /api/v1/keys") || !strings.Contains(text, "DELETE /api/v1/keys/{hash}") || strings.Contains(text, key.secret) {
		t.Errorf("the manager's rows: %s", text)
	}
	if strings.Contains(harness.Log.Text(), key.secret) || !strings.Contains(harness.Log.Text(), "a key was deleted at run time") {
		t.Error("the log has the secret, or not the deletion")
	}
}

func TestALimitHoldsOverChangesAndRestarts(t *testing.T) {
	with := harness.Setup{Keys: managerKeys, Options: runtimeBlock}
	h := harness.StartPriced(t, with)
	key := makeKey(h, `,"limit":0.002,"limit_reset":"daily","max_output_tokens":100`)
	body := `{"model":"fake/usage-all","messages":[{"role":"user","content":"hello"}]}`
	if a := h.Client.Send(requestWith(h, key, harness.ChatV1, body)); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	spent := func() int64 {
		data := harness.At(harness.Parse(t, h.Client.Get("/api/v1/keys/"+key.hash, "manager").Body), "data")
		for _, period := range []string{"usage", "usage_weekly", "usage_monthly"} {
			if harness.At(data, period) != harness.At(data, "usage_daily") {
				t.Errorf("%s is %v, usage_daily %v", period, harness.At(data, period), harness.At(data, "usage_daily"))
			}
		}
		return harness.Nano(t, harness.At(data, "usage_daily").(json.Number))
	}
	if n := spent(); n != 1_001_000 {
		t.Errorf("the key has spent %d", n)
	}
	refused := func() {
		t.Helper()
		harness.WantRefusal(t, harness.ChatV1, h.Client.Send(requestWith(h, key, harness.ChatV1, body)), 402, "budget_exceeded")
	}
	refused()
	for _, reset := range []string{`"weekly"`, `"monthly"`, `null`} {
		changeKey(h, key, `{"limit_reset":`+reset+`}`)
		refused() // no period gives the money again
	}
	h.Stop()
	with.Options += "\ncatalog DIR/prices.json\n"
	if err := h.Reload(with); err != nil {
		t.Fatal(err)
	}
	if n := spent(); n != 1_001_000 {
		t.Errorf("after the restart the key has spent %d", n)
	}
	refused()
	changeKey(h, key, `{"limit":0.01}`)
	if a := h.Client.Send(requestWith(h, key, harness.ChatV1, body)); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestALimitIsNeverExceededWhileItsPeriodChanges(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: managerKeys, Options: runtimeBlock})
	key := makeKey(h, `,"limit":0.01,"limit_reset":"daily","max_output_tokens":100`)
	body := `{"model":"fake/usage-all","messages":[{"role":"user","content":"hello"}]}`
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for range 8 {
				if a := h.Client.Send(requestWith(h, key, harness.ChatV1, body)); a.Status != 200 && a.Status != 402 {
					t.Errorf("%d %s", a.Status, a.Body)
				}
			}
		})
	}
	for i := range 20 {
		changeKey(h, key, fmt.Sprintf(`{"limit_reset":%s}`, []string{`"weekly"`, `"monthly"`, `null`, `"daily"`}[i%4]))
	}
	calls.Wait()
	data := harness.At(harness.Parse(t, h.Client.Get("/api/v1/keys/"+key.hash, "manager").Body), "data")
	if n := harness.Nano(t, harness.At(data, "usage").(json.Number)); n > 10_000_000 || n < 8_000_000 {
		t.Errorf("the key has spent %d nano-USD of 10,000,000", n)
	}
}

func TestAnOperatorsKeyManagesTheKeysOfEveryTenant(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: managerKeys + "key foreman {\nsecret gk-test-foreman-5f2b8c71d0e94a36\nscopes keys:manage\ntenant other\nall_tenants\n}\n" +
		"key theirs {\nsecret gk-test-theirs-5f2b8c71d0e94a36\nscopes keys:manage\ntenant other\n}\n", Options: runtimeBlock})
	key := makeKey(h, "")
	own := "/api/v1/keys/" + key.hash
	for _, path := range []string{own, own + "?tenant=default"} {
		harness.WantRefusal(t, path, h.Client.Get(path, "theirs"), 404, "not_found")
		h.Client.Want(200, "GET", path, "foreman", "")
	}
	if a := h.Client.Get("/api/v1/keys?tenant=default", "theirs"); string(a.Body) != `{"data":[]}` {
		t.Errorf("another tenant sees %s", a.Body)
	}
	harness.WantRefusal(t, own, h.Client.Do("DELETE", own, "theirs", ""), 404, "not_found")
	a := h.Client.Want(201, "POST", "/api/v1/keys?tenant=default", "foreman", `{"name":"for them"}`)
	if harness.At(harness.Parse(t, a.Body), "data", "tenant") != "default" {
		t.Errorf("%s", a.Body)
	}
	harness.WantRefusal(t, own, h.Client.Do("POST", "/api/v1/keys?tenant=default", "theirs", `{"name":"x"}`), 404, "not_found")
	h.Client.Want(200, "PATCH", own, "foreman", `{"disabled":true}`)
	wantStatus(h, key, 401)
}

func TestADesktopEndsWithTheKeyThatOpenedIt(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{Keys: managerKeys, Options: runtimeBlock, VNC: d.As("one", "")})
	for name, end := range map[string]func(runtimeKey){
		"deleted":  func(k runtimeKey) { h.Client.Want(200, "DELETE", "/api/v1/keys/"+k.hash, "manager", "") },
		"disabled": func(k runtimeKey) { changeKey(h, k, `{"disabled":true}`) },
		"unscoped": func(k runtimeKey) { changeKey(h, k, `{"scopes":["chat:write"]}`) },
		"rotated":  func(k runtimeKey) { h.Client.Want(201, "POST", "/api/v1/keys/"+k.hash+"/rotate", "manager", "") },
		"rotated with a grace": func(k runtimeKey) {
			h.Client.Want(201, "POST", "/api/v1/keys/"+k.hash+"/rotate", "manager", `{"grace":"300ms"}`)
		},
		"expires earlier": func(k runtimeKey) {
			changeKey(h, k, `{"expires_at":"`+time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)+`"}`)
		},
	} {
		key := makeKey(h, "")
		a := h.Client.Send(requestWith(h, key, "/v1/workstations/one/vnc", "{}"))
		if a.Status != 200 {
			t.Fatalf("%s: %d %s", name, a.Status, a.Body)
		}
		url, _ := harness.At(harness.Parse(t, a.Body), "vnc_url").(string)
		w := h.VNC.View(harness.ParseAddress(url))
		viewer := w.ReadToEnd()
		end(key)
		harness.WantEnd(t, name, viewer)
	}
}

// A limit that lets nothing through is what its maker should learn at once.
func TestAKeyWithALimitThatNoModelCanKeepIsMadeWithAWarning(t *testing.T) {
	for name, c := range map[string]struct {
		start  func(*testing.T, harness.Setup) *harness.Gateway
		more   string
		warned string // "" for no warning
	}{
		"no price is known":       {harness.Start, `,"limit":5`, "unpriced allow in runtime_keys"},
		"without a limit":         {harness.Start, ``, ""},
		"a large limit of tokens": {harness.Start, `,"budgets":["16384 tokens/day"]`, ""},
		"a small limit of tokens": {harness.Start, `,"budgets":["16383 tokens/day"]`, "its budget 16383 tokens/day is smaller than what a call reserves that does not say " +
			"how long its answer may be, at least 16384 tokens"},
		"a small limit, softly":        {harness.Start, `,"budgets":["300 tokens/day soft"]`, ""},
		"a small limit for short ones": {harness.Start, `,"budgets":["300 tokens/day"],"max_output_tokens":300`, ""},
		"the models have a price":      {harness.StartPriced, `,"limit":5`, ""},
		"a small limit of money":       {harness.StartPriced, `,"limit":0.0001`, "set max_output_tokens, or a larger budget"},
	} {
		t.Run(name, func(t *testing.T) {
			h := c.start(t, harness.Setup{Keys: managerKeys, Options: runtimeBlock})
			body := harness.Parse(t, h.Client.Want(201, "POST", "/api/v1/keys", "manager", `{"name":"made"`+c.more+`}`).Body)
			warnings, _ := harness.At(body, "warnings").([]any)
			if len(warnings) > 1 || (c.warned == "") != (len(warnings) == 0) || len(warnings) == 1 && !strings.Contains(warnings[0].(string), c.warned) {
				t.Errorf("warnings %q", warnings)
			}
		})
	}
}
