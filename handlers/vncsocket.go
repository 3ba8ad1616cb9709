package handlers

import (
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// serveVNCSocket is a WebSocket for a program that brings the bytes of a native viewer. Its first message
// is a token of the workstation, which the same key has asked for.
func serveVNCSocket(x *apiRequest) error {
	if _, err := x.workstations(); err != nil {
		return err
	}
	if x.r.ProtoMajor != 1 || !strings.EqualFold(x.r.Header.Get("Upgrade"), "websocket") {
		return apierror.New(apierror.InvalidValue, "this path is a WebSocket over HTTP/1.1, as caddy gatehouse desktop opens it")
	}
	x.req.Outcome.Succeed(http.StatusSwitchingProtocols)
	x.req.Finish() // the session has a record of its own
	key := x.req.Caller.Credential
	x.gateway.VNC().ServeSocket(x.w, x.r, caddykit.ClientAddr(x.r), key.Tenant, key.Hash, x.name)
	return nil
}
