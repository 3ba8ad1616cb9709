package catalog_test

import (
	"slices"
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

func TestTheListsOfBedrockAndVertexAreRead(t *testing.T) {
	models, odd, err := catalog.ParseDiscovered("aws", []byte(`{"modelSummaries":[
		{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0","modelId":"amazon.nova-pro-v1:0","modelName":"Nova Pro","inputModalities":["TEXT","IMAGE"],
		 "outputModalities":["TEXT"],"inferenceTypesSupported":["ON_DEMAND"],"modelLifecycle":{"status":"ACTIVE"}},
		{"modelId":"amazon.titan-embed-text-v2:0","modelName":"Titan","outputModalities":["EMBEDDING"]},
		{"modelId":"amazon.titan-image-generator-v2:0","outputModalities":["IMAGE"]},
		{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/x"}]}`))
	if err != nil || odd == nil || len(models) != 3 {
		t.Fatalf("%+v, %v, %v", models, odd, err)
	}
	nova, titan, image := models[0], models[1], models[2]
	if nova.ID != "aws/amazon.nova-pro-v1:0" || nova.DisplayName != "Nova Pro" || !slices.Equal(nova.InputModalities, []string{"text", "image"}) || !nova.Serves(catalog.OpChat) {
		t.Errorf("%+v", nova)
	}
	if titan.Serves(catalog.OpChat) || !titan.Serves(catalog.OpEmbeddings) || image.Serves(catalog.OpChat) {
		t.Errorf("%+v, %+v", titan, image)
	}
	models, odd, err = catalog.ParseDiscovered("aws", []byte(`{"inferenceProfileSummaries":[
		{"inferenceProfileId":"us.amazon.nova-pro-v1:0","inferenceProfileName":"US Nova Pro","type":"SYSTEM_DEFINED","status":"ACTIVE","models":[{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0"}]},
		{"inferenceProfileId":"0a1b","inferenceProfileArn":"arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/0a1b","type":"APPLICATION",
		 "models":[{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0"},{"modelArn":"arn:aws:bedrock:us-west-2::foundation-model/amazon.nova-pro-v1:0"}]},
		{"inferenceProfileId":"2c","type":"APPLICATION"}]}`))
	if err != nil || odd == nil || len(models) != 2 {
		t.Fatalf("%+v, %v, %v", models, odd, err)
	}
	own, us := models[0], models[1]
	if us.Name != "us.amazon.nova-pro-v1:0" || us.Base != "" || us.DisplayName != "US Nova Pro" {
		t.Errorf("%+v", us)
	}
	if own.Name != "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/0a1b" || own.Base != "amazon.nova-pro-v1:0" {
		t.Errorf("%+v", own)
	}
	models, odd, err = catalog.ParseDiscovered("google", []byte(`{"publisherModels":[{"name":"publishers/google/models/gemini-x","versionId":"default","launchStage":"GA"}]}`))
	if err != nil || odd != nil || len(models) != 1 || models[0].Name != "gemini-x" || models[0].DisplayName != "gemini-x" {
		t.Errorf("%+v, %v, %v", models, odd, err)
	}
}
