package tests

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

func TestABodyAboveItsKeysLimitIsRefused(t *testing.T) {
	h := start(t, setup{keys: limitedKey("max_body 1KiB") + keyBlock("other", "max_body 64MiB"), options: "body_memory 256MiB"})
	large := `{"model":"fake/echo","messages":[{"role":"user","content":"` + strings.Repeat("x", 1000) + `"}]}`
	for _, path := range []string{chatV1, chatRouter, responsesV1, responsesOR} {
		for name, announced := range map[string]bool{"announced": true, "while reading": false} {
			r := h.request(path, "full", large)
			if !announced {
				r.ContentLength = -1
			}
			a := h.send(r)
			wantRefusal(t, path, a, 413, "request_too_large")
			message, _ := at(parse(t, a.body), "error", "message").(string)
			if !strings.Contains(message, "1024 bytes") || announced && !strings.Contains(message, itoa(len(large))+" bytes") {
				t.Errorf("%s, %s: %s", path, name, message)
			}
		}
	}
	if a := h.post(chatV1, "full", chatBody("fake/echo")); a.status != 200 {
		t.Errorf("a small body: %d", a.status)
	}
	huge := `{"model":"fake/refusal","messages":[{"role":"user","content":"` + strings.Repeat("x", 33<<20) + `"}]}`
	if a := h.post(chatV1, "other", huge); a.status != 200 {
		t.Errorf("a body above the usual limit, of a key with a larger one: %d %.200s", a.status, a.body)
	}
}

func TestABodyAboveItsModelsLimitIsRefused(t *testing.T) {
	h := start(t, setup{
		keys:    limitedKey("max_body 40MiB") + keyBlock("chat", "") + keyBlock("other", "max_body 1KiB"),
		options: "body_memory 256MiB\nmodel fake/* {\nmax_body 2KiB\n}\nmodel chatonly/* {\nmax_body 64MiB\n}",
	})
	body := func(model string, size int) string {
		return `{"model":"` + model + `","messages":[{"role":"user","content":"` + strings.Repeat("x", size) + `"}]}`
	}
	for name, c := range map[string]struct {
		key, model string
		size       int
		limit      string // "" = it is admitted
	}{
		"the model's":                         {"chat", "fake/echo", 3 << 10, "2048"},
		"below the model's":                   {"chat", "fake/echo", 1 << 10, ""},
		"of another model":                    {"chat", "private/echo", 3 << 10, ""},
		"the usual one, where one has more":   {"chat", "private/echo", 33 << 20, "33554432"},
		"more than usual":                     {"chat", "chatonly/refusal", 33 << 20, ""},
		"the key's, where the model has more": {"full", "chatonly/echo", 41 << 20, "41943040"},
		"the key's, before any model":         {"other", "chatonly/echo", 2 << 10, "1024"},
	} {
		h.upstream.Reset()
		a := h.post(chatV1, c.key, body(c.model, c.size))
		if c.limit == "" {
			if a.status != 200 {
				t.Errorf("%s: %d %.200s", name, a.status, a.body)
			}
			continue
		}
		wantRefusal(t, chatV1, a, 413, "request_too_large")
		if message, _ := at(parse(t, a.body), "error", "message").(string); !strings.Contains(message, "limit") || !strings.Contains(message, c.limit+" bytes") {
			t.Errorf("%s: %s", name, message)
		}
		if n := len(h.upstream.Requests()); n != 0 {
			t.Errorf("%s: %d calls reached the provider", name, n)
		}
	}
}

func TestAProvidersOneNameForTheOutputLimitIsUsed(t *testing.T) {
	h := start(t, setup{providers: "provider fake {\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\nmax_tokens_field max_tokens\n}"})
	for said, want := range map[string]string{
		`,"max_completion_tokens":9`:                `"max_tokens":9`,
		`,"max_tokens":9`:                           `"max_tokens":9`,
		`,"max_tokens":9,"max_completion_tokens":8`: `"max_tokens":9`,
		`,"max_completion_tokens":null`:             `"max_completion_tokens":null`,
		``:                                          `"messages"`,
	} {
		h.upstream.Reset()
		if a := h.post(chatV1, "full", `{"model":"fake/echo","messages":[{"role":"user","content":"a"}]`+said+`}`); a.status != 200 {
			t.Errorf("%s: %d %s", said, a.status, a.body)
			continue
		}
		sent := string(h.upstreamCall(0).Body)
		if !strings.Contains(sent, want) || strings.Contains(sent, `"max_completion_tokens":8`) || strings.Contains(sent, `"max_completion_tokens":9`) {
			t.Errorf("%s: the provider got %s", said, sent)
		}
	}
}

