package api

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestABodyAboveItsKeysLimitIsRefused(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("max_body 1KiB")})
	large := `{"model":"fake/echo","messages":[{"role":"user","content":"` + strings.Repeat("x", 1000) + `"}]}`
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter} {
		for name, announced := range map[string]bool{"announced": true, "while reading": false} {
			r := h.Client.Request(path, "full", large)
			if !announced {
				r.ContentLength = -1
			}
			a := h.Client.Send(r)
			harness.WantRefusal(t, path, a, 413, "request_too_large")
			message, _ := harness.At(harness.Parse(t, a.Body), "error", "message").(string)
			if !strings.Contains(message, "1024 bytes") || announced && !strings.Contains(message, strconv.Itoa(len(large))+" bytes") {
				t.Errorf("%s, %s: %s", path, name, message)
			}
		}
	}
	if a := h.Client.Post(harness.ChatV1, "full", harness.Hello("fake/echo")); a.Status != 200 {
		t.Errorf("a small body: %d", a.Status)
	}
}

func TestABodyAboveItsModelsLimitIsRefused(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys:    harness.FullKey("max_body 40MiB") + harness.Key("chat", "") + harness.Key("other", "max_body 1KiB"),
		Options: "body_memory 256MiB\nmodel fake/* {\nmax_body 2KiB\n}\nmodel chatonly/* {\nmax_body 64MiB\n}",
	})
	body := func(model string, size int) string {
		return `{"model":"` + model + `","messages":[{"role":"user","content":"` + strings.Repeat("x", size) + `"}]}`
	}
	for name, c := range map[string]struct {
		key, model string
		size       int
		limit      string // "" = it is admitted
	}{
		"the model's":                       {"chat", "fake/echo", 3 << 10, "2048"},
		"below the model's":                 {"chat", "fake/echo", 1 << 10, ""},
		"of another model":                  {"chat", "private/echo", 3 << 10, ""},
		"the usual one, where one has more": {"chat", "private/echo", 33 << 20, "33554432"},
		"more than usual":                   {"chat", "chatonly/refusal", 33 << 20, ""},
		"more than usual, of a key":         {"full", "private/refusal", 33 << 20, ""},
		"the key's, before any model":       {"other", "chatonly/echo", 2 << 10, "1024"},
	} {
		h.Provider.Fake.Reset()
		text := body(c.model, c.size)
		if c.limit == "" && c.size > 1<<20 { // read to its end, which is missing: no need to send it on
			harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, c.key, text[:len(text)-1]), 400, "invalid_json")
			continue
		}
		a := h.Client.Post(harness.ChatV1, c.key, text)
		if c.limit == "" {
			if a.Status != 200 {
				t.Errorf("%s: %d %.200s", name, a.Status, a.Body)
			}
			continue
		}
		harness.WantRefusal(t, harness.ChatV1, a, 413, "request_too_large")
		if message, _ := harness.At(harness.Parse(t, a.Body), "error", "message").(string); !strings.Contains(message, "limit") || !strings.Contains(message, c.limit+" bytes") {
			t.Errorf("%s: %s", name, message)
		}
		if n := len(h.Provider.Fake.Requests()); n != 0 {
			t.Errorf("%s: %d calls reached the provider", name, n)
		}
	}
}

func TestCallsAtOnceAreBounded(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("concurrency 1") + harness.Key("other", "concurrency 1 queue 1 20s")})
	for _, key := range []string{"full", "other"} {
		s := h.Client.Open(h.Client.Request(harness.ChatV1, key, `{"model":"fake/stall-`+key+`","stream":true,"messages":[{"role":"user","content":"x"}]}`))
		s.MustNext()
		if key == "full" {
			for _, path := range []string{harness.ChatV1, harness.ChatRouter} {
				a := h.Client.Post(path, key, harness.Hello("fake/echo"))
				harness.WantRefusal(t, path, a, 429, "concurrency_limit_exceeded")
				wantHeaders(t, a, "Retry-After", "1", "retry-after-ms", "1000", "x-should-retry", "")
			}
			s.Disconnect()
			if !harness.Eventually(func() bool { return h.Client.Post(harness.ChatV1, key, harness.Hello("fake/echo")).Status == 200 }) {
				t.Error("the slot of an ended call is not free")
			}
			continue
		}
		waiting := make(chan int, 2) // one of two must wait, the other finds the queue full
		for range cap(waiting) {
			r := h.Client.Request(harness.ChatV1, key, harness.Hello("fake/echo"))
			go func() {
				status, _, _ := h.Client.Try(r)
				waiting <- status
			}()
		}
		if status := <-waiting; status != http.StatusTooManyRequests {
			t.Errorf("the call that found the queue full got %d", status)
		}
		h.Provider.Fake.Step("stall-"+key, 1)
		for {
			if _, err := s.Next(); err != nil {
				break
			}
		}
		if status := <-waiting; status != 200 {
			t.Errorf("the queued call got %d", status)
		}
	}
}

// After a client has disconnected, the provider's answer is read to its usage. A provider that
// takes too long is cancelled.
func TestAnAnswerIsReadOnAfterItsClient(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: harness.FullKey("budget 1usd/day\nmax_output_tokens 1000") + harness.Key("activity", ""), Options: "on_disconnect drain 10s"})
	for _, c := range []struct{ path, body string }{
		{harness.ChatV1, `{"model":"fake/stall","stream":true,"messages":[{"role":"user","content":"x"}]}`},
		{harness.ResponsesV1, `{"model":"fake/stall","stream":true,"input":"x"}`},
	} {
		h.Provider.Fake.Reset()
		s := h.Client.Open(h.Client.Request(c.path, "full", c.body))
		s.MustNext()
		id := s.Response.Header.Get("X-Request-Id")
		s.Disconnect()
		if !harness.Eventually(func() bool { return strings.Contains(strings.Join(harness.Log.Lines(id), ""), "has left") }) {
			t.Fatal("the disconnect was not noticed")
		}
		h.Provider.Fake.Step("stall", 1)
		h.Provider.Wait(func(list []faults.Request) bool { return len(list) == 1 && list[0].Complete })
		row := h.Records.RowSoon("request_id=" + id)
		if harness.At(row, "status") != harness.Number("499") || harness.At(row, "usage_source") != "provider" || harness.At(row, "prompt_tokens") != harness.Number("1") {
			t.Errorf("%s: row %v", c.path, row)
		}
	}
	if spent := harness.Nano(t, h.Records.Key("full").Budgets[0].Spent); spent == 0 || spent > 1_000_000 {
		t.Errorf("spent %d", spent)
	}
	h.Become(harness.Setup{Keys: harness.FullKey("") + harness.Key("activity", ""), Options: "on_disconnect drain 50ms"})
	h.Provider.Fake.Reset()
	s := h.Client.Open(h.Client.Request(harness.ChatV1, "full", `{"model":"fake/stall","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	s.MustNext()
	s.Disconnect()
	left := time.Now()
	list := h.Provider.Wait(func(list []faults.Request) bool { return len(list) == 1 && list[0].ClientGone })
	if late := list[0].GoneAt.Sub(left); late > 2*time.Second {
		t.Errorf("the provider was cancelled after %v", late)
	}
}
