package handlers

import (
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// usualMembers is how many members a request has room for without growing.
const usualMembers = 24

// membersPool holds the rooms that walks of requests fill.
var membersPool = sync.Pool{New: func() any { m := make([]jsonscan.Member, 0, usualMembers); return &m }}

// keepMembers gives a room back when the request is on its way.
func keepMembers(members []jsonscan.Member) { membersPool.Put(&members) }

// readJSON reads the body of a model call and walks its top level once.
func (x *exchange) readJSON() ([]byte, []jsonscan.Member, error) {
	err := x.call.AdmitCaller(x.w, x.r)
	x.showRates()
	if err != nil {
		return nil, nil, err
	}
	body, err := x.call.ReadBody(x.w, x.r)
	if err != nil {
		return nil, nil, err
	}
	members, err := jsonscan.Strict(body, (*membersPool.Get().(*[]jsonscan.Member))[:0])
	if err != nil {
		return nil, nil, invalidJSON(err)
	}
	return body, members, nil
}

func invalidJSON(err error) error {
	refusal := apierror.New(apierror.InvalidJSON, "the request body is not acceptable JSON: %v", err)
	var syntax *jsonscan.SyntaxError
	if errors.As(err, &syntax) {
		refusal.Param = syntax.Key
	}
	return refusal
}

// admit takes the steps between parsing and sending. It returns the body and
// members to go on with: what a guardrail takes out of a body moves the rest.
func (x *exchange) admit(op provider.Operation, model string, body []byte, members []jsonscan.Member) ([]byte, []jsonscan.Member, error) {
	if err := x.call.Admit(x.r.Context(), op, model); err != nil {
		return body, members, err
	}
	if x.call.Provider().BuiltIn && !x.onLoopback() {
		x.gateway.WarnOfDemo("the test provider")
	}
	limited := x.call.NeedsDemand()
	if limited {
		if err := x.admitDemand(op, body, members); err != nil {
			return body, members, err
		}
	}
	body, members, err := x.admitText(body, members)
	if err != nil {
		return body, members, err
	}
	if err := x.call.AdmitState(x.r.Context(), body, members); err != nil {
		return body, members, err
	}
	if !limited {
		return body, members, nil
	}
	err = x.call.Reserve(x.r.Context(), body, members)
	x.showRates()
	return body, members, err
}

func (x *exchange) admitDemand(op provider.Operation, body []byte, members []jsonscan.Member) error {
	read, list := openai.ChatDemand, "messages"
	if op == provider.Responses {
		read, list = openai.ResponsesDemand, "input"
	}
	d, err := read(body, members)
	if err != nil {
		return err
	}
	if err := x.call.AdmitTools(body, members); err != nil {
		return err
	}
	err = x.call.AdmitDemand(x.r.Context(), d, list)
	x.showRates()
	return err
}

// capOutput edits a request whose output has to be bounded.
func (x *exchange) capOutput(patch *jsonscan.Patch, body []byte, members []jsonscan.Member) {
	if x.call.Capped() {
		d, field, n := x.call.OutputCap()
		d.CapOutput(patch, body, members, field, n)
	}
}

// outputCap is the limit of the output that a translated request gets, 0 for its own.
func (x *exchange) outputCap() int64 {
	if !x.call.Capped() {
		return 0
	}
	_, _, n := x.call.OutputCap()
	return n
}

// capPrice edits a request to a router that must not choose a dearer upstream.
func (x *exchange) capPrice(patch *jsonscan.Patch, body []byte, members []jsonscan.Member) error {
	prompt, completion, ok := x.call.MaxPrice()
	if !ok {
		return nil
	}
	return openrouter.MaxPrice(patch, body, members, prompt, completion)
}

// priceCapped is capPrice for a request that was translated.
func (x *exchange) priceCapped(body []byte, room []jsonscan.Member) ([]byte, error) {
	if _, _, ok := x.call.MaxPrice(); !ok {
		return body, nil
	}
	members, err := jsonscan.Strict(body, room[:0])
	if err != nil {
		return nil, err
	}
	patch := jsonscan.NewPatch(body, members)
	err = x.capPrice(patch, body, members)
	return patch.Append(nil), err
}

// onLoopback tells whether the request came in by an address that only this
// machine can reach.
func (x *exchange) onLoopback() bool {
	switch addr := x.r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return addr.IP.IsLoopback()
	case *net.UDPAddr: // HTTP/3
		return addr.IP.IsLoopback()
	}
	return true
}