func TestCapsAreRefusedByNameOrClamped(t *testing.T) {
	h := start(t, setup{
		keys:    limitedKey("max_messages 2\nmax_tools 1\nmax_output_tokens 100") + keyBlock("chat", "max_output_tokens 100 clamp") + keyBlock("other", ""),
		options: "model fake/step* {\nmax_output_tokens 7 clamp\n}\nmodel chatonly/* {\nmax_output_tokens 9 clamp\n}",
	})
	three := `[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"user","content":"c"}]`
	two := `[{"type":"function","name":"f","function":{"name":"f"}},{"type":"function","name":"g","function":{"name":"g"}}]`
	one := `[{"role":"user","content":"a"}]`
	for name, c := range map[string]struct{ path, body, param string }{
		"messages":         {chatV1, `{"model":"fake/echo","messages":` + three + `}`, "messages"},
		"input":            {responsesV1, `{"model":"fake/echo","input":` + three + `}`, "input"},
		"tools":            {chatV1, `{"model":"fake/echo","messages":` + one + `,"tools":` + two + `}`, "tools"},
		"max_tokens":       {chatV1, `{"model":"fake/echo","messages":` + one + `,"max_tokens":101}`, "max_tokens"},
		"the newer name":   {chatV1, `{"model":"fake/echo","messages":` + one + `,"max_completion_tokens":101}`, "max_completion_tokens"},
		"both":             {chatV1, `{"model":"fake/echo","messages":` + one + `,"max_tokens":5,"max_completion_tokens":101}`, "max_completion_tokens"},
		"Responses":        {responsesV1, `{"model":"fake/echo","input":"a","max_output_tokens":101}`, "max_output_tokens"},
		"nonsense":         {chatV1, `{"model":"fake/echo","messages":` + one + `,"max_tokens":-1}`, "max_tokens"},
		"a fraction of it": {chatV1, `{"model":"fake/echo","messages":` + one + `,"n":0}`, "n"},
	} {
		a := h.post(c.path, "full", c.body)
		wantRefusal(t, c.path, a, 400, "invalid_value")
		if got := at(parse(t, a.body), "error", "param"); got != c.param {
			t.Errorf("%s: param %v, want %s", name, got, c.param)
		}
	}
	if n := len(h.upstream.Requests()); n != 0 {
		t.Fatalf("%d calls reached the provider", n)
	}
	for name, c := range map[string]struct{ key, path, body, want, not string }{
		"below":             {"full", chatV1, `{"model":"fake/echo","messages":` + one + `,"max_tokens":99}`, `"max_tokens":99`, "max_completion_tokens"},
		"not said":          {"full", chatV1, `{"model":"fake/echo","messages":` + one + `}`, `"max_completion_tokens":100`, `"max_tokens"`},
		"null":              {"full", chatV1, `{"model":"fake/echo","messages":` + one + `,"max_tokens":null}`, `"max_completion_tokens":100`, `"max_tokens"`},
		"clamped":           {"chat", chatV1, `{"model":"fake/echo","messages":` + one + `,"max_tokens":5000}`, `"max_tokens":100`, "max_completion_tokens"},
		"clamped both":      {"chat", chatV1, `{"model":"fake/echo","messages":` + one + `,"max_tokens":5000,"max_completion_tokens":6000}`, `"max_completion_tokens":100`, `"max_tokens"`},
		"Responses":         {"chat", responsesV1, `{"model":"fake/echo","input":"a","max_output_tokens":5000}`, `"max_output_tokens":100`, "5000"},
		"by the model":      {"chat", chatV1, `{"model":"fake/step-a","messages":` + one + `,"max_tokens":5000}`, `"max_tokens":7`, "5000"},
		"of a translated":   {"chat", responsesV1, `{"model":"chatonly/echo","input":"a","max_output_tokens":5000}`, `"max_completion_tokens":9`, "5000"},
		"of nobody's limit": {"other", chatV1, `{"model":"fake/echo","messages":` + one + `}`, `"messages"`, "max_"},
	} {
		h.upstream.Reset()
		if a := h.post(c.path, c.key, c.body); a.status != 200 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
			continue
		}
		if sent := string(h.upstreamCall(0).Body); !strings.Contains(sent, c.want) || strings.Contains(sent, c.not) {
			t.Errorf("%s: the provider got %s", name, sent)
		}
	}
}

