package vnc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// The handler and the matcher as Caddy loads them, with the gatehouse app.
func TestModulesAreProvisioned(t *testing.T) {
	const vnc = `,"vnc":{"domain":"vnc.test","workstations":[{"name":"one","address":"10.0.0.7:5900"}]}`
	const missing = "the option vnc { … } of the global option gatehouse is missing"
	for name, c := range map[string]struct{ vnc, handler, want string }{
		"good":                    {vnc, `"max_pending":7,"connection_policies":[{"match":{"vnc_token":{}}}]`, ""},
		"no vnc block":            {"", `"max_pending":7`, missing},
		"no vnc block, a matcher": {"", `"connection_policies":[{"match":{"vnc_token":{}}}]`, missing},
		"a negative limit":        {vnc, `"max_pending":-1`, "vnc: a negative limit"},
		"a bad connection policy": {vnc, `"connection_policies":[{"protocol_min":"tls9"}]`, "vnc: connection policies: "},
	} {
		t.Run(name, func(t *testing.T) {
			var config caddy.Config
			text := fmt.Sprintf(`{"storage":{"module":"file_system","root":%q},"logging":{"logs":{"default":{"level":"PANIC"}}},"apps":{
				"gatehouse":{"data_dir":%q%s},
				"layer4":{"servers":{"vnc":{"listen":["127.0.0.1:0"],"routes":[{"handle":[{"handler":"vnc",%s}]}]}}}}}`,
				t.TempDir(), t.TempDir(), c.vnc, c.handler)
			if err := json.Unmarshal([]byte(text), &config); err != nil {
				t.Fatal(err)
			}
			err := caddy.Validate(&config)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
