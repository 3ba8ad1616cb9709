package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveProviders lists the providers with the health of the models that the key can call. With a model in the
// query it also says whether the key can call that one, and why not.
func serveProviders(x *apiRequest) error {
	q, err := x.strictQuery("model")
	if err != nil {
		return err
	}
	models := x.gateway.Models()
	answer := struct {
		Object string                   `json:"object"`
		Data   []gateway.ProviderStatus `json:"data"`
		Model  *gateway.ModelReason     `json:"model,omitempty"`
	}{Object: "list", Data: models.Status(x.req.Caller.AllowsModel)}
	if name := q.Get("model"); name != "" {
		reason := models.Reason(x.req.Caller.Key, name)
		answer.Model = &reason
	}
	return x.reply(http.StatusOK, answer)
}
