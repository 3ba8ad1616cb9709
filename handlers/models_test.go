package handlers

import (
	"strings"
	"testing"
)

func TestModelsAreListedInTheFamilysShape(t *testing.T) {
	g := startGateway(t, setup{})
	a := call(t, g, "GET", "/v1/models", "models", "")
	if want := `{"object":"list","data":[{"id":"acme/m","object":"model","created":0,"owned_by":"acme"},` +
		`{"id":"acme/n","object":"model","created":0,"owned_by":"acme"}]}`; a.Code != 200 || a.Body.String() != want {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	a = call(t, g, "GET", "/api/v1/models", "models", "")
	if a.At(t, "data", 1, "id") != "acme/n" || a.At(t, "data", 0, "pricing", "prompt") != "0.000001" || a.At(t, "total_count") != 2.0 || a.At(t, "links", "next") != nil {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestListsHavePages(t *testing.T) {
	g := startGateway(t, setup{})
	target, seen := "/api/v1/models?limit=1", ""
	for target != "" {
		a := call(t, g, "GET", target, "models", "")
		id, _ := a.At(t, "data", 0, "id").(string)
		seen += id + " "
		target, _ = a.At(t, "links", "next").(string)
	}
	if seen != "acme/m acme/n " {
		t.Errorf("saw %q", seen)
	}
	if a := call(t, g, "GET", "/v1/models?limit=1", "models", ""); strings.Count(a.Body.String(), `"id"`) != 2 {
		t.Errorf("OpenAI's list has no pages: %s", a.Body)
	}
}

func TestOneModelIsShown(t *testing.T) {
	g := startGateway(t, setup{})
	if a := call(t, g, "GET", "/v1/models/acme/m", "models", ""); a.At(t, "id") != "acme/m" || a.At(t, "object") != "model" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := call(t, g, "GET", "/api/v1/model/acme/m", "models", ""); a.At(t, "data", "id") != "acme/m" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	call(t, g, "GET", "/v1/models/acme/x", "models", "").Want(t, 404, "model_not_found", `"acme/x"`)
	call(t, g, "GET", "/api/v1/model/acme/x", "models", "").Want(t, 404, "not_found", `"acme/x"`)
}

func TestModelsAreCounted(t *testing.T) {
	g := startGateway(t, setup{})
	for query, want := range map[string]float64{"": 2, "?output_modalities=all": 2, "?output_modalities=embeddings": 0} {
		if a := call(t, g, "GET", "/api/v1/models/count"+query, "models", ""); a.Code != 200 || a.At(t, "data", "count") != want {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
	call(t, g, "GET", "/api/v1/models/count", "chat", "").Want(t, 403, "permission_denied", "models:read")
}

func TestTheEndpointsOfAModelAreShown(t *testing.T) {
	g := startGateway(t, setup{})
	a := call(t, g, "GET", "/api/v1/models/acme/m/endpoints", "models", "")
	at := func(path ...any) any { return a.At(t, append([]any{"data"}, path...)...) }
	if at("id") != "acme/m" || at("architecture", "tokenizer") != nil || at("endpoints", 0, "provider_name") != "acme" ||
		at("endpoints", 0, "pricing", "prompt") != "0.000001" || at("endpoints", 0, "model_id") != "acme/m" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	call(t, g, "GET", "/api/v1/models/acme/x/endpoints", "models", "").Want(t, 404, "not_found", `"acme/x"`)
	call(t, g, "GET", "/api/v1/models/acme/m/endpoints", "chat", "").Want(t, 403, "permission_denied", "models:read")
}
