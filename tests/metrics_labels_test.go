package tests

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// What a client sends must not become series: each stays in memory for the life of the process.
func TestAClientCannotMakeSeries(t *testing.T) {
	h := start(t, setup{
		keys:    limitedKey("budget 100usd/day\nunpriced allow\nguardrails mask") + keyBlock("activity", ""),
		options: "guardrail mask {\nredact email\n}\nalias team/x fake/echo\n",
	})
	send := func(n int) {
		junk := fmt.Sprintf("junk%d", n)
		for _, path := range []string{chatV1, chatRouter, responsesV1, responsesOR, "/v1/messages", "/v1/embeddings"} {
			for _, body := range []string{
				bodyFor(path, "fake/"+junk, `,"max_tokens":5,"user":"`+junk+`","metadata":{"user_id":"`+junk+`"}`),
				bodyFor(path, junk+"/echo", ""), bodyFor(path, junk, ""), bodyFor(path, "team/"+junk, ""),
				bodyFor(path, "team/x", `,"models":["fake/`+junk+`"],"provider":{"order":["`+junk+`"]},"session_id":"`+junk+`"`),
				bodyFor(path, "fake/echo:"+junk, ""), bodyFor(path, "fake/echo@"+junk, ""),
				bodyFor(path, "fake/echo", `,"`+junk+`":1`), `{"` + junk,
			} {
				r := h.request(path, "full", body)
				r.Header.Set("X-Request-Id", junk)
				r.Header.Set("User-Agent", junk)
				r.Header.Set("X-Title", junk)
				h.send(r)
			}
		}
		for _, path := range []string{"/v1/" + junk, "/api/v1/" + junk, "/v1/models/" + junk, "/api/v1/generation?id=" + junk, "/v1/workstations/" + junk, "/" + junk} {
			h.get(path, "full")
			h.get(path, "")
			r := h.request(path, "", "")
			r.Method = strings.ToUpper(junk)
			r.Header.Set("Authorization", "Bearer "+junk)
			h.send(r)
			r = h.request(path, "full", "{}")
			r.Method = http.MethodPut
			h.send(r)
		}
	}
	count := func() (n int) {
		for line := range strings.Lines(string(h.get("/metrics", "").body)) {
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
