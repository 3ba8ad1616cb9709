package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTheCommandShowsServersAndTheirTools(t *testing.T) {
	answers := map[string]string{
		"/gatehouse/mcp": `[{"id":"demo","object":"mcp_server","url":"/mcp/demo","status":"ok","last_error":null,"since":"2026-03-18T12:00:00Z","in_flight":2},
			{"id":"files","object":"mcp_server","url":"/mcp/files","status":"failing","last_error":"upstream_timeout","since":"2026-03-18T12:01:00Z","in_flight":0},
			{"id":"new","object":"mcp_server","url":"/mcp/new","status":"unknown","last_error":null,"since":null,"in_flight":0}]`,
		"/gatehouse/mcp?server=demo": `{"id":"demo","version":"2026-07-28","tools":[{"name":"ec\u001bho","description":"Returns\n the text.","allowed":true,"cost_usd":"0.01"},
			{"name":"long","title":"T","description":"` + strings.Repeat("é", 100) + `","allowed":false,"cost_usd":"0"},{"name":"bare","allowed":true,"cost_usd":"0"}]}`,
		"/gatehouse/mcp?server=empty": `{"id":"empty","version":"2025-06-18","tools":[]}`,
	}
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, answers[r.URL.RequestURI()]) }))
	defer admin.Close()
	for server, want := range map[string]string{
		"": "SERVER  STATE    SINCE                 UNDER WAY  LAST FAILURE\n" +
			"demo    ok       2026-03-18T12:00:00Z  2          -\n" +
			"files   failing  2026-03-18T12:01:00Z  0          upstream_timeout\n" +
			"new     unknown  -                     0          -\n",
		"demo": "TOOL   ALLOWED  USD   WHAT IT DOES\n" +
			"ec\ufffdho  yes      0.01  Returns the text.\n" +
			"long   no       0     T " + strings.Repeat("é", 77) + "…\n" +
			"bare   yes      0     -\n",
		"empty": "The server has no tools.\n",
	} {
		var out strings.Builder
		o := operator{address: strings.TrimPrefix(admin.URL, "http://"), out: &out}
		err := listServers(&o)
		if server != "" {
			out.Reset()
			err = listTools(&o, server)
		}
		if err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", server, err, out.String(), want)
		}
	}
}
