package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const compactV1 = "/v1/responses/compact"

// startCompacting has a model whose answers have at most 20,000 tokens, for keys under hard budgets
// of money.
func startCompacting(t *testing.T) *harness.Gateway {
	t.Helper()
	h := harness.Prepare(t)
	catalog := `{"models":[{"id":"fake/echo","context_length":100000,"max_output_tokens":20000,"price":{"prompt":"1","completion":"10"}},` +
		`{"id":"fake/null-fields","context_length":100000,"price":{"prompt":"1","completion":"10"}}]}`
	if err := os.WriteFile(filepath.Join(h.Dir, "prices.json"), []byte(catalog), 0o600); err != nil {
		t.Fatal(err)
	}
	setup := harness.Setup{
		Keys:    harness.FullKey("budget 10usd/total") + harness.Key("chat", "budget 0.15usd/total") + harness.Key("other", "tenant other") + harness.Key("activity", ""),
		Options: "catalog DIR/prices.json",
	}
	if err := h.Reload(setup); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAConversationIsCompacted(t *testing.T) {
	h := startCompacting(t)
	first := made(t, h, "full", "fake/echo", "remember the name")
	body := `{"model":"fake/echo","previous_response_id":"` + first + `","input":"and the date","instructions":"be short"}`
	a := h.Client.Want(200, "POST", compactV1, "full", body)
	answer := harness.Parse(t, a.Body)
	if harness.At(answer, "object") != "response.compaction" || harness.At(answer, "output", 1, "type") != "compaction" ||
		!strings.Contains(string(a.Body), "remember the name / and the date") {
		t.Errorf("%s", a.Body)
	}
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	if harness.At(row, "usage_source") != "provider" || harness.At(row, "usage") == harness.Number("0") || harness.At(row, "route") != "POST "+compactV1 {
		t.Errorf("row %v", row)
	}
	// The items go on in the next call, where the id of the compaction is known as the tenant's.
	item, _ := harness.At(answer, "output", 1, "id").(string)
	h.Client.Want(200, "POST", harness.ResponsesV1, "full", `{"model":"fake/echo","input":[{"type":"item_reference","id":"`+item+`"},{"role":"user","content":"go on"}]}`)
	asked := len(h.Provider.Fake.Requests())
	for _, c := range []struct {
		key, body string
		status    int
		code      string
	}{
		{"other", body, 400, "previous_response_not_found"},
		{"full", `{"model":"fake/echo"}`, 400, "missing_required_parameter"},
		{"full", `{"model":"fake/echo","input":"x","stream":true}`, 400, "unsupported_parameter"},
		{"full", `{"model":"chatonly/echo","input":"x"}`, 404, "model_not_callable"},
		{"full", `{"model":"router/echo","input":"x"}`, 404, "model_not_callable"},
		{"full", `{"model":"fake/null-fields","input":"x"}`, 402, "cannot_be_priced"}, // how long its answers are is not known
		{"chat", `{"model":"fake/echo","input":"x"}`, 402, "budget_exceeded"},         // 20,000 tokens are 0.20 USD
		{"models", body, 401, "invalid_api_key"},
	} {
		harness.WantRefusal(t, compactV1, h.Client.Post(compactV1, c.key, c.body), c.status, c.code)
	}
	if n := len(h.Provider.Fake.Requests()); n != asked {
		t.Errorf("%d refused requests were forwarded", n-asked)
	}
	if b := h.Records.Key("full").Budgets[0]; b.Reserved != "0" {
		t.Errorf("%+v", b)
	}
}
