package handlers

import (
	"errors"
	"net"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// readJSON reads the body of a model call and walks its top level once.
func (x *exchange) readJSON() (*jsonscan.Body, error) {
	err := x.call.AdmitCaller(x.w, x.r)
	x.showRates()
	if err != nil {
		return nil, err
	}
	data, err := x.call.ReadBody(x.w, x.r)
	if err != nil {
		return nil, err
	}
	if err := x.body.Parse(data); err != nil {
		return nil, invalidJSON(err)
	}
	return &x.body, nil
}

func invalidJSON(err error) error {
	refusal := apierror.New(apierror.InvalidJSON, "the request body is not acceptable JSON: %v", err)
	var syntax *jsonscan.SyntaxError
	if errors.As(err, &syntax) {
		refusal.Param = syntax.Key
	}
	return refusal
}

// admit takes the steps between parsing and sending. What a guardrail takes out of a body moves the
// rest.
func (x *exchange) admit(op provider.Operation, model string, b *jsonscan.Body) error {
	if err := x.call.Admit(x.r.Context(), op, model); err != nil {
		return err
	}
	if x.call.Provider().BuiltIn && !x.onLoopback() {
		x.gateway.WarnOfDemo("the test provider")
	}
	limited := x.call.NeedsDemand()
	if limited {
		if err := x.admitDemand(op, b); err != nil {
			return err
		}
	}
	if err := x.admitText(b); err != nil {
		return err
	}
	if err := x.call.AdmitState(x.r.Context(), b); err != nil {
		return err
	}
	if !limited {
		return nil
	}
	err := x.call.Reserve(x.r.Context(), b)
	x.showRates()
	return err
}

func (x *exchange) admitDemand(op provider.Operation, b *jsonscan.Body) error {
	read, list := request.ChatLimits, "messages"
	if op == provider.Responses {
		read, list = request.ResponsesLimits, "input"
	}
	limits, err := read(b)
	if err != nil {
		return err
	}
	if err := x.call.AdmitTools(b); err != nil {
		return err
	}
	err = x.call.AdmitDemand(x.r.Context(), limits, list)
	x.showRates()
	return err
}

// capOutput edits a request whose output has to be bounded.
func (x *exchange) capOutput(b *jsonscan.Body) {
	if x.call.Capped() {
		limits, field, n := x.call.OutputCap()
		limits.SetOutput(b, field, n)
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
func (x *exchange) capPrice(b *jsonscan.Body) error {
	prompt, completion, ok := x.call.MaxPrice()
	if !ok {
		return nil
	}
	return openrouter.SetMaxPrice(b, prompt, completion)
}

// priceCapped is capPrice for a request that was translated.
func (x *exchange) priceCapped(body []byte) []byte {
	if prompt, completion, ok := x.call.MaxPrice(); ok {
		return openrouter.AppendMaxPrice(body, prompt, completion)
	}
	return body
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
