package api

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// guardedModels are models of providers that have the API of a call, and of providers whose calls
// are translated.
var guardedModels = []string{"fake/echo", "chatonly/echo", "respond/echo"}

const guardedProviders = harness.DefaultProviders + `
	provider respond {
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
		chat translate
	}
`

func TestAGuardrailRefusesAnAnswerWhichIsPaidAllTheSame(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys: harness.FullKey("guardrails gate\nbudget 100000 tokens/total") + harness.Key("activity", ""), Providers: guardedProviders,
		Options: "guardrail gate {\non output\ndeny words forbidden\n}",
	})
	calls := 0
	for _, path := range guardPaths {
		for _, model := range guardedModels {
			a := h.Client.Post(path, "full", saying(path, model, "this is Forbidden fruit", ""))
			wantBlocked(t, path, a, "gate", "words", "fruit")
			row := h.Records.Row(a.Header.Get("X-Request-Id"))
			if harness.At(row, "code") != "guardrail_blocked" || harness.At(row, "usage_source") != "provider" || harness.At(row, "completion_tokens") == harness.Number("0") {
				t.Errorf("%s, %s: row %v", path, model, row)
			}
			if calls++; len(h.Provider.Fake.Requests()) != calls {
				t.Errorf("%s, %s: the provider was not asked", path, model)
			}
		}
	}
	if b := h.Records.Key("full").Budgets[0]; b.Spent == "0" || b.Reserved != "0" {
		t.Errorf("refused answers cost %+v", b)
	}
}

// cardPiece is a group of the card's digits as a word: the ids of answers are random, and four ones
// may be a part of them.
var cardPiece = regexp.MustCompile(`[" ][41]111[" ]`)

func TestAGuardrailTakesSomethingOutOfAnAnswer(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("guardrails mask"), Providers: guardedProviders, Options: "guardrail mask {\non output\nredact card\n}"})
	for _, path := range guardPaths {
		for _, model := range guardedModels {
			a := h.Client.Post(path, "full", saying(path, model, "pay 4111 1111 1111 1111 now", ""))
			if a.Status != 200 || !strings.Contains(string(a.Body), "You said: pay [REDACTED:card] now") || cardPiece.Match(a.Body) {
				t.Errorf("%s, %s: %d %s", path, model, a.Status, a.Body)
			}
			if line := strings.Join(harness.Log.Lines(a.Header.Get("X-Request-Id")), ""); !jsontest.Has(t, line, `{"redacted":["card"]}`) {
				t.Errorf("%s: the log says %s", path, line)
			}
		}
	}
}

// The provider's events cut the number in four.
func TestASecretSplitOverEventsIsTakenOutOfAStream(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("guardrails mask"), Providers: guardedProviders, Options: "guardrail mask {\non output\nredact card\n}"})
	for _, path := range guardPaths {
		for _, model := range guardedModels {
			s := h.Client.Open(h.Client.Request(path, "full", saying(path, model, "pay 4111 1111 1111 1111 now", harness.Streaming)))
			events, err := s.Rest()
			if text := allText(t, events); err != nil || text != "You said: pay [REDACTED:card] now" {
				t.Errorf("%s, %s: %q %v", path, model, text, err)
			}
			for _, e := range events {
				if cardPiece.MatchString(e.Data) {
					t.Errorf("%s, %s: sent %s", path, model, e.Data)
				}
			}
			id := s.Response.Header.Get("X-Request-Id")
			if !harness.Eventually(func() bool { return jsontest.Has(t, strings.Join(harness.Log.Lines(id), ""), `{"redacted":["card"]}`) }) {
				t.Errorf("%s: the log says %s", path, harness.Log.Lines(id))
			}
		}
	}
}

// Text that was sent stays, nothing of the refused text is sent, and the request to the provider is
// cancelled.
func TestAGuardrailEndsAStream(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys: harness.FullKey("guardrails gate") + harness.Key("activity", ""), Providers: guardedProviders,
		Options: "guardrail gate {\non output\nwindow 8\ndeny words forbidden\n}",
	})
	text := strings.Repeat("well ", 5) + "forbidden " + strings.Repeat("after ", 100)
	for i, path := range guardPaths {
		for _, of := range []string{"fake/", "chatonly/", "respond/"} {
			h.Provider.Fake.Reset()
			gate := "step-" + strconv.Itoa(i)
			h.Provider.Fake.Step(gate, 50) // stops until the test continues it
			s := h.Client.Open(h.Client.Request(path, "full", saying(path, of+gate, text, harness.Streaming)))
			events, err := s.Rest()
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			wantStreamError(t, path, events, 422, "guardrail_blocked")
			got := allText(t, events)
			if !strings.HasPrefix(got, "You said: well well") || strings.Contains(got, "forb") {
				t.Errorf("%s, %s: the client got %q", path, of, got)
			}
			h.Provider.Wait(func(list []faults.Request) bool { return len(list) == 1 && list[0].ClientGone })
			row := h.Records.RowSoon("request_id=" + s.Response.Header.Get("X-Request-Id"))
			if harness.At(row, "code") != "guardrail_blocked" || harness.At(row, "usage_source") != "estimated" || harness.At(row, "completion_tokens") == harness.Number("0") {
				t.Errorf("%s, %s: row %v", path, of, row)
			}
		}
	}
}

// A refusal before the first word is a status, if the client has not got one yet.
func TestAStreamRefusedBeforeItsFirstWordIsAStatus(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("guardrails gate"), Options: "guardrail gate {\non output\ndeny words \"you said: say\"\n}"})
	for _, path := range guardPaths {
		s := h.Client.Open(h.Client.Request(path, "full", harness.Body(path, "fake/echo", harness.Streaming)))
		if s.Response.StatusCode != 200 {
			body, err := s.ReadAll()
			wantBlocked(t, path, harness.Answer{Status: s.Response.StatusCode, Header: s.Response.Header, Body: body, Err: err}, "gate", "words", "hello")
			continue
		}
		events, err := s.Rest()
		if err != nil || allText(t, events) != "" {
			t.Errorf("%s: %v %v", path, events, err)
		}
		wantStreamError(t, path, events, 422, "guardrail_blocked")
	}
}

// The usage in a refused event counts, although no client sees it.
func TestUsageInARefusedEventIsSettled(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys: harness.FullKey("guardrails gate") + harness.Key("activity", ""), Providers: guardedProviders,
		Options: "guardrail gate {\non output\ndeny words forbidden\n}",
	})
	for _, path := range []string{harness.ChatV1, harness.ChatRouter} {
		s := h.Client.Open(h.Client.Request(path, "full", saying(path, "fake/usage-inline", "this is forbidden", harness.Streaming)))
		if _, err := s.Rest(); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		row := h.Records.RowSoon("request_id=" + s.Response.Header.Get("X-Request-Id"))
		if harness.At(row, "code") != "guardrail_blocked" || harness.At(row, "usage_source") != "provider" || harness.At(row, "completion_tokens") == harness.Number("0") {
			t.Errorf("%s: row %v", path, row)
		}
	}
}
