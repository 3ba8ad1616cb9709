package vnclocal

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAKeyIsNotSentInClear(t *testing.T) {
	for address, want := range map[string]string{
		"https://gateway.example.com":      "",
		"https://gateway.example.com/desk": "",
		"http://127.0.0.1:8080":            "",
		"http://localhost:8080":            "",
		"http://ai.localhost":              "",
		"http://[::1]:8080":                "",
		"http://gateway.example.com":       "in clear",
		"http://localhost.example.com":     "in clear",
		"http://10.0.0.1":                  "in clear",
		"gateway.example.com":              "not the address of a gateway",
		"ftp://gateway.example.com":        "not the address of a gateway",
		"https://":                         "not the address of a gateway",
	} {
		_, err := New(address, "gh-key")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	if _, err := New("https://gateway.example.com", ""); err == nil {
		t.Error("an empty key is taken")
	}
}

// What a gateway may answer, and what is behind an address that is none.
func TestIssueSaysWhatIsWrong(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		status       int
		body, header string
		want         string // of the error; "": none
	}{
		"an address":    {200, `{"workstation_id":"desk 1","vnc_url":"abc.vnc.example.com:5900"}`, "", ""},
		"a refusal":     {409, `{"error":{"message":"in use\u001b[2J","code":"workstation_occupied"}}`, "", "the gateway refuses: in use [2J"},
		"no gateway":    {404, `<html>`, "", "no gateway's answer"},
		"a redirect":    {302, ``, "https://elsewhere.example", "no gateway's answer"},
		"no address":    {200, `{"vnc_url":"nonsense"}`, "", "missing port"},
		"a long answer": {200, `"` + strings.Repeat("x", 2*maxAnswer) + `"`, "", "no gateway's answer"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if r.Method != http.MethodPost || r.URL.EscapedPath() != "/desk/v1/workstations/desk%201/vnc" || r.Header.Get("Authorization") != "Bearer gh-key" ||
				string(body) != `{"view_only":true}` {
				t.Errorf("%s: %s %s %s %v", name, r.Method, r.URL.EscapedPath(), body, r.Header)
			}
			if c.header != "" {
				w.Header().Set("Location", c.header)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		g, err := New(server.URL+"/desk/", "gh-key")
		if err != nil {
			t.Fatal(err)
		}
		a, err := g.Issue(t.Context(), "desk 1", Order{ViewOnly: &yes})
		server.Close()
		switch {
		case c.want == "" && (err != nil || a != Address{"desk 1", "abc.vnc.example.com", "5900"} || a.token() != "abc"):
			t.Errorf("%s: %+v, %v", name, a, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestPasswordsAreOfTheLengthThatCounts(t *testing.T) {
	one, other := NewPassword(), NewPassword()
	if len(one) != passwordLength || one == other {
		t.Errorf("%q and %q", one, other)
	}
}
