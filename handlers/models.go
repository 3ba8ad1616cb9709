package handlers

import (
	"net/url"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveModels answers with the models that the key can call, or with the one that the path names.
func serveModels(x *apiRequest) error {
	if x.name != "" {
		model, err := x.gateway.Models().Get(x.r.Context(), x.req.Caller.Key, x.name)
		if err == nil && !hasModel(x, x.name) {
			err = modelcall.UnknownModel(x.name)
		}
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

// serveImageModels answers with those models that make pictures, as OpenRouter lists them.
func serveImageModels(x *apiRequest) error {
	return showModels(x, url.Values{}, api.OpenRouter{}, api.AppendImageModels)
}

// serveModelCount answers with how many models OpenRouter's list has.
func serveModelCount(x *apiRequest) error {
	q, err := x.query()
	if err != nil {
		return err
	}
	return showModels(x, q, api.OpenRouter{}, api.AppendModelCount)
}

func listModels(x *apiRequest, q url.Values) error {
	return showModels(x, q, x.api, x.api.AppendModels)
}

func showModels(x *apiRequest, q url.Values, a api.API, show api.ModelsFunc) error {
	page, err := a.ParsePage(q)
	if err != nil {
		return err
	}
	models, err := x.gateway.Models().List(x.r.Context(), x.req.Caller.Key)
	if err != nil {
		return err
	}
	listed := models[:0]
	for _, m := range models {
		if hasModel(x, m.ID) {
			listed = append(listed, m)
		}
	}
	return x.succeed(show(nil, listed, page), nil)
}

// hasModel reports whether the list of the family has a model that the key can call: Google's has those
// that its own API can call.
func hasModel(x *apiRequest, name string) bool {
	if _, google := x.api.(api.Google); !google {
		return true
	}
	found, err := x.gateway.Models().Find(x.req.Caller.Key, name)
	return err == nil && (modelcall.Callable(found, wire.GenerateContent) || modelcall.Callable(found, wire.EmbedContent))
}

// serveModelEndpoints answers with where calls of the model that the path names can be sent.
func serveModelEndpoints(x *apiRequest) error {
	ctx, key := x.r.Context(), x.req.Caller.Key
	model, err := x.gateway.Models().Get(ctx, key, x.name)
	if err != nil {
		return err
	}
	found, err := x.gateway.Models().Find(key, x.name)
	if err != nil {
		return err
	}
	var places []api.Place
	for _, c := range slices.Concat(found.Groups...) {
		places = append(places, api.Place{Provider: c.Provider.Name, Model: c.Model})
	}
	return x.succeed(api.AppendModelEndpoints(nil, model, places), nil)
}
