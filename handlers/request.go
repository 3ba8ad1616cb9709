package handlers

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
)

// Request is one request to an endpoint and its answer.
type Request struct {
	Req     *request.Request // nil until the caller is authenticated
	Writer  http.ResponseWriter
	HTTP    *http.Request
	Gateway Gateway
	API     api.API
	IDs     request.IDs
	Name    string // {id} in the path, or the rest of it
	Item    string // {session} in the path
}

// Gateway is what endpoints need of the configuration that serves them.
type Gateway interface {
	// Ready waits until the gateway has started.
	Ready(ctx context.Context) error
	// Authenticate finds the caller who holds the secret of a key. Resource is the path of the
	// request if secrets can be bound to it, else "".
	Authenticate(secret, resource string) (request.Caller, error)
	// IsKey reports whether text is the secret of a key, valid or not.
	IsKey(text string) bool
	// Requests are what model calls use.
	Requests() *modelcall.Deps
	Models() *models.Index
	// Parts are what it offers beside that, see Part.
	Parts() []any
}

// Part returns the first part of the gateway that is a T. The error is a 404.
func Part[T any](x *Request) (T, error) {
	part, ok := Offered[T](x.Gateway)
	if !ok {
		return part, apierror.New(apierror.UnknownURL, "this gateway has nothing at this path")
	}
	return part, nil
}

// Offered returns the first part of a gateway that is a T.
func Offered[T any](g Gateway) (part T, ok bool) {
	for _, offered := range g.Parts() {
		if part, ok := offered.(T); ok {
			return part, true
		}
	}
	return part, false
}

// keylessBody bounds how long strangers send a body: small forms. Without it each holds a
// connection for as long as it likes.
const keylessBody = 10 * time.Second

// serve runs the endpoint of a match for the request's method, after the checks that all endpoints
// have.
func serve(g Gateway, w http.ResponseWriter, r *http.Request, m *match) error {
	x := newRequest(g, w, r, m.api)
	x.Name, x.Item = m.name, m.item
	e := m.operation(g, r)
	if e == nil { // 405 426
		x.writeError(m.wrongMethod(g, r))
		return nil
	}
	if err := g.Ready(r.Context()); err != nil { // 503
		x.writeError(apierror.From(err))
		return nil
	}
	if keyless[e] && r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(g.Requests().Now().Add(keylessBody)) // net/http ends it with the request
	}
	if keyless[e] || long[e] {
		if err := e.Serve(x); err != nil {
			x.writeError(apierror.From(err))
		}
		return nil
	}
	route := routeName(m.api, e)
	caller, err := authenticated(g, r, m.api, resourceOf(m.api, m.name))
	if err != nil { // 401
		x.unauthenticated(route, err)
		return nil
	}
	x.run(e, caller, request.Route{Name: route, Recorded: e.Recorded})
	return nil
}

// run runs an endpoint for an authenticated caller.
func (x *Request) run(e *Operation, caller request.Caller, route request.Route) {
	if err := x.begin(caller, route); err != nil { // 503
		x.writeError(apierror.From(err))
		return
	}
	defer x.Req.Finish()
	x.showPlaceholders()
	err := x.Req.Require(e.Scope)
	if err == nil { // else 403
		err = e.Serve(x)
	}
	if err != nil {
		x.fail(apierror.From(err))
	}
}

// CallerOf returns the caller of a request to a [Long] operation, by its header. The error is a 401
// or a 503.
func CallerOf(x *Request) (request.Caller, error) {
	return authenticated(x.Gateway, x.HTTP, x.API, resourceOf(x.API, x.Name))
}

// Unauthenticated answers such a request without a valid key.
func Unauthenticated(x *Request, route string, err error) { x.unauthenticated(route, err) }

// Begin begins a request that is a part of a connection: r is none of HTTP. It must be finished.
// The error is a refusal.
func Begin(g Gateway, a api.API, t Turn, scope keys.Scope, route request.Route, r *http.Request) (*request.Request, error) {
	x := newRequest(g, nowhere{http.Header{}}, r, a)
	if t.Err != nil { // 401
		request.Unauthenticated(&g.Requests().Deps.Deps, route.Name, zap.String("request_id", x.IDs.RequestID), zap.String("remote", r.RemoteAddr))
		return nil, t.Err
	}
	route.Transport, route.Connection = TransportWebSocket, t.Connection
	if err := x.begin(t.Caller, route); err != nil {
		return nil, err
	}
	if err := x.Req.Require(scope); err != nil {
		x.Req.Outcome.Fail(apierror.From(err))
		x.Req.Finish()
		return nil, err
	}
	return x.Req, nil
}

