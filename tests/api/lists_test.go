package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const (
	rerankV1      = "/v1/rerank"
	rerankOR      = "/api/v1/rerank"
	moderationsV1 = "/v1/moderations"
)

// rank asks a model to rank so many documents, the last of which has the query's word.
func rank(model string, documents int) string {
	texts := strings.Repeat(`"a",`, documents-1) + `"red"`
	return `{"model":"` + model + `","query":"red","documents":[` + texts + `],"top_n":2}`
}

// startRanking starts a gateway whose rerank models cost 2,000,000 nano-USD a search unit.
func startRanking(t *testing.T, s harness.Setup) *harness.Gateway {
	t.Helper()
	h := harness.Prepare(t)
	catalog := `{"models":[
		{"id":"fake/echo","mode":"rerank","context_length":4096,"price":{"query":"2000"}},
		{"id":"fake/no-usage","mode":"rerank","context_length":4096,"price":{"query":"2000"}},
		{"id":"router/echo","mode":"rerank","context_length":4096,"price":{"query":"2000"}},
		{"id":"fake/agent","mode":"moderation","price":{"prompt":"0"}}]}`
	if err := os.WriteFile(filepath.Join(h.Dir, "rank.json"), []byte(catalog), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Options += "\ncatalog DIR/rank.json\n"
	if err := h.Reload(s); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestDocumentsAreRankedAndPaidByTheSearchUnit(t *testing.T) {
	h := startRanking(t, harness.Setup{})
	for _, c := range []struct {
		path, model string
		documents   int
		cost        string
		source      string
		named       any
	}{
		{rerankV1, "fake/echo", 3, "0.002", "provider", nil},
		{"/v2/rerank", "fake/echo", 250, "0.006", "provider", nil},
		{rerankOR, "router/echo", 101, "0.004", "provider", "router/echo"},
		{rerankOR, "fake/echo", 2, "0.002", "provider", "fake/echo"},
		{rerankV1, "fake/no-usage", 250, "0.006", "estimated", nil},
	} {
		a := h.Client.Post(c.path, "chat", rank(c.model, c.documents))
		body := harness.Parse(t, a.Body)
		if results, _ := harness.At(body, "results").([]any); a.Status != 200 || len(results) != 2 || harness.At(body, "model") != c.named {
			t.Fatalf("%s: %d %s", c.path, a.Status, a.Body)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		for key, want := range map[string]any{
			"model": c.model, "status": harness.Number("200"), "usage": harness.Number(c.cost), "usage_source": c.source, "completion_tokens": harness.Number("0"),
		} {
			if got := harness.At(row, key); got != want {
				t.Errorf("%s of %s: row[%s] = %v, want %v", c.path, c.model, key, got, want)
			}
		}
	}
	if up := h.Provider.Fake.Requests()[0]; up.Path != "/v1/rerank" || !jsontest.Has(t, up.Body, `{"model":"echo","query":"red"}`) {
		t.Errorf("upstream %s %.80s", up.Path, up.Body)
	}
}

func TestTextsAreModerated(t *testing.T) {
	h := startRanking(t, harness.Setup{Options: "alias omni-moderation-latest fake/agent"})
	for _, body := range []string{
		`{"model":"fake/agent","input":["peace","violence"]}`,
		`{"input":["peace","violence"]}`,
		`{"model":null,"input":["peace","violence"]}`,
	} {
		a := h.Client.Post(moderationsV1, "chat", body)
		got := harness.Parse(t, a.Body)
		if a.Status != 200 || harness.At(got, "results", 1, "flagged") != true || harness.At(got, "results", 0, "flagged") != false || harness.At(got, "model") != "fake/agent" {
			t.Fatalf("%s: %d %s", body, a.Status, a.Body)
		}
		if up := h.Provider.Fake.Requests(); !jsontest.Has(t, up[len(up)-1].Body, `{"model":"agent"}`) {
			t.Errorf("upstream %s", up[len(up)-1].Body)
		}
	}
}
