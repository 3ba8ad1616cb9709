package socket

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Check refuses a handshake that is none, as package wsconn would in plain text.
func Check(r *http.Request) error {
	const version = "13" // RFC 6455, section 4.1
	upgrades := slices.ContainsFunc(strings.Split(strings.Join(r.Header.Values("Connection"), ","), ","), func(option string) bool {
		return strings.EqualFold(strings.TrimSpace(option), "upgrade")
	})
	if !upgrades || r.Header.Get("Sec-Websocket-Version") != version || len(r.Header.Get("Sec-Websocket-Key")) != 24 {
		return apierror.New(apierror.InvalidValue,
			"the handshake of the WebSocket is not of RFC 6455: want Connection: Upgrade, Sec-WebSocket-Version 13 and a Sec-WebSocket-Key")
	}
	return nil
}

// Detached returns what the requests of a connection have in common with that of its handshake,
// without what is of the upgrade. It holds nothing of the handler. Gone ends its context.
func Detached(r *http.Request) (common *http.Request, gone context.CancelFunc) {
	ctx, gone := context.WithCancel(context.WithValue(context.Background(), http.LocalAddrContextKey, r.Context().Value(http.LocalAddrContextKey)))
	h := r.Header.Clone()
	for name := range h {
		if strings.HasPrefix(name, "Sec-Websocket-") {
			delete(h, name)
		}
	}
	h.Del("Upgrade")
	h.Del("Connection")
	h.Set("Content-Type", "application/json")
	at := *r.URL
	common = &http.Request{
		Method: http.MethodPost, URL: &at, Proto: r.Proto, ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Host: r.Host, RemoteAddr: r.RemoteAddr, RequestURI: r.RequestURI,
	}
	return common.WithContext(ctx), gone
}
