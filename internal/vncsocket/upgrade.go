package vncsocket

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"
)

// unsupported is logged once: a client that tries it tries again.
var unsupported sync.Once

// permits reports whether the request may become a WebSocket. Otherwise it was answered. The cookie
// says who the browser is, and a browser sends it from the pages of any site: the Origin says whose
// page it is.
func (o *Options) permits(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case r.ProtoMajor > 1 && r.Method == http.MethodConnect: // RFC 8441, RFC 9220
		unsupported.Do(func() {
			if o.Logger != nil {
				o.Logger.Warn("a client wants a desktop over a WebSocket of HTTP/2 or 3, which is not spoken here", zap.String("proto", r.Proto))
			}
		})
		http.Error(w, "A WebSocket needs HTTP/1.1 here.", http.StatusNotImplemented)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "Only GET is possible here.", http.StatusMethodNotAllowed)
	case !r.ProtoAtLeast(1, 1) || r.ProtoMajor > 1:
		http.Error(w, "A WebSocket needs HTTP/1.1 here.", http.StatusUpgradeRequired)
	case !o.Native && !OwnPage(r, o.Origins):
		http.Error(w, "The page is of another origin. Behind a proxy that ends TLS, name its address: origin https://…", http.StatusForbidden)
	case !offers(r, Protocol):
		http.Error(w, "The subprotocol "+Protocol+" is missing.", http.StatusBadRequest)
	case o.Gateway == nil || o.Gateway.Workstations() == nil:
		http.Error(w, "The gateway is not ready. Try again in a moment.", http.StatusServiceUnavailable)
	default:
		return true
	}
	return false
}

// OwnPage reports whether the request comes from a page of this origin, or of one that is named.
func OwnPage(r *http.Request, named []string) bool {
	origins := r.Header.Values("Origin")
	if len(origins) != 1 {
		return false
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	origin := canonical(origins[0])
	return origin == canonical(scheme+"://"+r.Host) ||
		slices.ContainsFunc(named, func(allowed string) bool { return canonical(allowed) == origin })
}

// canonical is an origin in lower case and without the port that goes without saying (RFC 6454,
// section 6.2).
func canonical(origin string) string {
	origin = strings.ToLower(strings.TrimSuffix(origin, "/"))
	for scheme, port := range map[string]string{"https://": ":443", "http://": ":80"} {
		if strings.HasPrefix(origin, scheme) {
			return strings.TrimSuffix(origin, port)
		}
	}
	return origin
}

// offers reports whether the client offers a subprotocol, by its exact name.
func offers(r *http.Request, protocol string) bool {
	for _, list := range r.Header.Values("Sec-WebSocket-Protocol") {
		for offered := range strings.SplitSeq(list, ",") {
			if strings.TrimSpace(offered) == protocol {
				return true
			}
		}
	}
	return false
}
