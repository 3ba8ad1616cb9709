package catalog_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// The name of a deployment is the operator's; its price and its rules are those of its model.
func TestADeploymentIsAsItsModel(t *testing.T) {
	models, err := catalog.Parse([]byte(`{
		"azure/gpt-x": {"litellm_provider": "azure", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "max_output_tokens": 9},
		"azure/embed-x": {"litellm_provider": "azure", "mode": "embedding", "input_cost_per_token": 1e-7, "output_cost_per_token": 0}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.NewCatalog(models, []catalog.Source{{
		Provider: "acme", CatalogName: "azure", Discover: true, Deployments: map[string]string{"prod": "gpt-x", "claude": "claude-haiku-4-5"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := c.Resolve("acme/prod"); err != nil || m.Name != "prod" || m.MaxOutput != 9 || m.Price == nil || m.DisplayName != "prod" {
		t.Errorf("before the list: %+v, %v", m, err)
	}
	list := `{"data": [
		{"id": "team", "object": "deployment", "model": "gpt-x", "status": "succeeded", "created_at": 1700000000},
		{"id": "vectors", "object": "deployment", "model": "embed-x"},
		{"id": "prod", "object": "deployment", "model": "embed-x"}
	], "object": "list"}`
	project := `{"value": [
		{"type": "ModelDeployment", "name": "team", "modelName": "gpt-x", "modelPublisher": "OpenAI"},
		{"type": "ModelDeployment", "name": "vectors", "modelName": "embed-x"}
	]}`
	for _, data := range []string{list, project} {
		found, odd, err := catalog.ParseDiscovered("acme", []byte(data))
		if err != nil || odd != nil {
			t.Fatal(err, odd)
		}
		c.SetDiscovered("acme", found)
		if m, err := c.Resolve("acme/team"); err != nil || m.Base != "gpt-x" || m.Price == nil || m.Mode != catalog.ModeChat {
			t.Errorf("%+v, %v", m, err)
		}
		if m, err := c.Resolve("acme/vectors"); err != nil || m.Mode != catalog.ModeEmbedding {
			t.Errorf("%+v, %v", m, err)
		}
		if m, err := c.Resolve("acme/prod"); err != nil || m.Base != "gpt-x" || m.Mode != catalog.ModeChat {
			t.Errorf("what the configuration says is not kept: %+v, %v", m, err)
		}
		if _, err := c.Resolve("acme/gpt-x"); err == nil {
			t.Error("a model without a deployment can be called")
		}
	}
	m, err := c.Resolve("acme/claude")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.MessagesRules(), catalog.CapabilitiesOf("claude-haiku-4-5"); got.Prefill != want.Prefill || got.Sampling != want.Sampling || got.MaxOutput != want.MaxOutput {
		t.Errorf("rules %+v, want %+v", got, want)
	}
}
