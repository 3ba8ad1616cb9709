package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveAbout says what the gateway is and, to those who may know, what it keeps and how it is.
func serveAbout(x *Request) error {
	if _, err := x.StrictQuery(); err != nil {
		return err
	}
	return x.Reply(http.StatusOK, gateway.ReadAbout(x.HTTP.Context(), x.Gateway, x.Req.Caller.Key))
}
