package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

func TestModelsHaveAnthropicsFormForItsClients(t *testing.T) {
	p := faults.New()
	p.SetModels([]string{"echo", "fail", "lorem", "slow"})
	page := func(query string) string {
		var list struct {
			Data []struct{ Type, ID string }
			More bool    `json:"has_more"`
			Last *string `json:"last_id"`
		}
		req := httptest.NewRequest(http.MethodGet, "/v1/models"+query, nil)
		req.Header.Set("Anthropic-Version", "2023-06-01")
		resp := httptest.NewRecorder()
		p.ServeHTTP(resp, req)
		answer := resp.Body.Bytes()
		if err := json.Unmarshal(answer, &list); err != nil || len(list.Data) > 0 && *list.Last != list.Data[len(list.Data)-1].ID {
			t.Fatalf("%v: %s", err, answer)
		}
		text := fmt.Sprint(list.More)
		for _, m := range list.Data {
			text += " " + m.ID
		}
		return text
	}
	for query, want := range map[string]string{
		"":                           "false echo fail lorem slow",
		"?limit=2":                   "true echo fail",
		"?limit=2&after_id=fail":     "false lorem slow",
		"?limit=2&before_id=slow":    "true fail lorem",
		"?limit=1000&before_id=fail": "false echo",
		"?after_id=slow":             "false",
	} {
		if got := page(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
