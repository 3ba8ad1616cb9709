package api

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// unified returns the headers of an answer that show a budget, sorted, with times as RESET.
func unified(a harness.Answer, reset string) string {
	var all []string
	for name, values := range a.Header {
		if short, ok := strings.CutPrefix(name, "Anthropic-Ratelimit-Unified-"); ok {
			all = append(all, strings.ToLower(short)+"="+strings.ReplaceAll(values[0], reset, "RESET"))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Claude Code shows its person a budget by headers and by /api/oauth/usage, and of refusals by it
// the sentence of a 429.
func TestAPersonInClaudeCodeSeesTheBudget(t *testing.T) {
	t.Setenv("SIGN_IN_CLIENT", identitytest.ClientSecret)
	t.Setenv("SIGN_IN_SECRET", strings.Repeat("s", 32))
	issuer := identitytest.Start(t)
	h := harness.Prepare(t)
	harness.WriteCatalog(h)
	options := strings.NewReplacer("rate 5/min", "budget 0.00503usd/month soft", "client "+identitytest.ClientID, "audience gatehouse\nclient "+identitytest.ClientID).Replace(signInOptions(issuer.URL, h.Ports.Origin(), ""))
	setup := harness.Setup{Options: options + "\ncatalog DIR/prices.json", Keys: harness.FullKey("budget 0.0001usd/day soft") + harness.Key("activity", "")}
	if err := h.Reload(setup); err != nil {
		t.Fatal(err)
	}
	ann := map[string]any{"groups": []string{"ai-users"}}
	issuer.SignIn("ann", ann)
	access, _ := newProgram(t, h.Ports.Origin()).signIn()
	now := time.Now().UTC()
	resets := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	reset := strconv.FormatInt(resets.Unix(), 10)
	ask := func(token string) harness.Answer {
		r := h.Client.Request("/v1/messages", "", `{"model":"fake/usage-all","max_tokens":100,"messages":[{"role":"user","content":"x"}]}`)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		return h.Client.Send(r)
	}
	usage := func(want string) {
		t.Helper()
		a := bearer(h, "/api/oauth/usage", access, "")
		want = strings.ReplaceAll(want, "RESET", resets.Format("2006-01-02T15:04:05.000Z"))
		if a.Status != 200 || string(a.Body) != want || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %s %v, want %s", a.Status, a.Body, a.Header, want)
		}
	}
	const claim = " representative-claim=overage reset=RESET"
	allowed := "overage-reset=RESET overage-status=allowed overage-utilization="
	for _, want := range []string{
		allowed + "0.00" + claim + " status=allowed", allowed + "0.19" + claim + " status=allowed",
		allowed + "0.39" + claim + " status=allowed", allowed + "0.59" + claim + " status=allowed",
		"overage-reset=RESET overage-status=allowed_warning overage-surpassed-threshold=0.75 overage-utilization=0.79" + claim + " status=allowed_warning",
	} {
		a := ask(access)
		if got := unified(a, reset); a.Status != 200 || got != want {
			t.Errorf("%d %s\n%s, want\n%s", a.Status, a.Body, got, want)
		}
		h.Records.Row(a.Header.Get("X-Request-Id")) // it is charged
	}
	refused := ask(access)
	if got, want := unified(refused, reset), "overage-disabled-reason=org_spend_cap_reached overage-period=monthly overage-reset=RESET "+
		"overage-surpassed-threshold=1 overage-utilization=1 reset=RESET status=rejected"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	sentence := regexp.MustCompile(`"billing_error","message":"your budget, 0.00503usd/month, has 0.000025 USD left, and this request may need 0.001022 USD · it is full again at 00:00 UTC on \w{3} 1 · ask who runs this gateway for more"`)
	if refused.Status != 429 || !sentence.Match(refused.Body) || refused.Header.Get("X-Should-Retry") != "false" || refused.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", refused.Status, refused.Header, refused.Body)
	}
	if row := h.Records.Row(refused.Header.Get("X-Request-Id")); harness.At(row, "code") != "budget_exceeded" || harness.At(row, "status") != harness.Number("429") {
		t.Errorf("row %v", row)
	}
	usage(`{"extra_usage":{"is_enabled":true,"monthly_limit":0.503,"used_credits":0,"utilization":99,"currency":"USD"},` +
		`"limits":[{"kind":"spend","group":"monthly","percent":99,"resets_at":"RESET","severity":"critical","is_active":true}]}`)
	// All others have the answers that they had.
	harness.WantRefusal(t, harness.ChatV1, bearer(h, harness.ChatV1, access, harness.Chat("fake/usage-all", "")), 402, "budget_exceeded")
	full := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/usage-all", ""))
	h.Records.Row(full.Header.Get("X-Request-Id"))
	secret := h.Client.Request("/v1/models", "full", "").Header.Get("Authorization")
	for who, token := range map[string]string{"a JWT of the same person": issuer.Token("ann", "gatehouse", ann), "a key": strings.TrimPrefix(secret, "Bearer ")} {
		a := ask(token)
		if a.Status != 402 || unified(a, reset) != "" || a.Header.Get("Retry-After") != "" || !strings.Contains(string(a.Body), "it is reset at") {
			t.Errorf("%s: %d %v %s", who, a.Status, a.Header, a.Body)
		}
		if a := bearer(h, "/api/oauth/usage", token, ""); a.Status != http.StatusNotFound {
			t.Errorf("%s: the usage is %d %s", who, a.Status, a.Body)
		}
	}
}
