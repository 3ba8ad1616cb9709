package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/admin"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// operate does what an operator does at the admin API.
func operate(t *testing.T, method, path string) (status int, body string) {
	t.Helper()
	for _, route := range (admin.API{}).Routes() {
		mux := http.NewServeMux()
		mux.HandleFunc(route.Pattern, func(w http.ResponseWriter, r *http.Request) { _ = route.Handler.ServeHTTP(w, r) })
		w := httptest.NewRecorder()
		if _, pattern := mux.Handler(httptest.NewRequest(method, path, nil)); pattern == "" {
			continue
		}
		mux.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code, w.Body.String()
	}
	t.Fatalf("no route %s", path)
	return 0, ""
}

// What a person has open ends with what an operator does, however the person has signed in.
func TestAnOperatorEndsWhatIsOpen(t *testing.T) {
	t.Setenv("SIGN_IN_CLIENT", identitytest.ClientSecret)
	t.Setenv("SIGN_IN_SECRET", strings.Repeat("s", 32))
	issuer := identitytest.Start(t)
	h := harness.Prepare(t)
	options := strings.Replace(signInOptions(issuer.URL, h.Ports.Origin(), ""), "client "+identitytest.ClientID, "audience gatehouse\nclient "+identitytest.ClientID, 1)
	options = strings.ReplaceAll(options, "scopes chat:write", "scopes workstations:connect chat:write")
	machine := harness.NewVNCServer(t, harness.NoSecurity)
	if err := h.Reload(harness.Setup{Options: options, VNC: machine.As("one", ""), Site: "gatehouse_console\ngatehouse"}); err != nil {
		t.Fatal(err)
	}
	h.VNC.Ready()
	ann := map[string]any{"groups": []string{"ai-users"}, "email": "ann@example.com", "email_verified": true}
	issuer.SignIn("ann", ann)
	browser := newProgram(t, h.Ports.Origin())
	atConsole := func() bool {
		return strings.Contains(browser.browse(http.MethodGet, h.Ports.Origin()+"/console/you", nil), "ann@example.com")
	}
	program := func(*testing.T) string {
		access, _ := newProgram(t, h.Ports.Origin()).signIn()
		return access
	}
	jwt := func(*testing.T) string { return issuer.Token("ann", "gatehouse", ann) }
	for name, c := range map[string]struct {
		token        func(*testing.T) string
		method, what string
	}{
		"end, of a program":   {program, http.MethodDelete, ""},
		"block, of a program": {program, http.MethodPut, "/block"},
		"block, of a JWT":     {jwt, http.MethodPut, "/block"},
		"end, of a JWT":       {jwt, http.MethodDelete, ""},
	} {
		t.Run(name, func(t *testing.T) {
			token := c.token(t)
			issue := func() harness.Answer { return bearer(h, "/v1/workstations/one/vnc", token, "{}") }
			a, unused := issue(), issue()
			key, _ := harness.At(h.Records.Row(a.Header.Get("X-Request-Id")), "key").(string)
			if a.Status != 200 || unused.Status != 200 || key == "" {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			address := func(a harness.Answer) harness.Address {
				url, _ := harness.At(harness.Parse(t, a.Body), "vnc_url").(string)
				return harness.ParseAddress(url)
			}
			if browser.browse(http.MethodGet, h.Ports.Origin()+"/console/sign-in/idp", nil); !atConsole() {
				t.Fatal("nobody is signed in to the console")
			}
			desktop := h.VNC.View(address(a))
			if status, body := operate(t, c.method, "/gatehouse/sign-ins/"+key+c.what); status != 200 {
				t.Fatalf("%d %s", status, body)
			}
			if !harness.EndsWithin(desktop, time.Second) {
				t.Error("the desktop stays open")
			}
			if atConsole() {
				t.Error("the session at the console goes on")
			}
			if c.what != "" {
				if status, body := operate(t, http.MethodDelete, "/gatehouse/sign-ins/"+key+c.what); status != 204 {
					t.Fatalf("%d %s", status, body)
				}
			}
			if atConsole() {
				t.Error("the session at the console comes back")
			}
			h.VNC.WaitClosed()
			c.token(t)
			if w := h.VNC.TLSFirst(address(unused).Host).Accepted(); w.Err == nil {
				t.Error("an address of before lets in who may come again")
			}
		})
	}
}

// Off-boarding: what a person has made is listed, and ends by the same command, at once.
func TestKeysOfAPersonEndWithThePerson(t *testing.T) {
	issuer := identitytest.Start(t)
	options := "runtime_keys {\nscopes chat:write\nmodels fake/echo\n}\n" + strings.Replace(identityOptions(issuer.URL), "scopes chat:write models:read", "scopes keys:manage chat:write models:read", 1)
	h := harness.Start(t, harness.Setup{Options: options})
	token := func(who string) string {
		return issuer.Token(who, "gatehouse", map[string]any{"groups": []string{"ai-users"}, "email": who + "@example.com", "email_verified": true})
	}
	makes := func(who, name string) (secret string) {
		t.Helper()
		a := bearer(h, "/api/v1/keys", token(who), `{"name":"`+name+`"}`)
		if a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return jsontest.String(t, string(a.Body), "key")
	}
	of := map[string]string{"ann's": makes("ann", "one"), "ann's second": makes("ann", "two"), "bob's": makes("bob", "three")}
	works := func(whose string) int {
		return bearer(h, harness.ChatV1, of[whose], harness.Chat("fake/echo", "")).Status
	}
	h.Become(harness.Setup{Options: options + "\nmodel fake/echo {\nrate 1000/min\n}"})
	made := func() map[string]int {
		t.Helper()
		var listed struct {
			Makers []struct {
				User string
				Keys int
			}
		}
		_, body := operate(t, http.MethodGet, "/gatehouse/sign-ins")
		if err := json.Unmarshal([]byte(body), &listed); err != nil {
			t.Fatal(err)
		}
		all := map[string]int{}
		for _, m := range listed.Makers {
			all[m.User] = m.Keys
		}
		return all
	}
	if all := made(); len(all) != 2 || all["ann@example.com"] != 2 || all["bob@example.com"] != 1 {
		t.Error(all)
	}
	if works("ann's") != 200 || works("ann's second") != 200 || works("bob's") != 200 {
		t.Fatal("a key is not good")
	}
	if status, body := operate(t, http.MethodPut, "/gatehouse/sign-ins/ann@example.com/block"); status != 200 || !jsontest.Has(t, body, `{"keys":2}`) {
		t.Errorf("%d %s", status, body)
	}
	if one, two, other := works("ann's"), works("ann's second"), works("bob's"); one != 401 || two != 401 || other != 200 {
		t.Errorf("%d, %d, %d", one, two, other)
	}
	if a := bearer(h, "/api/v1/keys", token("ann"), `{"name":"four"}`); a.Status != 401 {
		t.Errorf("who is kept out makes a key: %d %s", a.Status, a.Body)
	}
	if status, body := operate(t, http.MethodDelete, "/gatehouse/sign-ins/bob@example.com"); status != 200 || !jsontest.Has(t, body, `{"keys":1}`) || works("bob's") != 401 {
		t.Errorf("%d %s", status, body)
	}
	if all := made(); len(all) != 0 {
		t.Error(all)
	}
}
