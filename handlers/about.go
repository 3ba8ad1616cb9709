package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// serveAbout says what the gateway is and, to those who may know, what it keeps and how it is.
func serveAbout(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	key := x.Credential.Key
	return x.reply(http.StatusOK, gateway.ReadAbout(x.r.Context(), x.gateway, key.AllTenants || key.Has(keys.ActivityRead), key.AllTenants))
}
