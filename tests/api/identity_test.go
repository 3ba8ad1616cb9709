package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// identityOptions are roles of two kinds and an issuer whose tokens give them.
func identityOptions(issuer string) string {
	return `
		role developer {
			scopes chat:write models:read limits:read
			models fake/echo fake/usage-all
			rate 3/min
		}
		role builder {
			scopes chat:write
			models fake/echo
			tenant other
		}
		identity idp {
			issuer ` + issuer + `
			audience gatehouse
			role developer {
				groups ai-users
			}
			role builder {
				repository acme/*
			}
		}`
}

// bearer sends a call with a token instead of a key.
func bearer(h *harness.Gateway, path, token, body string) harness.Answer {
	r := h.Client.Request(path, "", body)
	r.Header.Set("Authorization", "Bearer "+token)
	return h.Client.Send(r)
}

func TestATokenOfAnIssuerCallsByItsRole(t *testing.T) {
	issuer := identitytest.Start(t)
	h := harness.Start(t, harness.Setup{Options: identityOptions(issuer.URL)})
	ann := issuer.Token("ann", "gatehouse", map[string]any{"groups": []string{"ai-users"}, "email": "ann@example.com", "email_verified": true})
	bob := issuer.Token("bob", "gatehouse", map[string]any{"groups": []string{"ai-users"}})
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1} {
		if a := bearer(h, path, ann, harness.Body(path, "fake/echo", "")); a.Status != 200 {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	// The limits of a role are those of each person.
	refused := bearer(h, harness.ChatV1, ann, harness.Chat("fake/echo", ""))
	harness.WantRefusal(t, harness.ChatV1, refused, 429, "rate_limit_exceeded")
	if a := bearer(h, harness.ChatV1, bob, harness.Chat("fake/echo", "")); a.Status != 200 {
		t.Errorf("another person: %d %s", a.Status, a.Body)
	}
	row := h.Records.Row(refused.Header.Get("X-Request-Id"))
	if key, _ := harness.At(row, "key").(string); !strings.HasPrefix(key, "idp-") || harness.At(row, "user") != "ann@example.com" || harness.At(row, "refused_by") != "key "+key+": rate 3/min" {
		t.Errorf("row %v", row)
	}
	if a := bearer(h, "/api/v1/limits", ann, ""); a.Status != 200 || !strings.Contains(string(a.Body), "key:idp-") || strings.Count(string(a.Body), "key:idp-") < 1 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	// What the role does not allow.
	harness.WantRefusal(t, harness.ChatV1, bearer(h, harness.ChatV1, bob, harness.Chat("fake/crlf", "")), 404, "model_not_found")
	harness.WantRefusal(t, "/api/v1/activity", bearer(h, "/api/v1/activity", bob, ""), 403, "insufficient_scope")
	// A token in the header of another family.
	r := h.Client.Request("/v1/messages", "", `{"model":"fake/echo","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("X-Api-Key", issuer.Token("ci", "gatehouse", map[string]any{"repository": "acme/app"}))
	if a := h.Client.Send(r); a.Status != 200 {
		t.Errorf("x-api-key: %d %s", a.Status, a.Body)
	}
	for _, sent := range h.Provider.Fake.Requests() {
		for _, name := range []string{"Authorization", "X-Api-Key"} {
			if strings.Contains(strings.Join(sent.Header(name), " "), "eyJ") {
				t.Errorf("the provider got the token in %s", name)
			}
		}
	}
}

func TestATokenWithoutARoleOrAGoodSignature(t *testing.T) {
	issuer, stranger := identitytest.Start(t), identitytest.Start(t)
	h := harness.Start(t, harness.Setup{Options: identityOptions(issuer.URL)})
	groups := map[string]any{"groups": []string{"ai-users"}}
	for name, c := range map[string]struct {
		token, code string
		status      int
	}{
		"no role":            {issuer.Token("eve", "gatehouse", nil), "no_role", http.StatusForbidden},
		"another audience":   {issuer.Token("ann", "other", groups), "invalid_api_key", http.StatusUnauthorized},
		"another issuer":     {stranger.Token("ann", "gatehouse", groups), "invalid_api_key", http.StatusUnauthorized},
		"no signature":       {strings.TrimRight(issuer.Token("ann", "gatehouse", groups), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), "invalid_api_key", http.StatusUnauthorized},
		"more than a header": {strings.Repeat("a", 17<<10) + ".b.c", "invalid_api_key", http.StatusUnauthorized},
	} {
		for _, path := range []string{harness.ChatV1, harness.ChatRouter} {
			t.Log(name)
			harness.WantRefusal(t, path, bearer(h, path, c.token, harness.Chat("fake/echo", "")), c.status, c.code)
		}
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("%d calls reached the provider", n)
	}
}

// Keys rotate, and an issuer that is away stops only those whose keys nobody knows yet.
func TestAnIssuerThatRotatesAndIsAway(t *testing.T) {
	issuer := identitytest.Start(t)
	h := harness.Start(t, harness.Setup{Options: identityOptions(issuer.URL)})
	reload := func(more string) {
		t.Helper()
		h.Become(harness.Setup{Options: identityOptions(issuer.URL) + more})
	}
	token := func() string {
		return issuer.Token("ci", "gatehouse", map[string]any{"repository": "acme/app"})
	}
	issuer.Away(true)
	harness.WantRefusal(t, harness.ChatV1, bearer(h, harness.ChatV1, token(), harness.Chat("fake/echo", "")), 503, "identity_unavailable")
	issuer.Away(false)
	reload("\n\t\tmodel fake/echo {\n\t\t\trate 1000/min\n\t\t}")
	if a := bearer(h, harness.ChatV1, token(), harness.Chat("fake/echo", "")); a.Status != 200 {
		t.Fatalf("it is back: %d %s", a.Status, a.Body)
	}
	issuer.Away(true)
	reload("")
	if a := bearer(h, harness.ChatV1, token(), harness.Chat("fake/echo", "")); a.Status != 200 {
		t.Errorf("away after a reload, with known keys: %d %s", a.Status, a.Body)
	}
}
