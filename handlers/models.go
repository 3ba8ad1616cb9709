package handlers

import (
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
)

// serveModels answers with the models that the key can call, or with the one that the path names.
func serveModels(x *apiRequest) error {
	if x.name != "" {
		model, err := x.gateway.Models().Get(x.r.Context(), x.Credential.Key, x.name)
		if err != nil {
			return err
		}
		return x.succeed(x.api.AppendModel(nil, model), nil)
	}
	q, err := x.query()
	if err != nil {
		return err
	}
	return listModels(x, q)
}

// serveEmbeddingModels answers with those models that embed, as OpenRouter's SDKs ask for them.
func serveEmbeddingModels(x *apiRequest) error {
	q, err := x.query()
	if err != nil {
		return err
	}
	q.Set(api.OutputModalities, "embeddings")
	return listModels(x, q)
}

func listModels(x *apiRequest, q url.Values) error {
	page, err := x.api.ParsePage(q)
	if err != nil {
		return err
	}
	models, err := x.gateway.Models().List(x.r.Context(), x.Credential.Key)
	if err != nil {
		return err
	}
	return x.succeed(x.api.AppendModels(nil, models, page), nil)
}
