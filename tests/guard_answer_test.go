package tests

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

// guardedModels are models of providers that have the API of a call, and of providers whose calls
// are translated.
var guardedModels = []string{"fake/echo", "chatonly/echo", "respond/echo"}

const guardedProviders = defaultProviders + `
	provider respond {
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
		chat translate
	}
`

func TestAGuardrailRefusesAnAnswerWhichIsPaidAllTheSame(t *testing.T) {
	h := start(t, setup{
		keys: limitedKey("guardrails gate\nbudget 100000 tokens/total") + keyBlock("activity", ""), providers: guardedProviders,
		options: "guardrail gate {\non output\ndeny words forbidden\n}",
	})
	calls := 0
	for _, path := range guardPaths {
		for _, model := range guardedModels {
			a := h.post(path, "full", saying(path, model, "this is Forbidden fruit", ""))
			wantBlocked(t, path, a, "gate", "words", "fruit")
			row := h.row(a.header.Get("X-Request-Id"))
			if at(row, "code") != "guardrail_blocked" || at(row, "usage_source") != "provider" || at(row, "completion_tokens") == number("0") {
				t.Errorf("%s, %s: row %v", path, model, row)
			}
			if calls++; len(h.upstream.Requests()) != calls {
				t.Errorf("%s, %s: the provider was not asked", path, model)
			}
		}
	}
	if b := h.keyInfo("full").Budgets[0]; b.Spent == "0" || b.Reserved != "0" {
		t.Errorf("refused answers cost %+v", b)
	}
}

func TestAGuardrailTakesSomethingOutOfAnAnswer(t *testing.T) {
	h := start(t, setup{keys: limitedKey("guardrails mask"), providers: guardedProviders, options: "guardrail mask {\non output\nredact card\n}"})
	for _, path := range guardPaths {
		for _, model := range guardedModels {
			a := h.post(path, "full", saying(path, model, "pay 4111 1111 1111 1111 now", ""))
			if a.status != 200 || !strings.Contains(string(a.body), "You said: pay [REDACTED:card] now") || strings.Contains(string(a.body), "1111") {
				t.Errorf("%s, %s: %d %s", path, model, a.status, a.body)
			}
			if line := strings.Join(h.logLines(a.header.Get("X-Request-Id")), ""); !strings.Contains(line, `"redacted":["card"]`) {
				t.Errorf("%s: the log says %s", path, line)
			}
		}
	}
}

// The provider's events cut the number in four.
func TestASecretSplitOverEventsIsTakenOutOfAStream(t *testing.T) {
	h := start(t, setup{keys: limitedKey("guardrails mask"), providers: guardedProviders, options: "guardrail mask {\non output\nredact card\n}"})
	for _, path := range guardPaths {
		for _, model := range guardedModels {
			s := h.open(h.request(path, "full", saying(path, model, "pay 4111 1111 1111 1111 now", streaming)))
			events, err := s.rest()
			if text := allText(t, events); err != nil || text != "You said: pay [REDACTED:card] now" {
				t.Errorf("%s, %s: %q %v", path, model, text, err)
			}
			for _, e := range events {
				if strings.Contains(e.data, "1111") {
					t.Errorf("%s, %s: sent %s", path, model, e.data)
				}
			}
			id := s.resp.Header.Get("X-Request-Id")
			if !eventually(func() bool { return strings.Contains(strings.Join(h.logLines(id), ""), `"redacted":["card"]`) }) {
				t.Errorf("%s: the log says %s", path, h.logLines(id))
			}
		}
	}
}

// Text that was sent stays, nothing of the refused text is sent, and the request to the provider is
// cancelled.
func TestAGuardrailEndsAStream(t *testing.T) {
	h := start(t, setup{
		keys: limitedKey("guardrails gate") + keyBlock("activity", ""), providers: guardedProviders,
		options: "guardrail gate {\non output\nwindow 8\ndeny words forbidden\n}",
	})
	text := strings.Repeat("well ", 5) + "forbidden " + strings.Repeat("after ", 100)
	for i, path := range guardPaths {
		for _, of := range []string{"fake/", "chatonly/", "respond/"} {
			h.upstream.Reset()
			gate := "step-" + itoa(i)
			h.upstream.Step(gate, 50) // stops until the test continues it
			s := h.open(h.request(path, "full", saying(path, of+gate, text, streaming)))
			events, err := s.rest()
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			wantStreamError(t, path, events, 422, "guardrail_blocked")
			got := allText(t, events)
			if !strings.HasPrefix(got, "You said: well well") || strings.Contains(got, "forb") {
				t.Errorf("%s, %s: the client got %q", path, of, got)
			}
			h.waitUpstream(func(list []faults.Request) bool { return len(list) == 1 && list[0].ClientGone })
			row := h.rowSoon("request_id=" + s.resp.Header.Get("X-Request-Id"))
			if at(row, "code") != "guardrail_blocked" || at(row, "usage_source") != "estimated" || at(row, "completion_tokens") == number("0") {
				t.Errorf("%s, %s: row %v", path, of, row)
			}
		}
	}
}

// A refusal before the first word is a status, if the client has not got one yet.
func TestAStreamRefusedBeforeItsFirstWordIsAStatus(t *testing.T) {
	h := start(t, setup{keys: limitedKey("guardrails gate"), options: "guardrail gate {\non output\ndeny words \"you said: say\"\n}"})
	for _, path := range guardPaths {
		s := h.open(h.request(path, "full", bodyFor(path, "fake/echo", streaming)))
		if s.resp.StatusCode != 200 {
			body, err := readAll(s)
			wantBlocked(t, path, answer{s.resp.StatusCode, s.resp.Header, body, err}, "gate", "words", "hello")
			continue
		}
		events, err := s.rest()
		if err != nil || allText(t, events) != "" {
			t.Errorf("%s: %v %v", path, events, err)
		}
		wantStreamError(t, path, events, 422, "guardrail_blocked")
	}
}

// The usage in a refused event counts, although no client sees it.
func TestUsageInARefusedEventIsSettled(t *testing.T) {
	h := start(t, setup{
		keys: limitedKey("guardrails gate") + keyBlock("activity", ""), providers: guardedProviders,
		options: "guardrail gate {\non output\ndeny words forbidden\n}",
	})
	for _, path := range []string{chatV1, chatRouter} {
		s := h.open(h.request(path, "full", saying(path, "fake/usage-inline", "this is forbidden", streaming)))
		if _, err := s.rest(); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		row := h.rowSoon("request_id=" + s.resp.Header.Get("X-Request-Id"))
		if at(row, "code") != "guardrail_blocked" || at(row, "usage_source") != "provider" || at(row, "completion_tokens") == number("0") {
			t.Errorf("%s: row %v", path, row)
		}
	}
}
