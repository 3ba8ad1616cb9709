package faults_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

// each calls f for the three APIs, without and with a stream.
func each(t *testing.T, f func(t *testing.T, path, extra string, body func(model, extra string) string)) {
	t.Helper()
	for path, body := range wires {
		for _, extra := range []string{"", streaming} {
			t.Run(strings.Trim(path+extra, `/,`), func(t *testing.T) { f(t, path, extra, body) })
		}
	}
}

func said(r reply) bool {
	return r.err == nil && r.status == 200 && bytes.Contains(r.body, []byte("there"))
}

func TestTheFirstCallsOfAModelFail(t *testing.T) {
	p, addr := start(t)
	each(t, func(t *testing.T, path, extra string, body func(string, string) string) {
		p.Reset()
		const model = "x/first-2-after-3-err-429"
		for n := 1; n <= 2; n++ {
			if r := post(t, addr, path, body(model, extra)); r.status != 429 || r.header.Get("Retry-After") != "3" {
				t.Errorf("call %d: %d, %v", n, r.status, r.header)
			}
		}
		for n := 3; n <= 4; n++ {
			if r := post(t, addr, path, body(model, extra)); !said(r) {
				t.Errorf("call %d: %d %s", n, r.status, r.body)
			}
		}
		if r := post(t, addr, path, body("y/first-2-after-3-err-429", extra)); r.status != 429 {
			t.Errorf("another model: %d", r.status)
		}
		if n := p.Attempts(model); n != 4 || len(p.Requests()) != 5 {
			t.Errorf("%d attempts, %d requests", n, len(p.Requests()))
		}
	})
}

func TestAModelBecomesWhatTheTestSays(t *testing.T) {
	p, addr := start(t)
	status := func() int { return post(t, addr, chatV1, chatBody("acme/echo", "")).status }
	if p.Become("acme/echo", "nonsense") || !p.Become("acme/echo", "after-none-err-503") {
		t.Fatal("it takes nonsense, or refuses a behaviour")
	}
	if got := status(); got != 503 {
		t.Errorf("status %d", got)
	}
	p.Become("acme/echo", "echo")
	if got := status(); got != 200 {
		t.Errorf("status %d after it has recovered", got)
	}
}

func TestRetryAfterIsLeftOut(t *testing.T) {
	_, addr := start(t)
	for _, model := range []string{"after-none-err-429", "after-none-err-503", "spend-cap", "err-529"} {
		if r := post(t, addr, messagesV1, messagesBody(model, "")); r.status < 400 || len(r.header["Retry-After"]) != 0 {
			t.Errorf("%s: %d %v", model, r.status, r.header)
		}
	}
}

func TestResetComesBeforeAnyByte(t *testing.T) {
	_, addr := start(t)
	each(t, func(t *testing.T, path, extra string, body func(string, string) string) {
		raw, err := io.ReadAll(dial(t, addr, path, body("reset", extra)))
		if len(raw) != 0 || !isReset(err) {
			t.Errorf("%q, %v", raw, err)
		}
	})
}

func TestHangSaysNothingUntilAToken(t *testing.T) {
	p, addr := start(t)
	each(t, func(t *testing.T, path, extra string, body func(string, string) string) {
		p.Reset()
		conn := dial(t, addr, path, body("hang-1", extra))
		r := waitFor(t, p, func(r faults.Request) bool { return !r.BodyReadAt.IsZero() })
		if r.Status != 0 {
			t.Errorf("status %d", r.Status)
		}
		p.Step("hang-1", 1)
		if answer := readReply(t, conn); !said(answer) {
			t.Errorf("%+v", answer)
		}
	})
}

func readReply(t *testing.T, conn net.Conn) (out reply) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	out.status = resp.StatusCode
	out.body, out.err = io.ReadAll(resp.Body)
	return out
}

func TestLateIsSilentBeforeTheFirstText(t *testing.T) {
	p, addr := start(t)
	for path, body := range wires {
		p.Reset()
		conn := dial(t, addr, path, body("late", streaming))
		want := map[string]int{chatV1: 1, respV1: 4, messagesV1: 3}[path]
		r := waitFor(t, p, func(r faults.Request) bool { return r.Writes == want })
		if r.Status != 200 {
			t.Errorf("%s: status %d", path, r.Status)
		}
		p.Step("late", 1)
		if answer := readReply(t, conn); !said(answer) || !p.Requests()[0].EndedAt.IsZero() && p.Requests()[0].Writes == want {
			t.Errorf("%s: %+v", path, answer)
		}
	}
}

