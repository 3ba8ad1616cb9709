package console

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

const (
	// secureCookie has the ID of a session. The prefix makes browsers refuse one that another host of
	// the domain, or a page without TLS, has set.
	secureCookie = "__Host-gatehouse"
	// plainCookie is the cookie of http on this machine, where browsers differ about Secure and prefixes.
	plainCookie = "gatehouse"
)

// cookies has the ID of a session. Origin is the origin of the configuration.
type cookies struct{ origin string }

// name returns the name of the session's cookie for a request. Ok is false where there is no
// sign-in: without TLS, others on the way could read the key and the cookie.
func (c cookies) name(r *http.Request) (name string, ok bool) {
	switch {
	case r.TLS != nil, c.origin != "":
		return secureCookie, true
	case onThisMachine(r):
		return plainCookie, true
	}
	return "", false
}

// onThisMachine reports whether a browser on this machine asks. One elsewhere may ask through a proxy
// here: that names another host, or says in a header that it forwards.
func onThisMachine(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() || forwarded(r.Header) {
		return false
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	host = strings.ToLower(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// forwarded reports whether a proxy says that it has forwarded a request.
func forwarded(h http.Header) bool {
	for name := range h {
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// id returns the ID that the browser has, "" for none.
func (c cookies) id(r *http.Request) string {
	name, ok := c.name(r)
	if !ok {
		return ""
	}
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// set gives the browser the ID of its session; "" deletes the cookie.
func (c cookies) set(w http.ResponseWriter, r *http.Request, id string) {
	name, _ := c.name(r)
	cookie := &http.Cookie{Name: name, Value: id, Path: "/", Secure: name == secureCookie, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if id == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}
