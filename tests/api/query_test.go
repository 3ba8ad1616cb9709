package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A parameter that is not understood must not widen the answer.
func TestAQueryThatIsNotUnderstoodIsRefused(t *testing.T) {
	h := harness.Start(t, harness.Setup{VNC: "workstation desk1 127.0.0.1:5901", Keys: harness.DefaultKeys})
	h.Client.Post(harness.ChatV1, "full", harness.Chat("test/echo", ""))
	for _, c := range []struct{ path, key, code, text string }{
		{"/api/v1/activity?model=x;y", "full", "invalid_value", "malformed"},
		{"/api/v1/activity?model=%zz", "full", "invalid_value", "malformed"},
		{"/api/v1/activity?colour=x", "full", "unsupported_parameter", `unknown parameter \"colour\"; this route takes api_key_hash, code, cursor, date`},
		{"/api/v1/activity?limit=1&", "full", "", ""},
		{"/api/v1/activity?date=2026-11-20&api_key_hash=" + strings.Repeat("ab", 32) + "&user_id=u&group_by=workspace&workspace_id=w", "full", "", ""},
		{"/api/v1/generation?id=a;b", "full", "invalid_value", "malformed"},
		{"/api/v1/generation?id=a&x=" + strings.Repeat("y", 300), "full", "unsupported_parameter", `"x\"; this route takes id`},
		{"/api/v1/generation?i=a", "full", "unsupported_parameter", `"i\"`},
		{"/api/v1/key?name=other", "full", "unsupported_parameter", "takes none"},
		{"/api/v1/key?%ff=1", "full", "unsupported_parameter", "takes none"},
		{"/api/v1/key?%", "full", "invalid_value", "malformed"},
		{"/api/v1/models?offset=1;limit=2", "full", "invalid_value", "malformed"},
		{"/api/v1/models?category=programming&supported_parameters=tools", "full", "", ""},
		{"/v1/models?client_version=0.169.0", "full", "", ""},
		{"/v1/models?a;b", "full", "invalid_value", "malformed"},
		{"/v1/workstations?owner=other", "desk", "unsupported_parameter", `"owner\"; this route takes tenant`},
		{"/v1/workstations/desk1/sessions?open=1", "desk", "unsupported_parameter", "takes none"},
	} {
		a := h.Client.Get(c.path, c.key)
		if c.code == "" {
			if a.Status != 200 {
				t.Errorf("%s: %d %s", c.path, a.Status, a.Body)
			}
			continue
		}
		harness.WantRefusal(t, c.path, a, 400, c.code)
		if !strings.Contains(string(a.Body), strings.TrimPrefix(c.text, `"`)) {
			t.Errorf("%s: %s", c.path, a.Body)
		}
	}
}