func TestAStreamIsCutAfterAnyEvent(t *testing.T) {
	_, addr := start(t)
	for path, body := range wires {
		for n := 1; n <= 3; n++ {
			for model, ends := range map[string]func(error) bool{
				"cut-%d":       func(err error) bool { return err != nil },
				"cut-%d-reset": isReset,
				"cut-%d-clean": func(err error) bool { return err == nil },
			} {
				r := post(t, addr, path, body(fmt.Sprintf(model, n), streaming))
				// A reset may overtake what was sent before it.
				if !ends(r.err) || !isReset(r.err) && bytes.Count(r.body, []byte("data: ")) != n {
					t.Errorf("%s %s %d: %v, %s", path, model, n, r.err, r.body)
				}
			}
		}
	}
}

func TestAStreamIsSilentAfterAnyEvent(t *testing.T) {
	p, addr := start(t)
	for path, body := range wires {
		p.Reset()
		conn := dial(t, addr, path, body("silent-5", streaming))
		waitFor(t, p, func(r faults.Request) bool { return r.Writes == 5 })
		conn.Close()
		if r := waitFor(t, p, func(r faults.Request) bool { return r.ClientGone }); r.Writes != 5 {
			t.Errorf("%s: %d writes", path, r.Writes)
		}
	}
}

func TestOverloadedComesAfterTheFirstEvent(t *testing.T) {
	_, addr := start(t)
	r := post(t, addr, messagesV1, messagesBody("overloaded", streaming))
	events := data(r.body, "\n")
	if r.status != 200 || len(events) != 2 || !strings.Contains(events[0], `"message_start"`) ||
		!bytes.Contains(r.body, []byte("event: error\n")) || at(decode(t, []byte(events[1])), "error", "type") != "overloaded_error" {
		t.Errorf("%d: %s", r.status, r.body)
	}
	if r := post(t, addr, messagesV1, messagesBody("overloaded", "")); r.status != 529 || at(decode(t, r.body), "error", "type") != "overloaded_error" {
		t.Errorf("%d: %s", r.status, r.body)
	}
	for path, body := range map[string]string{chatV1: chatBody("overloaded", streaming), respV1: responsesBody("overloaded", streaming)} {
		if r := post(t, addr, path, body); r.status != 200 || len(data(r.body, "\n")) != 2 || !bytes.Contains(r.body, []byte(`"error"`)) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if r := post(t, addr, chatV1, chatBody("overloaded", "")); r.status != 503 {
		t.Errorf("%d: %s", r.status, r.body)
	}
}

func TestRefusalsThatNoOtherProviderHelps(t *testing.T) {
	_, addr := start(t)
	for model, want := range map[string][3]string{
		"spend-cap":    {"429 insufficient_quota", "429 enforced_spend_limit_reached", ""},
		"too-long":     {"400 context_length_exceeded", "400 <nil>", "prompt is too long: "},
		"azure-filter": {"400 content_filter", "400 <nil>", ""},
	} {
		r := post(t, addr, chatV1, chatBody(model, ""))
		if got := fmt.Sprint(r.status, " ", at(decode(t, r.body), "error", "code")); got != want[0] {
			t.Errorf("%s: %s", model, got)
		}
		r = post(t, addr, messagesV1, messagesBody(model, ""))
		e := at(decode(t, r.body), "error")
		if got := fmt.Sprint(r.status, " ", at(e, "details", "error_code")); got != want[1] || !strings.HasPrefix(at(e, "message").(string), want[2]) {
			t.Errorf("%s: %s", model, r.body)
		}
	}
	if r := post(t, addr, chatV1, chatBody("azure-filter", "")); at(decode(t, r.body), "error", "innererror", "code") != "ResponsibleAIPolicyViolation" {
		t.Errorf("%s", r.body)
	}
}

func TestPrefillIsRefused(t *testing.T) {
	_, addr := start(t)
	for path, body := range map[string]string{chatV1: chatBody("no-prefill", ""), messagesV1: messagesBody("no-prefill", "")} {
		if r := post(t, addr, path, body); !said(r) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
		prefilled := strings.Replace(body, `}]`, `},{"role":"assistant","content":"You"}]`, 1)
		if r := post(t, addr, path, prefilled); r.status != 400 {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

func TestAProviderIsControlledOverHTTP(t *testing.T) {
	p, addr := start(t)
	control := func(what string) int {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+addr+"/_control/"+what, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for what, want := range map[string]int{
		"become?model=echo&as=nonsense": 400, "become?model=echo&as=err-500": 204, "step?model=stall&n=x": 400, "step?model=stall&n=1": 204,
	} {
		if got := control(what); got != want {
			t.Errorf("%s: %d", what, got)
		}
	}
	if r := post(t, addr, chatV1, chatBody("echo", "")); r.status != 500 {
		t.Errorf("status %d", r.status)
	}
	if r := post(t, addr, chatV1, chatBody("stall", streaming)); !said(r) {
		t.Errorf("%+v", r)
	}
	if control("reset"); len(p.Requests()) != 0 {
		t.Error("the record is there after a reset")
	}
}
