// Package vncsocket serves a desktop to a browser: one WebSocket whose messages are RFB, as noVNC
// speaks it.
//
//	browser                              gateway                              workstation
//	  |  GET, Upgrade, gatehouse.vnc.1     |                                       |
//	  |---------------------------------->|  Origin, method, version              |
//	  |<---------------------------------- 101                                    |
//	  |  the token, one binary message    |                                       |
//	  |---------------------------------->|  live, and of the key that signed in  |
//	  |  RFB 003.008, security None       |                                       |
//	  |<--------------------------------->|  dial, log in, up to its ServerInit   |
//	  |                                   |<------------------------------------->|
//	  |  SecurityResult 0 (else 1 and a   |                                       |
//	  |  reason), ClientInit, ServerInit  |                                       |
//	  |<--------------------------------->|                                       |
//	  |  messages -------------------> Filter ------------------------------------>|
//	  |<------------------------------------------- bytes, in messages of 32 KiB  |
//	  |                                   |                                       |
//	  |  Close: a code and a reason       |                                       |
//	  |<----------------------------------|                                       |
//
// The handler of the request has found out who has signed in, and calls
//
//	vncsocket.Serve(w, r, vncsocket.Options{
//		Gateway:   vnc.Current(ctx),                        // of the newest configuration
//		SignedIn:  vncsocket.Key{Tenant: …, Hash: …},        // of the caller: tokens must be its own
//		OnSignOut: func(used func() time.Time, f func()) (stop func()) { return store.OnEnd(id, life, used, f) },
//		Origins:   origins,                                 // besides the request's own
//	})
//
// Serve returns when the session begins, or when the browser was refused. The session then goes on in
// a goroutine of its own: it holds nothing of the handler nor of its configuration, and so outlives a
// reload, as a native viewer's does. Admission, record, log, metrics and limits are those of
// [vncrelay], with the security "browser".
//
// A browser reads a socket without limit, so that the only brake is that it asks for updates. So where
// the fps of the configuration are off, 60 are set: the filter then takes the pseudo-encoding out that
// would have the server send unasked.
package vncsocket

import (
	"net"
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

const (
	// Protocol is the subprotocol. Clients of other protocols fail at the upgrade.
	Protocol = "gatehouse.vnc.1"
	// Security names in lists, records and metrics how a browser shows its token.
	Security = vncsession.SecurityBrowser

	// SecurityNative names a native viewer whose bytes a program brings over a WebSocket.
	SecurityNative = "socket"

	// TokenTime is how long the first message, the token, may take.
	TokenTime = 5 * time.Second
	// maxToken bounds the first message, in bytes: a token has 26.
	maxToken = 64
	// defaultFPS is how many updates a browser may ask for in a second where the configuration sets
	// none: more than it can show.
	defaultFPS = 60
)

// Options are what Serve needs besides the request.
type Options struct {
	// Gateway is that of the newest configuration, nil where it is not ready or has no vnc block.
	Gateway vncrelay.Gateway
	// SignedIn is the key that has signed in, as the requests for tokens have it. Only its own tokens
	// are taken.
	SignedIn Key
	// OnSignOut has f called, once and in any goroutine, when the sign-in ends: signed out, too old,
	// the key gone. Where it has ended already, f is called soon. Used returns when the browser has last
	// sent a key or pointer event, the zero time before the first. Both wait for nothing. Stop
	// takes that back. None may depend on the handler's configuration. nil: the sign-in does not end.
	OnSignOut func(used func() time.Time, f func()) (stop func())
	// Native is for a program that brings the bytes of a native viewer. Its request was authenticated
	// by a header that no page sends, so that its Origin does not count; it brakes the desktop as TCP
	// does, so that fps may be off; and its viewer does not connect again by itself.
	Native bool
	// Workstation is the only one whose tokens are taken. Default: any.
	Workstation string
	// Viewer is the browser's address. Default: the one that the connection comes from.
	Viewer netip.AddrPort
	// Origins are origins of pages that may connect, besides the one that the request itself is for:
	// https://console.example.com behind a proxy that ends TLS.
	Origins []string
	// Limits bound the connections without a good token yet, together with those of native viewers.
	Limits connlimit.Limits
	// Step bounds each step of the handshakes. Default: [rfb.StepTimeout].
	Step time.Duration
	// Dial connects to workstations. Default: [vncrelay.DialWorkstation].
	Dial vncrelay.Dialer
	// Logger gets a line, once, if a client wants a WebSocket over HTTP/2 or 3. Default: none.
	Logger *zap.Logger
}

// Key is a key as tokens know it.
type Key struct {
	Tenant string
	Hash   string // SHA-256 of the secret, hex, as [desktop.Issuer] has it
}

// Serve upgrades the request, and brings the browser to its desktop. It returns when the session
// begins or the browser is refused: then it was answered, or was sent why.
func Serve(w http.ResponseWriter, r *http.Request, o Options) {
	if !o.permits(w, r) {
		return
	}
	conn, err := wsconn.Accept(w, r, Protocol)
	if err != nil {
		return // the client has an answer
	}
	h := newHandshake(o, r, conn)
	relay := h.run()
	if relay == nil {
		h.stop()
		return
	}
	// The handshake has grown this stack, and belongs to a request; the session begins with a small one.
	stop := h.stop
	go func() {
		defer stop()
		relay.Run()
	}()
}

func newHandshake(o Options, r *http.Request, conn *wsconn.Conn) *handshake {
	if o.Step <= 0 {
		o.Step = rfb.StepTimeout
	}
	if o.Dial == nil {
		o.Dial = vncrelay.DialWorkstation
	}
	address := o.Viewer
	if !address.IsValid() {
		address = vncrelay.AddressOf(conn.RemoteAddr())
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	socket := vncrelay.Lowest(conn)
	vncrelay.TuneTCP(socket)
	return &handshake{
		gateway: o.Gateway, key: o.SignedIn, native: o.Native, workstation: o.Workstation, dial: o.Dial, step: o.Step, address: address,
		public: local == nil || !vncrelay.AddressOf(local).Addr().IsLoopback(),
		viewer: newViewer(conn, o.OnSignOut),
		half:   vncrelay.NewHalfOpen(o.Gateway.ConnLimiter(), address.Addr(), o.Limits, socket),
	}
}
