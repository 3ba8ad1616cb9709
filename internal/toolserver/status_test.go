package toolserver_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/demo"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// threeServers are a, which has the tools of the built-in one, b, which refuses, and c.
func threeServers(t *testing.T) *toolserver.Servers {
	t.Helper()
	refuses := &transport{answer: func(*http.Request) (*http.Response, error) { return answer(http.StatusUnauthorized), nil }}
	var all []*toolserver.Server
	for name, transport := range map[string]http.RoundTripper{"b": refuses, "a": demo.New(time.Now), "c": new(transport)} {
		s, err := toolserver.New(toolserver.Config{
			Name: name, URL: "https://" + name + ".invalid/mcp", Transport: transport, Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
			Tools: toolserver.Rights{Deny: []string{"error"}}, Prices: []toolserver.Price{{Pattern: "ti*", Nano: 2_500_000}},
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	servers, err := toolserver.NewServers(all)
	if err != nil {
		t.Fatal(err)
	}
	return servers
}

func TestServersAreListedWithWhatTheirRequestsHaveShown(t *testing.T) {
	servers := threeServers(t)
	servers.Named("a").Succeeded()
	servers.Named("b").Failed("upstream_timeout")
	defer servers.Named("b").Begin()()
	got, err := json.Marshal(servers.Status(func(server string) bool { return server != "c" }))
	const want = `[{"id":"a","object":"mcp_server","url":"/mcp/a","status":"ok","last_error":null,"since":"2027-01-15T08:00:00Z","in_flight":0},` +
		`{"id":"b","object":"mcp_server","url":"/mcp/b","status":"failing","last_error":"upstream_timeout","since":"2027-01-15T08:00:00Z","in_flight":1}]`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if all := servers.Status(nil); len(all) != 3 || all[2].Status != "unknown" || all[2].Since != nil {
		t.Errorf("all are %+v", all)
	}
	if got, err := json.Marshal((*toolserver.Servers)(nil).Status(nil)); err != nil || string(got) != "[]" {
		t.Errorf("without servers: %s, %v", got, err)
	}
}

func TestOperatorsSeeTheToolsOfAServer(t *testing.T) {
	servers := threeServers(t)
	list, err := servers.Tools(t.Context(), "a", unchanged)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(list)
	for _, want := range []string{
		`{"id":"a","version":"2026-07-28","tools":[{"name":"echo","description":"Returns the text.","allowed":true,"cost_usd":"0"},`,
		`{"name":"time","description":"Returns the time in UTC.","allowed":true,"cost_usd":"0.0025"}`, `{"name":"error","description":"Always fails.","allowed":false,"cost_usd":"0"}`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for server, want := range map[string]apierror.Code{"none": apierror.NotFound, "b": apierror.UpstreamError} {
		var refusal *apierror.Error
		if _, err := servers.Tools(t.Context(), server, unchanged); !errors.As(err, &refusal) || refusal.Code != want || !strings.Contains(refusal.Message, server) {
			t.Errorf("%s: %v", server, err)
		}
	}
}

func unchanged(text string) string { return text }
