package modelcall

import (
	"maps"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

// namedBy makes a call with more members and header fields, and returns the end user and the app of
// its row.
func namedBy(t *testing.T, members string, header map[string]string, change ...func(*rig)) (endUser, app string) {
	t.Helper()
	r := newRig(t, answering(200, chatAnswerBody), change...)
	body := strings.Replace(hello, "{", "{"+members, 1)
	req := post(strings.NewReader(body), int64(len(body)))
	for name, value := range header {
		req.Header.Set(name, value)
	}
	c := r.beginWith(t, httptest.NewRecorder(), req)
	_ = c.admit(t.Context())
	c.req.Finish()
	rows := r.rows(t)
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows[0].EndUser, rows[0].App
}

func TestARowHasTheEndUserThatTheCallerNames(t *testing.T) {
	const (
		account = "0b8ff0a4-9a55-4d0c-8ef8-5ec4a4e4d23f"
		device  = "4e0f7a22d1f6850cc06691640d686548a161ccf49abbaaa3d903eb28e7214517"
		session = "d9d9cf08-b69d-4912-9300-f43b406a12f5"
	)
	claudeCode := func(device, account, session string) string {
		return `"metadata":{"user_id":"{\"device_id\":\"` + device + `\",\"account_uuid\":\"` + account + `\",\"session_id\":\"` + session + `\"}"},`
	}
	older := func(device, account, session string) string {
		return `"metadata":{"user_id":"user_` + device + `_account_` + account + `_session_` + session + `"},`
	}
	for name, c := range map[string]struct{ members, want string }{
		"none":                            {"", ""},
		"OpenAI's field":                  {`"user":"customer-7",`, "customer-7"},
		"OpenAI's newer field":            {`"safety_identifier":"customer-8",`, "customer-8"},
		"both":                            {`"safety_identifier":"customer-8","user":"customer-7",`, "customer-7"},
		"an empty one before another":     {`"user":"","safety_identifier":"customer-8",`, "customer-8"},
		"Anthropic's field":               {`"metadata":{"a":1,"user_id":"customer-9"},`, "customer-9"},
		"metadata without it":             {`"metadata":{"a":"b"},`, ""},
		"metadata that is no object":      {`"metadata":null,`, ""},
		"a number":                        {`"user":7,`, ""},
		"one that is cut":                 {`"user":"` + strings.Repeat("x", 300) + `",`, strings.Repeat("x", 256)},
		"one that is too long":            {`"user":"` + strings.Repeat("x", maxUser) + `",`, ""},
		"the caller's key":                {`"user":"` + secret + `",`, "[redacted]"},
		"an object that is no account":    {`"metadata":{"user_id":"{\"id\":1}"},`, `{"id":1}`},
		"a text that only looks like one": {`"metadata":{"user_id":"user_session_1"},`, "user_session_1"},
	} {
		if got, _ := namedBy(t, c.members, nil); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	one, _ := namedBy(t, claudeCode(device, account, session), nil)
	for name, members := range map[string]string{
		"another session": claudeCode(device, account, account), "another device": claudeCode(session, account, session), "an older version": older(device, account, session),
	} {
		if got, _ := namedBy(t, members, nil); got != one {
			t.Errorf("the same account, %s: %q, want %q", name, got, one)
		}
	}
	alone, _ := namedBy(t, claudeCode(device, "", session), nil)
	if old, _ := namedBy(t, older(device, "", session), nil); !strings.HasPrefix(old, "claude-code-") {
		t.Errorf("an older device without an account is %q", old)
	}
	for _, got := range []string{one, alone} {
		if !strings.HasPrefix(got, "claude-code-") || strings.Contains(got, account) || strings.Contains(got, device) || len(got) != len("claude-code-")+16 {
			t.Errorf("the account is shown: %q", got)
		}
	}
	if one == alone {
		t.Errorf("an account and a device are the same: %q", one)
	}
}

func TestARowHasTheAppThatTheCallerNames(t *testing.T) {
	const referer = "https://jo:pw@acme.example/chat?q=secret#part"
	for name, c := range map[string]struct {
		header map[string]string
		want   string
	}{
		"none":                    {nil, ""},
		"its name":                {map[string]string{"X-Title": "Acme Chat", "HTTP-Referer": referer}, "Acme Chat"},
		"OpenRouter's newer one":  {map[string]string{"X-OpenRouter-Title": "Acme", "X-Title": "Chat"}, "Acme"},
		"its address":             {map[string]string{"HTTP-Referer": referer}, "https://acme.example/chat"},
		"an address that is none": {map[string]string{"HTTP-Referer": "acme"}, ""},
		"the caller's key":        {map[string]string{"X-Title": "app " + secret}, "app [redacted]"},
	} {
		if _, got := namedBy(t, "", c.header); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestARowHasNoEndUserWhereThatIsOff(t *testing.T) {
	user, app := namedBy(t, `"user":"customer-7",`, map[string]string{"X-Title": "Acme"}, func(r *rig) { r.NoEndUser = true })
	if user+app != "" {
		t.Errorf("%q and %q are kept", user, app)
	}
}

// What guardrails take out of a request, or refuse, is in no row.
func TestARowHasTheEndUserAsGuardrailsLeaveIt(t *testing.T) {
	got := map[judge.Action]string{}
	for _, action := range []judge.Action{judge.Redact, judge.Deny} {
		got[action], _ = namedBy(t, `"user":"mellon",`, nil, guarded(words(t, action, guardrail.Input)))
	}
	if want := map[judge.Action]string{judge.Redact: "[REDACTED:words]", judge.Deny: ""}; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if user, _ := namedBy(t, `"user":"jo",`, nil, guarded(words(t, judge.Redact, guardrail.Input))); user != "jo" {
		t.Errorf("nothing was taken out: %q", user)
	}
}
