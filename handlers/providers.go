package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/models"
)

// Providers is a list of providers.
type Providers struct {
	// Object is "list".
	Object string `json:"object"`

	// Data are the providers, in the order of the configuration.
	Data []models.ProviderStatus `json:"data"`

	// Model is the one that was asked for.
	Model *models.ModelReason `json:"model,omitempty"`
}

// serveProviders lists the providers with the health of the models that the key can call. With a model in the
// query it also says whether the key can call that one, and why not.
func serveProviders(x *Request) error {
	q, err := x.StrictQuery("model")
	if err != nil {
		return err
	}
	index := x.Gateway.Models()
	answer := Providers{Object: "list", Data: index.Status(x.Req.Caller.AllowsModel)}
	if name := q.Get("model"); name != "" {
		reason := index.Reason(x.Req.Caller.Key, name)
		answer.Model = &reason
	}
	return x.Reply(http.StatusOK, answer)
}
