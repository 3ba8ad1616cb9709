package operator

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Caddy's access log shows X-Api-Key and X-Goog-Api-Key, with which the SDKs of Anthropic and Google send
// their key, the subprotocol with which browsers do, and a key in the URL. The load says so, unless the log has the filter of the documentation.
func TestKeysInAnAccessLogAreWarnedOf(t *testing.T) {
	const headers = "request>headers>X-Api-Key delete\nrequest>headers>X-Goog-Api-Key delete\nrequest>headers>Sec-Websocket-Protocol delete\n"
	const all = headers + "request>uri query {\nreplace key REDACTED\n}\n"
	const filter = "format filter {\n" + all + "}\n"
	log := func(options string) string { return "log {\noutput gatehouse_test\n" + options + "}\n" }
	for _, c := range []struct {
		name, site, global string
		warned, shown      bool
	}{
		{"no log", "gatehouse", "", false, false},
		{"a log", log("format json\n") + "gatehouse", "", true, true},
		{"the default log", "log\ngatehouse", "", true, true},
		{"a filter", log(filter) + "gatehouse", "", false, false},
		{"a filter of all headers and the URL", log("format filter {\nrequest>headers delete\nrequest>uri delete\n}\n") + "gatehouse", "", false, false},
		{"a filter of the headers alone", log("format filter {\n"+headers+"}\n") + "gatehouse", "", true, true},
		{"a filter of another parameter", log("format filter {\n"+headers+"request>uri query {\nreplace token x\n}\n}\n") + "gatehouse", "", true, true},
		{"a filter that hashes the key", log("format filter {\n"+headers+"request>uri query {\nhash key\n}\n}\n") + "gatehouse", "", false, false},
		{"a filter of another header", log("format filter {\nrequest>headers>X-Key delete\n}\n") + "gatehouse", "", true, true},
		{"a filter of one of the headers", log("format filter {\nrequest>headers>X-Api-Key delete\n}\n") + "gatehouse", "", true, true},
		{
			"a filter without the subprotocols", log("format filter {\n"+strings.Replace(all, "request>headers>Sec-Websocket-Protocol delete\n", "", 1)+"}\n") + "gatehouse",
			"", true, true,
		},
		{"a filter in another spelling", log("format filter {\nrequest>headers>x-api-key delete\n}\n") + "gatehouse", "", true, true},
		{"a filter around it", log("format append {\nwrap filter {\n"+all+"}\nhost x\n}\n") + "gatehouse", "", false, false},
		{"no handler of ours", log("format json\n") + "respond ok", "", false, true},
		{"one endpoint", log("format json\n") + "handle /v1/* {\ngatehouse_messages\n}", "", true, true},
		{"a guarded backend", log("format json\n") + "route {\ngatehouse_auth\nrespond ok\n}", "", true, true},
		{"a second log without the filter", log(filter) + "gatehouse", "log all {\noutput gatehouse_test\ninclude http.log.access\n}\n", true, true},
		{"a second log of other things", log(filter) + "gatehouse", "log admin {\noutput gatehouse_test\ninclude admin\n}\n", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := harness.Start(t, harness.Setup{Site: c.site, Global: c.global})
			r := h.Client.Request("/v1/messages?%6Bey=gk-in-the-log-0123456789", "", `{}`)
			r.Header.Set("X-Api-Key", "gk-in-the-log-0123456789")
			r.Header.Set("X-Goog-Api-Key", "gk-in-the-log-0123456789")
			r.Header.Set("Sec-Websocket-Protocol", "realtime, openai-insecure-api-key.gk-in-the-log-0123456789")
			r.Header.Set("Anthropic-Version", "2023-06-01")
			_ = h.Client.Send(r)
			h.Stop()
			if warned := len(harness.Log.Lines("access log would show keys")) > 0; warned != c.warned {
				t.Errorf("warned: %v", warned)
			}
			if shown := strings.Contains(harness.Log.Text(), "gk-in-the-log"); shown != c.shown {
				t.Errorf("shown: %v", shown)
			}
		})
	}
}

var (
	logBlock       = regexp.MustCompile(`(?ms)^\tlog (default )?\{$.*?^\t\}$`)
	documentedFile = regexp.MustCompile(`output file .*`)
)

// The documented site has a host name. So requests for other hosts are in the default log, which needs
// the filter too.
func TestTheProductionCaddyfileLogsNoKeys(t *testing.T) {
	page, err := os.ReadFile("../../docs/production.md")
	if err != nil {
		t.Fatal(err)
	}
	found := logBlock.FindAllString(documentedFile.ReplaceAllString(string(page), "output gatehouse_test"), -1)
	if len(found) != 2 {
		t.Fatalf("docs/production.md has %d log blocks, want those of the server and of the site", len(found))
	}
	for _, c := range []struct {
		name, server string
		logged       bool
	}{
		{"as documented", found[0], false},
		{"filtered for the site alone", "log {\noutput gatehouse_test\n}", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			unlogged := harness.Setup{Site: "gatehouse"}
			h := harness.Start(t, unlogged)
			text := h.Caddyfile(unlogged)
			text = strings.Replace(text, logBlock.FindString(text), c.server, 1)
			text = strings.Replace(strings.Replace(text, "http://:", "http://ai.example.com:", 1), "bind 127.0.0.1", "bind 127.0.0.1\n"+found[1], 1)
			h.Stop() // a reload's old server may still take a request
			if err := h.Load(text); err != nil {
				t.Fatal(err)
			}
			r := h.Client.Request("/v1/messages?%6Bey=gk-in-the-log-0123456789", "", `{}`)
			r.Header.Set("X-Api-Key", "gk-in-the-log-0123456789")
			r.Header.Set("X-Goog-Api-Key", "gk-in-the-log-0123456789")
			_ = h.Client.Send(r)
			h.Stop()
			if warned := len(harness.Log.Lines("access log would show keys")) > 0; warned != c.logged {
				t.Errorf("warned: %v", warned)
			}
			if shown := strings.Contains(harness.Log.Text(), "gk-in-the-log"); shown != c.logged {
				t.Errorf("shown: %v", shown)
			}
		})
	}
}
