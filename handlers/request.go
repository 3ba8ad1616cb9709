package handlers

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// exchange is one request and its answer on their way through an endpoint.
type exchange struct {
	w       http.ResponseWriter
	r       *http.Request
	gateway *gateway.Gateway
	family  family
	name    string // the rest of the path, or {id} in it
	item    string // {session}
	ids     gateway.IDs
	secret  string // the caller's key, to be kept out of provider text
	call    *gateway.Call
	body    jsonscan.Body // of a model call
	sent    bool          // an answer has begun: errors can no more become a status
}

// serve runs the endpoint of a place for the request's method: its order is the
// order of checks.
func serve(g *gateway.Gateway, w http.ResponseWriter, r *http.Request, p *place) error {
	f := p.family
	x := newExchange(g, w, r, f)
	x.name, x.item = p.name, p.item
	e := p.pick(r.Method)
	if e == nil {
		x.writeError(p.wrongMethod(r))
		return nil
	}
	if err := g.Ready(r.Context()); err != nil {
		x.writeError(apierror.From(err))
		return nil
	}
	label := labelOf(f, e)
	found, err := authenticated(g, r)
	if err != nil {
		x.unauthenticated(label, err)
		return nil
	}
	x.secret = found.secret
	if x.call, err = g.Begin(found.Credential, gateway.Route{Name: label, Family: f.name(), Recorded: e.recorded}, x.ids); err != nil {
		x.writeError(apierror.From(err))
		return nil
	}
	defer x.call.Finish()
	x.showPlaceholders()
	if err = x.call.Require(e.scope); err == nil {
		err = e.serve(x)
	}
	if err != nil {
		x.fail(apierror.From(err))
	}
	return nil
}

// refuse answers a request that belongs to no endpoint.
func refuse(g *gateway.Gateway, w http.ResponseWriter, r *http.Request, f family, refusal *apierror.Error) error {
	newExchange(g, w, r, f).writeError(refusal)
	return nil
}

// Headers of every answer.
const (
	headerRequestID    = "X-Request-Id"
	headerGenerationID = "X-Generation-Id"
)

func newExchange(g *gateway.Gateway, w http.ResponseWriter, r *http.Request, f family) *exchange {
	x := &exchange{w: w, r: r, gateway: g, family: f, ids: newIDs(g)}
	x.ids.Client = clientRequestID(r.Header)
	h := w.Header()
	h[headerRequestID] = []string{x.ids.RequestID}
	if f.showsGenerationID() {
		h[headerGenerationID] = []string{x.ids.GenerationID}
	}
	return x
}

// newIDs names a request twice over: for whoever reads headers and logs, and
// in OpenRouter's form for whoever asks for the generation. Both begin with the
// time in seconds, so that they sort in a log, and are random after.
func newIDs(g *gateway.Gateway) gateway.IDs {
	var random [22]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	now := g.Now().Unix()
	id := make([]byte, 0, 80)
	id = append(id, "req_"...)
	id = hex.AppendEncode(id, binary.BigEndian.AppendUint32(nil, uint32(now)))
	id = hex.AppendEncode(id, random[:12])
	half := len(id)
	id = append(id, "gen-"...)
	id = strconv.AppendInt(id, now, 10)
	id = append(id, '-')
	id = hex.AppendEncode(id, random[12:])
	both := string(id)
	return gateway.IDs{RequestID: both[:half], GenerationID: both[half:]}
}

// maxClientID bounds the client's own request id in the record, in bytes.
const maxClientID = 128

// clientRequestID is what the client calls its request, if it is printable.
func clientRequestID(h http.Header) string {
	id := h.Get("X-Client-Request-Id")
	if id == "" {
		id = h.Get(headerRequestID)
	}
	if len(id) > maxClientID || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return id
}

// caller is who was authenticated, and with what.
type caller struct {
	keys.Credential
	secret string
}

type callerKey struct{}

// authenticated is the caller that gatehouse_auth has found, or that the
// request's own bearer token names.
func authenticated(g *gateway.Gateway, r *http.Request) (caller, error) {
	if c, ok := r.Context().Value(callerKey{}).(caller); ok {
		return c, nil
	}
	secret := bearer(r.Header)
	credential, err := g.Authenticate(secret)
	return caller{credential, secret}, err
}

// withCaller is the request for the next handler: it knows the caller and
// carries the key no more.
func withCaller(r *http.Request, c caller) *http.Request {
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
	r.Header = r.Header.Clone()
	r.Header.Del("Authorization")
	return r
}

// bearer is the token of the Authorization header (RFC 6750, 2.1); the
// scheme's case does not matter.
func bearer(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// showPlaceholders makes the call's facts usable in the site's own
// configuration (log fields, headers); they are computed only when asked for.
func (x *exchange) showPlaceholders() {
	repl, ok := x.r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return
	}
	call := x.call
	repl.Map(func(name string) (any, bool) {
		if name == "http.auth.user.id" {
			return call.Credential.Name, true
		}
		rest, ours := strings.CutPrefix(name, "http.gatehouse.")
		if !ours {
			return nil, false
		}
		switch rest {
		case "key":
			return call.Record.Key, true
		case "tenant":
			return call.Record.Tenant, true
		case "model":
			return call.Record.Model, true
		case "provider":
			return call.Record.Provider, true
		case "request_id":
			return call.Record.RequestID, true
		case "code":
			return call.Record.Code, true
		}
		return nil, false
	})
}
