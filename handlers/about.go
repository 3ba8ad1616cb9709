package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveAbout says what the gateway is and, to those who may know, what it keeps and how it is.
func serveAbout(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	return x.reply(http.StatusOK, gateway.ReadAbout(x.r.Context(), x.gateway, x.req.Caller.Key))
}
