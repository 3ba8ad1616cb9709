package handlers

import (
	"net/url"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveModels answers with the models that the key can call, or with the one that the path names.
func serveModels(x *Request) error {
	if x.Name != "" {
		model, err := x.Gateway.Models().Get(x.HTTP.Context(), x.Req.Caller.Key, x.Name)
		if err == nil && !hasModel(x, x.Name) {
			err = modelcall.UnknownModel(x.Name)
		}
		if err != nil {
			return err
		}
		return x.Succeed(x.API.AppendModel(nil, model), nil)
	}
	q, err := x.Query()
	if err != nil {
		return err
	}
	return listModels(x, q)
}

// serveEmbeddingModels answers with those models that embed, as OpenRouter's SDKs ask for them.
func serveEmbeddingModels(x *Request) error {
	q, err := x.Query()
	if err != nil {
		return err
	}
	q.Set(api.OutputModalities, "embeddings")
	return listModels(x, q)
}

// serveImageModels answers with those models that make pictures, as OpenRouter lists them.
func serveImageModels(x *Request) error {
	return showModels(x, url.Values{}, api.OpenRouter{}, api.AppendImageModels)
}

// serveModelCount answers with how many models OpenRouter's list has.
func serveModelCount(x *Request) error {
	q, err := x.Query()
	if err != nil {
		return err
	}
	return showModels(x, q, api.OpenRouter{}, api.AppendModelCount)
}

func listModels(x *Request, q url.Values) error {
	return showModels(x, q, x.API, x.API.AppendModels)
}

func showModels(x *Request, q url.Values, a api.API, show api.ModelsFunc) error {
	page, err := a.ParsePage(q)
	if err != nil {
		return err
	}
	models, err := x.Gateway.Models().List(x.HTTP.Context(), x.Req.Caller.Key)
	if err != nil {
		return err
	}
	listed := models[:0]
	for _, m := range models {
		if hasModel(x, m.ID) {
			listed = append(listed, m)
		}
	}
	return x.Succeed(show(nil, listed, page), nil)
}

// hasModel reports whether the list of the family has a model that the key can call: Google's has those
// that its own API can call.
func hasModel(x *Request, name string) bool {
	if _, google := x.API.(api.Google); !google {
		return true
	}
	found, err := x.Gateway.Models().Find(x.Req.Caller.Key, name)
	return err == nil && (modelcall.Callable(found, wire.GenerateContent) || modelcall.Callable(found, wire.EmbedContent))
}

// serveModelEndpoints answers with where calls of the model that the path names can be sent.
func serveModelEndpoints(x *Request) error {
	ctx, key := x.HTTP.Context(), x.Req.Caller.Key
	model, err := x.Gateway.Models().Get(ctx, key, x.Name)
	if err != nil {
		return err
	}
	found, err := x.Gateway.Models().Find(key, x.Name)
	if err != nil {
		return err
	}
	var places []api.Place
	for _, c := range slices.Concat(found.Groups...) {
		places = append(places, api.Place{Provider: c.Provider.Name, Model: c.Model})
	}
	return x.Succeed(api.AppendModelEndpoints(nil, model, places), nil)
}
