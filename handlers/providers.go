package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveProviders lists the providers with the health of the models that the key can call. With a model in the
// query it also says whether the key can call that one, and why not.
func serveProviders(x *Request) error {
	q, err := x.StrictQuery("model")
	if err != nil {
		return err
	}
	models := x.Gateway.Models()
	answer := struct {
		Object string                   `json:"object"`
		Data   []gateway.ProviderStatus `json:"data"`
		Model  *gateway.ModelReason     `json:"model,omitempty"`
	}{Object: "list", Data: models.Status(x.Req.Caller.AllowsModel)}
	if name := q.Get("model"); name != "" {
		reason := models.Reason(x.Req.Caller.Key, name)
		answer.Model = &reason
	}
	return x.Reply(http.StatusOK, answer)
}
