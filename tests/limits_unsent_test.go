package tests

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A call that no provider received is not charged: an outage does not use up budgets.
func TestAProviderThatCannotBeReachedCostsNothing(t *testing.T) {
	h := prepare(t)
	h.writeCatalog()
	unreachable := "provider dead {\nbase_url http://127.0.0.1:1/v1\nmodels *\ndiscover off\n}\nprovider notls {\nbase_url https://" + strings.TrimPrefix(h.provider, "http://") + "/v1\nmodels *\ndiscover off\n}\n"
	if err := h.reload(setup{
		keys:      limitedKey("budget 10usd/total\nmax_output_tokens 100") + keyBlock("activity", ""),
		providers: defaultProviders + unreachable, options: "catalog DIR/prices.json",
	}); err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"dead/echo", "notls/echo", "fake/redirect-307"} {
		for _, more := range []string{"", streaming} {
			a := h.post(chatV1, "full", `{"model":"`+model+`","messages":[{"role":"user","content":"`+strings.Repeat("word ", 3000)+`"}]`+more+`}`)
			wantRefusal(t, chatV1, a, 502, "upstream_error")
			if row := h.row(a.header.Get("X-Request-Id")); at(row, "usage_source") != "none" {
				t.Errorf("%s: row %v", model, row)
			}
			if b := h.keyInfo("full").Budgets[0]; nano(t, b.Spent) != 0 || nano(t, b.Reserved) != 0 {
				t.Fatalf("%s: %s spent, %s reserved", model, b.Spent, b.Reserved)
			}
		}
	}
}

// A provider that fails before its first word has charged nothing, whatever the status is.
func TestAFailureBeforeTheFirstWordCostsNothing(t *testing.T) {
	h := startPriced(t, setup{keys: limitedKey("budget 10usd/total\nmax_output_tokens 100") + keyBlock("activity", "")})
	for _, path := range []string{chatV1, chatRouter, responsesV1} {
		for _, model := range []string{"private/err-first-event", "private/empty", "private/response-failed"} {
			if model == "private/response-failed" && path != responsesV1 {
				continue // it fails after its first words there
			}
			for _, more := range []string{"", streaming} {
				if model == "private/response-failed" && more != "" {
					continue
				}
				s := h.open(h.request(path, "full", bodyFor(path, model, more)))
				_, _ = s.rest()
				if row := h.rowSoon("request_id=" + s.resp.Header.Get("X-Request-Id")); at(row, "usage_source") != "none" || at(row, "code") == "" {
					t.Errorf("%s, %s%s: row %v", path, model, more, row)
				}
			}
		}
	}
	if b := h.keyInfo("full").Budgets[0]; nano(t, b.Spent) != 0 || nano(t, b.Reserved) != 0 {
		t.Errorf("%s spent, %s reserved", b.Spent, b.Reserved)
	}
}

// A client that disconnects before the usage arrives has used all that the call refers to.
func TestStoredStateIsChargedToAClientThatDisconnects(t *testing.T) {
	h := startPriced(t, setup{keys: limitedKey("budget 0.25usd/total\nmax_output_tokens 10")})
	first := h.post(responsesV1, "full", `{"model":"private/echo","store":true,"input":"x"}`)
	id, _ := at(parse(t, first.body), "id").(string)
	body := `{"model":"private/stall","stream":true,"previous_response_id":"` + id + `","input":"x"}`
	passed := 0
	for range 5 { // each may use a context of 100,000 tokens, 0.1 USD
		s := h.open(h.request(responsesV1, "full", body))
		if s.resp.StatusCode != http.StatusOK {
			break
		}
		for said := ""; said != "You said: "; said += textOf(t, s.mustNext()) {
		}
		passed++
		s.disconnect()
		if !eventually(func() bool { return nano(t, h.keyInfo("full").Budgets[0].Reserved) == 0 }) {
			t.Fatal("not settled")
		}
	}
	if passed != 2 {
		t.Errorf("%d calls passed, %s spent", passed, h.keyInfo("full").Budgets[0].Spent)
	}
}

// When the client has read a refusal that did not wait for the upload, its record is written and
// its slot is free.
func TestARefusalIsSettledBeforeItsUploadEnds(t *testing.T) {
	h := start(t, setup{keys: limitedKey("concurrency 1\nmax_body 1KiB") + keyBlock("activity", "")})
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.origin, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(waitLimit))
	_, _ = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 10000000\r\n\r\n{\"model\":", secretOf("full"))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	if row := h.row(resp.Header.Get("X-Request-Id")); at(row, "code") != "request_too_large" {
		t.Errorf("row %v", row)
	}
	if a := h.post(chatV1, "full", chatBody("fake/echo")); a.status != http.StatusOK {
		t.Errorf("the next call: %d %s", a.status, a.body)
	}
}

// A call that asks for most of a budget is refused without an event.
func TestACallerCannotTriggerABudgetEvent(t *testing.T) {
	h := startPriced(t, setup{keys: limitedKey("budget 1000000 tokens/total")})
	ask := func(output string) int {
		return h.post(chatV1, "full", `{"model":"fake/echo","max_tokens":`+output+`,"messages":[{"role":"user","content":"x"}]}`).status
	}
	if ask("10") != http.StatusOK || ask("999920") != http.StatusPaymentRequired || ask("99999999") != http.StatusPaymentRequired {
		t.Fatal("want the first to pass and the others to be refused")
	}
	if strings.Contains(logs.text(), `"name":"budget_exhausted"`) {
		t.Error("an event, though next to nothing is spent")
	}
}
