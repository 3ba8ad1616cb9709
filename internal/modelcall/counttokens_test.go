package modelcall

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestTokensAreCounted(t *testing.T) {
	count := `{"model":"acme/m","messages":[{"role":"user","content":"` + strings.Repeat("word ", 80) + `"}]}`
	for _, c := range []struct {
		openai bool
		want   string
		calls  int
	}{
		{false, `{"input_tokens":11,"new":1}`, 1},
		{true, `{"input_tokens":115}`, 0}, // a token for four bytes
	} {
		acme := &claude{answer: `{"input_tokens":11,"new":1}`, nativeOpenAI: c.openai}
		spent := budget(t, "1usd/day")
		rate, err := limits.ParseRate("2/min")
		if err != nil {
			t.Fatal(err)
		}
		spent.Subjects[0].Rates = []limits.Rate{rate}
		r := acme.rig(t, limited(spent))
		for range 2 {
			q, w := r.ask(t, count)
			if err := CountTokens(&r.Deps, q, wire.CountTokens, openaiAPI{}); err != nil || w.Body.String() != c.want || w.Header().Get("X-Test-Remaining") == "" {
				t.Errorf("%v, %s %v, want %s", err, w.Body, w.Header(), c.want)
			}
			q.Finish()
		}
		if acme.calls != 2*c.calls || c.calls > 0 && (acme.path != "/v1/messages/count_tokens" || !jsontest.Has(t, acme.sent, `{"model":"m"}`)) {
			t.Errorf("%d calls, the last to %s: %s", acme.calls, acme.path, acme.sent)
		}
		if row := r.rows(t)[0]; row.PromptTokens != 0 || row.CostNano != 0 || row.UsageSource != "none" || row.Model != "acme/m" || row.Status != 200 || r.balance(t).Spent != 0 {
			t.Errorf("%+v, %+v", row, r.balance(t))
		}
		q, _ := r.ask(t, count)
		wantRefusal(t, CountTokens(&r.Deps, q, wire.CountTokens, openaiAPI{}), apierror.RateLimitExceeded, "is used up")
		q.Finish()
	}
}

func TestACountThatIsNoneIsRefused(t *testing.T) {
	for _, answer := range []string{`{}`, `{"input_tokens":"1"}`, `<html>`} {
		acme := &claude{answer: answer}
		r := acme.rig(t)
		q, _ := r.ask(t, say)
		wantRefusal(t, CountTokens(&r.Deps, q, wire.CountTokens, openaiAPI{}), apierror.UpstreamError, "no count of tokens")
		q.Finish()
	}
}

// Many providers have the Messages API without the part that counts.
func TestTokensAreEstimatedIfTheProviderDoesNotCount(t *testing.T) {
	const model = `{"type":"error","error":{"type":"not_found_error","message":"model: m"}}`
	for _, c := range []struct {
		status int
		answer string
		code   apierror.Code
	}{
		{404, `{"detail":"Not Found"}`, ""},
		{405, ``, ""},
		{404, `{"error":{"code":"model_not_found","message":"no m"}}`, apierror.ModelNotFound},
		{404, model, apierror.ModelNotFound},
		{500, ``, apierror.UpstreamError},
	} {
		acme := &claude{status: c.status, answer: c.answer}
		r := acme.rig(t)
		q, w := r.ask(t, say)
		err := CountTokens(&r.Deps, q, wire.CountTokens, openaiAPI{})
		if c.code != "" {
			wantRefusal(t, err, c.code, "")
		} else if row := r.rows(t)[0]; err != nil || !strings.HasPrefix(fmt.Sprint(jsontest.Values(t, w.Body.String(), "input_tokens")...), "2") || row.Status != 200 || row.Code != "" {
			t.Errorf("%d: %v, %s, %+v", c.status, err, w.Body, row)
		}
		q.Finish()
	}
}
