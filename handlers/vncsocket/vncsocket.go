package vncsocket

import (
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsocket"
)

// serveVNCSocket is a WebSocket for a program that brings the bytes of a native viewer. Its first
// message is a token of the workstation, which the same key has asked for.
func serveVNCSocket(x *handlers.Request) error {
	if _, err := x.Workstations(); err != nil {
		return err
	}
	desktops, err := handlers.Part[vncrelay.Gateway](x)
	if err != nil {
		return err
	}
	if x.HTTP.ProtoMajor != 1 || !strings.EqualFold(x.HTTP.Header.Get("Upgrade"), "websocket") {
		return apierror.New(apierror.InvalidValue, "this path is a WebSocket over HTTP/1.1, as caddy gatehouse desktop opens it")
	}
	x.Req.Outcome.Succeed(http.StatusSwitchingProtocols)
	x.Req.Finish() // the session has a record of its own
	key := x.Req.Caller.Credential
	vncsocket.Serve(x.Writer, x.HTTP, vncsocket.Options{
		Gateway: desktops, SignedIn: vncsocket.Key{Tenant: key.Tenant, Hash: key.Hash}, Native: true, Workstation: x.Name,
		Viewer: caddykit.ClientAddr(x.HTTP), Logger: x.Gateway.Requests().Logger,
	})
	return nil
}
