package handlers

import "net/http"

// serveProviders lists the providers with the health of the models that the key can call.
func serveProviders(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	return x.reply(http.StatusOK, listOf(x.gateway.Models().Status(x.req.Caller.AllowsModel)))
}
