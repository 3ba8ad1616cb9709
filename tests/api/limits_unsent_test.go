package api

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A client that disconnects before the usage arrives has used all that the call refers to.
func TestStoredStateIsChargedToAClientThatDisconnects(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: harness.FullKey("budget 0.25usd/total\nmax_output_tokens 10")})
	first := h.Client.Post(harness.ResponsesV1, "full", `{"model":"private/echo","store":true,"input":"x"}`)
	id, _ := harness.At(harness.Parse(t, first.Body), "id").(string)
	body := `{"model":"private/stall","stream":true,"previous_response_id":"` + id + `","input":"x"}`
	passed := 0
	for range 5 { // each may use a context of 100,000 tokens, 0.1 USD
		s := h.Client.Open(h.Client.Request(harness.ResponsesV1, "full", body))
		if s.Response.StatusCode != http.StatusOK {
			break
		}
		for said := ""; said != "You said: "; said += textOf(t, s.MustNext()) {
		}
		passed++
		s.Disconnect()
		if !harness.Eventually(func() bool { return harness.Nano(t, h.Records.Key("full").Budgets[0].Reserved) == 0 }) {
			t.Fatal("not settled")
		}
	}
	if passed != 2 {
		t.Errorf("%d calls passed, %s spent", passed, h.Records.Key("full").Budgets[0].Spent)
	}
}

// When the client has read a refusal that did not wait for the upload, its record is written and
// its slot is free.
func TestARefusalIsSettledBeforeItsUploadEnds(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("concurrency 1\nmax_body 1KiB") + harness.Key("activity", "")})
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.Client.Origin, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(harness.WaitLimit))
	_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 10000000\r\n\r\n{\"model\":", harness.Secret("full"))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	if row := h.Records.Row(resp.Header.Get("X-Request-Id")); harness.At(row, "code") != "request_too_large" {
		t.Errorf("row %v", row)
	}
	if a := h.Client.Post(harness.ChatV1, "full", harness.Hello("fake/echo")); a.Status != http.StatusOK {
		t.Errorf("the next call: %d %s", a.Status, a.Body)
	}
}

// A call that asks for most of a budget is refused without an event.
func TestACallerCannotTriggerABudgetEvent(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: harness.FullKey("budget 1000000 tokens/total")})
	ask := func(output string) int {
		return h.Client.Post(harness.ChatV1, "full", `{"model":"fake/echo","max_tokens":`+output+`,"messages":[{"role":"user","content":"x"}]}`).Status
	}
	if ask("10") != http.StatusOK || ask("999920") != http.StatusPaymentRequired || ask("99999999") != http.StatusPaymentRequired {
		t.Fatal("want the first to pass and the others to be refused")
	}
	if jsontest.Has(t, harness.Log.Text(), `{"name":"budget_exhausted"}`) {
		t.Error("an event, though next to nothing is spent")
	}
}
