package operator

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// What a client sends must not become series: each stays in memory for the life of the process.
func TestAClientCannotMakeSeries(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys:    harness.FullKey("budget 100usd/day\nunpriced allow\nguardrails mask") + harness.Key("activity", ""),
		Options: "guardrail mask {\nredact email\n}\nalias team/x fake/echo\n",
	})
	send := func(n int) {
		junk := fmt.Sprintf("junk%d", n)
		for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter, "/v1/messages", "/v1/embeddings"} {
			for _, body := range []string{
				harness.Body(path, "fake/"+junk, `,"max_tokens":5,"user":"`+junk+`","metadata":{"user_id":"`+junk+`"}`),
				harness.Body(path, junk+"/echo", ""), harness.Body(path, junk, ""), harness.Body(path, "team/"+junk, ""),
				harness.Body(path, "team/x", `,"models":["fake/`+junk+`"],"provider":{"order":["`+junk+`"]},"session_id":"`+junk+`"`),
				harness.Body(path, "fake/echo:"+junk, ""), harness.Body(path, "fake/echo@"+junk, ""),
				harness.Body(path, "fake/echo", `,"`+junk+`":1`), `{"` + junk,
			} {
				r := h.Client.Request(path, "full", body)
				r.Header.Set("X-Request-Id", junk)
				r.Header.Set("User-Agent", junk)
				r.Header.Set("X-Title", junk)
				h.Client.Send(r)
			}
		}
		for _, path := range []string{"/v1/" + junk, "/api/v1/" + junk, "/v1/models/" + junk, "/api/v1/generation?id=" + junk, "/v1/workstations/" + junk, "/" + junk} {
			h.Client.Get(path, "full")
			h.Client.Get(path, "")
			r := h.Client.Request(path, "", "")
			r.Method = strings.ToUpper(junk)
			r.Header.Set("Authorization", "Bearer "+junk)
			h.Client.Send(r)
			r = h.Client.Request(path, "full", "{}")
			r.Method = http.MethodPut
			h.Client.Send(r)
		}
	}
	count := func() (n int) {
		for line := range strings.Lines(string(h.Client.Get("/metrics", "").Body)) {
			if strings.HasPrefix(line, "gatehouse_") {
				n++
			}
			if strings.Contains(line, "junk") {
				t.Error(line)
			}
		}
		return n
	}
	send(0)
	before := count()
	for n := range 5 {
		send(n + 1)
	}
	if after := count(); after != before || before < 100 {
		t.Errorf("%d series became %d", before, after)
	}
}