// nowhere is the answer of a request that is answered over its connection.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}

// Turn is a Responses call that has come over a WebSocket.
type Turn struct {
	Caller     request.Caller
	Err        error // why there is no caller any more; else nil
	Connection string
	// Check is the name of the route by which a call is only checked, "" for one that is made. A
	// check leaves no row.
	Check string
}

// ServeTurn serves a call as one of POST.
func ServeTurn(g Gateway, a api.API, t Turn, w http.ResponseWriter, r *http.Request) {
	e, x := responsesEndpoint, newRequest(g, w, r, a)
	route := request.Route{Name: routeName(a, e), Recorded: true, Transport: TransportWebSocket, Connection: t.Connection}
	if t.Err != nil { // 401
		x.unauthenticated(route.Name, t.Err)
		return
	}
	if t.Check != "" {
		e, route.Name, route.Recorded = checkEndpoint, t.Check, false
	}
	x.run(e, t.Caller, route)
}

// TransportWebSocket is how rows name the way of a call that has come over a WebSocket.
const TransportWebSocket = "websocket"

// begin opens the request of an authenticated caller.
func (x *Request) begin(caller request.Caller, r request.Route) (err error) {
	r.Family, r.Quiet = x.API.Name(), !r.Recorded && OfPage(x.HTTP)
	x.Req, err = request.Begin(&x.Gateway.Requests().Deps.Deps, x.Writer, x.HTTP, caller, r, x.IDs)
	return err
}

// Call serves a model call.
func (x *Request) Call(op *wire.Operation) error {
	return modelcall.Serve(x.Gateway.Requests(), x.Req, op, x.API)
}

// CallModel serves a call of the model that the path names.
func (x *Request) CallModel(op *wire.Operation, path wire.Path) error {
	path.Model = x.Name
	return modelcall.ServePath(x.Gateway.Requests(), x.Req, op, x.API, path)
}

// refuse answers a request that belongs to no endpoint.
func refuse(g Gateway, w http.ResponseWriter, r *http.Request, a api.API, refusal *apierror.Error) error {
	newRequest(g, w, r, a).writeError(refusal)
	return nil
}

func newRequest(g Gateway, w http.ResponseWriter, r *http.Request, a api.API) *Request {
	x := &Request{Writer: w, HTTP: r, Gateway: g, API: a, IDs: newIDs(g)}
	x.IDs.Client = clientRequestID(r.Header)
	a.ShowIDs(w.Header(), x.IDs)
	return x
}

// newIDs returns two names of a request: one for headers and logs, and one in OpenRouter's form to
// ask for the generation. Both begin with the time in seconds, so that they sort in a log; the rest
// is random.
func newIDs(g Gateway) request.IDs {
	var random [22]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	now := g.Requests().Now().Unix()
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
	return request.IDs{RequestID: both[:half], GenerationID: both[half:]}
}

// maxClientID bounds the client's own request id in the record, in bytes.
const maxClientID = 128

// clientRequestID returns the client's own id of the request, if it is printable.
func clientRequestID(h http.Header) string {
	id := h.Get("X-Client-Request-Id")
	if id == "" {
		id = h.Get(api.RequestIDHeader)
	}
	if len(id) > maxClientID || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return id
}

// showPlaceholders lets the site's own configuration use facts of the request (log fields,
// headers). They are computed only when they are used.
func (x *Request) showPlaceholders() {
	repl, ok := x.HTTP.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return
	}
	q := x.Req
	repl.Map(func(name string) (any, bool) {
		if name == "http.auth.user.id" {
			return q.Caller.Name, true
		}
		rest, ours := strings.CutPrefix(name, "http.gatehouse.")
		if !ours {
			return nil, false
		}
		switch rest {
		case "key":
			return q.Outcome.Record.Key, true
		case "tenant":
			return q.Outcome.Record.Tenant, true
		case "model":
			return q.Outcome.Record.Model, true
		case "provider":
			return q.Outcome.Record.Provider, true
		case "request_id":
			return q.Outcome.Record.RequestID, true
		case "code":
			return q.Outcome.Record.Code, true
		}
		return nil, false
	})
}