func TestCallsAtOnceAreBounded(t *testing.T) {
	h := start(t, setup{keys: limitedKey("concurrency 1") + keyBlock("other", "concurrency 1 queue 1 20s")})
	for _, key := range []string{"full", "other"} {
		s := h.open(h.request(chatV1, key, `{"model":"fake/stall-`+key+`","stream":true,"messages":[{"role":"user","content":"x"}]}`))
		s.mustNext()
		if key == "full" {
			for _, path := range []string{chatV1, chatRouter} {
				a := h.post(path, key, chatBody("fake/echo"))
				wantRefusal(t, path, a, 429, "concurrency_limit_exceeded")
				wantHeaders(t, a, "Retry-After", "1", "retry-after-ms", "1000", "x-should-retry", "")
			}
			s.disconnect()
			if !eventually(func() bool { return h.post(chatV1, key, chatBody("fake/echo")).status == 200 }) {
				t.Error("the slot of an ended call is not free")
			}
			continue
		}
		waiting := make(chan int, 2) // one of two must wait, the other finds the queue full
		for range cap(waiting) {
			r := h.request(chatV1, key, chatBody("fake/echo"))
			go func() {
				status, _, _ := h.quietly(r)
				waiting <- status
			}()
		}
		if status := <-waiting; status != http.StatusTooManyRequests {
			t.Errorf("the call that found the queue full got %d", status)
		}
		h.upstream.Step("stall-"+key, 1)
		for {
			if _, err := s.next(); err != nil {
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
	h := startPriced(t, setup{keys: limitedKey("budget 1usd/day\nmax_output_tokens 1000") + keyBlock("activity", ""), options: "on_disconnect drain 10s"})
	for _, c := range []struct{ path, body string }{
		{chatV1, `{"model":"fake/stall","stream":true,"messages":[{"role":"user","content":"x"}]}`},
		{responsesV1, `{"model":"fake/stall","stream":true,"input":"x"}`},
	} {
		h.upstream.Reset()
		s := h.open(h.request(c.path, "full", c.body))
		s.mustNext()
		id := s.resp.Header.Get("X-Request-Id")
		s.disconnect()
		if !eventually(func() bool { return strings.Contains(strings.Join(h.logLines(id), ""), "has left") }) {
			t.Fatal("the disconnect was not noticed")
		}
		h.upstream.Step("stall", 1)
		h.waitUpstream(func(list []faults.Request) bool { return len(list) == 1 && list[0].Complete })
		row := h.rowSoon("request_id=" + id)
		if at(row, "status") != number("499") || at(row, "usage_source") != "provider" || at(row, "prompt_tokens") != number("1") {
			t.Errorf("%s: row %v", c.path, row)
		}
	}
	if spent := nano(t, h.keyInfo("full").Budgets[0].Spent); spent == 0 || spent > 1_000_000 {
		t.Errorf("spent %d", spent)
	}
	h.change(h.caddyfile(setup{keys: limitedKey("") + keyBlock("activity", ""), options: "on_disconnect drain 50ms"}))
	h.upstream.Reset()
	s := h.open(h.request(chatV1, "full", `{"model":"fake/stall","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	s.mustNext()
	s.disconnect()
	left := time.Now()
	list := h.waitUpstream(func(list []faults.Request) bool { return len(list) == 1 && list[0].ClientGone })
	if late := list[0].GoneAt.Sub(left); late > 2*time.Second {
		t.Errorf("the provider was cancelled after %v", late)
	}
}
