package console

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// ordering returns a visit of the desktop page's program with this body.
func ordering(t *testing.T, body string, api http.HandlerFunc) *visit {
	t.Helper()
	v := visiting(t, api)
	v.r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, Prefix+"/workstations/desk%20one/desktop", strings.NewReader(body))
	v.r.SetPathValue("id", "desk one")
	return v
}

// answered is what the visit has answered.
func answered(t *testing.T, v *visit) (status int, answer string) {
	t.Helper()
	w := v.w.(*httptest.ResponseRecorder)
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type: %q", got)
	}
	return w.Code, w.Body.String()
}

func TestAnOrderOfADesktopIsForOneConnection(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                 `{"expires_in":30,"once":true,"shared":false,"take_over":false}`,
		`{"shared":true}`:    `{"expires_in":30,"once":true,"shared":true,"take_over":false}`,
		`{"take_over":true}`: `{"expires_in":30,"once":true,"shared":false,"take_over":true}`,
		`{"join":true}`:      `{"expires_in":30,"once":true,"shared":true,"take_over":false,"view_only":true}`,
	} {
		v := ordering(t, body, func(w http.ResponseWriter, r *http.Request) {
			sent, _ := io.ReadAll(r.Body)
			if r.Method != http.MethodPost || r.URL.EscapedPath() != "/v1/workstations/desk%20one/vnc" || string(sent) != want {
				t.Errorf("%s %s %s, want %s", r.Method, r.URL, sent, want)
			}
			_, _ = io.WriteString(w, `{"vnc_url":"abc.vnc.example.com:5900","session":{"view_only":true}}`)
		})
		if err := orderDesktop(v); err != nil {
			t.Error(err)
		}
		if status, answer := answered(t, v); status != http.StatusOK || answer != `{"token":"abc","name":"ba7816bf8f01","view_only":true}` {
			t.Errorf("%d %s", status, answer)
		}
	}
}

func TestAnOrderThatMustWaitSaysWhatItCanDo(t *testing.T) {
	const refused = `{"error":{"code":"workstation_occupied","message":"somebody has it","details":{"joinable":%s,"sessions":[{"own":%s}]}}}`
	for name, test := range map[string]struct {
		joinable, own string
		manages       bool
		want          string
	}{
		"of others":     {"false", "false", false, `"may_take_over":false,"may_join":false`},
		"own":           {"false", "true", false, `"may_take_over":true,"may_join":false`},
		"shared":        {"true", "false", false, `"may_take_over":false,"may_join":true`},
		"for a manager": {"false", "false", true, `"may_take_over":true,"may_join":false`},
	} {
		v := ordering(t, `{}`, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, strings.Replace(strings.Replace(refused, "%s", test.joinable, 1), "%s", test.own, 1))
		})
		if test.manages {
			v.caller.Key.Scopes = keys.WorkstationsManage
		}
		if err := orderDesktop(v); err != nil {
			t.Error(err)
		}
		want := `{"error":{"code":"workstation_occupied","message":"Somebody has it.",` + test.want + `}}`
		if status, answer := answered(t, v); status != http.StatusConflict || answer != want {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
}

// The page that comes back ends its own connection, and no other one of the key.
func TestAnOrderEndsThePagesLastSession(t *testing.T) {
	const token, name = "abcdefghijklmnopqrstuvwxyz", "71c480df93d6"
	var asked []string
	v := ordering(t, `{"previous":"`+token+`"}`, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		switch {
		case r.Method == http.MethodGet:
			_ = json.NewEncoder(w).Encode(map[string]any{"data": []map[string]string{
				{"session_id": "vnc-1", "token": "000000000000"}, {"session_id": "vnc-2", "token": name},
			}})
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":{"code":"not_found","message":"it has ended"}}`)
		default:
			_, _ = io.WriteString(w, `{"vnc_url":"new.vnc.example.com:5900"}`)
		}
	})
	if err := orderDesktop(v); err != nil {
		t.Error(err)
	}
	want := "GET /v1/sessions?key=dev&workstation=desk+one, DELETE /v1/sessions/vnc-2, POST /v1/workstations/desk%20one/vnc"
	if got := strings.Join(asked, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if status, answer := answered(t, v); status != http.StatusOK || !jsontest.Has(t, answer, `{"token":"new"}`) {
		t.Errorf("%d %s", status, answer)
	}
}

func TestAnOrderThatIsNoneIsRefused(t *testing.T) {
	for _, body := range []string{"", "x", strings.Repeat(" ", maxOrder) + "{}"} {
		v := ordering(t, body, func(http.ResponseWriter, *http.Request) { t.Error("a public route was asked") })
		if err := orderDesktop(v); err != nil {
			t.Error(err)
		}
		if status, _ := answered(t, v); status != http.StatusBadRequest {
			t.Errorf("%.10q: %d", body, status)
		}
	}
}

func TestThePageOfADesktop(t *testing.T) {
	for state, want := range map[string]string{
		"available": `data-start="/console/workstations/desk%20%3Cb%3E/desktop" data-socket="/console/socket" data-control="/console/workstations/desk%20%3Cb%3E/control" data-name="desk &lt;b&gt;"`,
		"released":  "This workstation is released",
	} {
		v := visiting(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, `{"state":"`+state+`"}`) })
		v.r.SetPathValue("id", "desk <b>")
		if err := showDesktop(v); err != nil {
			t.Fatal(err)
		}
		if page := v.w.(*httptest.ResponseRecorder).Body.String(); !strings.Contains(page, want) {
			t.Errorf("%s: no %s in %s", state, want, page)
		}
	}
}

func TestAnAddressForAnotherViewerIsShownOnce(t *testing.T) {
	v := visiting(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"state":"available","vnc_url":"abc.vnc.example.com:5900","expires_at":"2026-01-02T03:04:05Z"}`)
	})
	v.r.SetPathValue("id", "desk")
	if err := showAddress(v); err != nil {
		t.Fatal(err)
	}
	page := v.w.(*httptest.ResponseRecorder).Body.String()
	if !strings.Contains(page, "vncviewer abc.vnc.example.com:5900</pre>") || !strings.Contains(page, "2026-01-02T03:04:05") {
		t.Error(page)
	}
}
