package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Texts that are more than one request may have are sent in several. The connection of the first
// can close just as it is used again.
func TestAFurtherRequestOnAStaleConnectionIsSentAgain(t *testing.T) {
	var attempts atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Requests []json.RawMessage }
		_ = json.NewDecoder(r.Body).Decode(&request)
		if attempts.Add(1) == 2 {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		vectors := strings.TrimSuffix(strings.Repeat(`{"values":[1]},`, len(request.Requests)), ",")
		_, _ = w.Write([]byte(`{"embeddings":[` + vectors + `],"usageMetadata":{"promptTokenCount":7}}`))
	}))
	t.Cleanup(server.Close)
	h := harness.Start(t, harness.Setup{Providers: "provider gem {\ndialect gemini\nbase_url " + server.URL +
		"/v1beta\napi_key {env.PROVIDER_KEY}\ndiscover off\nmodels gemini-embedding-001\n}"})
	texts := strings.TrimSuffix(strings.Repeat(`"a",`, 150), ",")
	a := h.Client.Post("/v1/embeddings", "full", `{"model":"gem/gemini-embedding-001","input":[`+texts+`]}`)
	if a.Status != 200 || strings.Count(string(a.Body), `"index"`) != 150 || !jsontest.Has(t, a.Body, `{"prompt_tokens":14}`) || attempts.Load() != 3 {
		t.Errorf("%d attempts: %d %.300s", attempts.Load(), a.Status, a.Body)
	}
}
