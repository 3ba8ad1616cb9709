package wire

import (
	"cmp"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// Encoding is what a route needs to write a request for a model of a provider.
type Encoding struct {
	Body      *jsonscan.Body
	Caller    *http.Request // its header and query
	Asked     params.Request
	Requested params.RequestedLimits
	Model     *catalog.Model
	Provider  *provider.Provider
	Output    int64     // the output limit that the provider must be told; 0: the caller's own
	MaxPrice  *MaxPrice // that the provider must be told; nil for none
	Routed    bool      // the gateway acted on the routing fields, and left
	Forward   []byte    // for the provider: an object, nil for none
	API       API
	Pricer    Pricer
	Answer    openai.Call
	IDs       IDs
	Sealed    Sealed

	RefusesStreamOptions bool // the model, at its provider
}

// MaxPrice is the highest price that a router may choose, in USD per million tokens.
type MaxPrice struct{ Prompt, Completion string }

// Sealed knows the parts of a request that only the target which wrote them can read: encrypted
// reasoning, signed thinking.
type Sealed interface {
	// LeaveOutItems leaves out of a Responses request what the target cannot read, and what the gateway
	// itself encoded in a translation. The error is a 400.
	LeaveOutItems(b *jsonscan.Body) error
	// LeaveOutThinking leaves out of a Messages request the thinking that the target cannot read.
	LeaveOutThinking(b *jsonscan.Body) error
}

// openRouter reports whether the provider knows the request fields that only OpenRouter has.
func (e *Encoding) openRouter() bool { return e.Provider.Dialect.OpenRouterFields }

// setPreferences tells a router which upstreams it may choose. Where the gateway has nothing to say, it
// gets the caller's own bytes.
func (e *Encoding) setPreferences() error {
	if !e.openRouter() || !e.Routed && e.MaxPrice == nil {
		return nil
	}
	object, err := e.preferences()
	if err == nil {
		openrouter.SetProvider(e.Body, object)
	}
	return err
}

// preferences returns the object `provider` that a router gets, nil for none.
func (e *Encoding) preferences() (object []byte, err error) {
	if e.Routed {
		object = e.Forward
	} else if object, err = openrouter.Preferences(e.Body); err != nil {
		return nil, err
	}
	if p := e.MaxPrice; p != nil {
		object = openrouter.WithMaxPrice(object, p.Prompt, p.Completion)
	}
	return object, nil
}

// native is a request for a provider that has the caller's API: the caller's own bytes with edits.
func (e *Encoding) native(w *Wire, a Answer) *Sending {
	return &Sending{Wire: w, Body: e.Body.Segments(nil), Stream: e.Asked.Stream, Answer: a}
}

// nativeForm is native for a request that came as a form. The error is a 400.
func (e *Encoding) nativeForm(w *Wire, a Answer) (*Sending, error) {
	body, err := e.Asked.Form.Encode(e.Body)
	if err != nil {
		return nil, err
	}
	return &Sending{Wire: w, Body: body, Header: http.Header{"Content-Type": {e.Asked.Form.ContentType()}}, Stream: e.Asked.Stream, Answer: a}, nil
}

// translated is a request that a translation made, with the preferences that OpenRouter gets for its
// upstreams.
func (e *Encoding) translated(w *Wire, body []byte, a Answer) (*Sending, error) {
	if e.adapter(w) != nil {
		return e.adaptedBytes(w, body, a)
	}
	if e.openRouter() {
		object, err := e.preferences()
		if err != nil {
			return nil, err
		}
		body = openrouter.AppendProvider(body, object)
	}
	if w.StreamOptions && e.RefusesStreamOptions {
		if plain := params.WithoutStreamOptions(body); plain != nil {
			body = plain
		}
	}
	return &Sending{Wire: w, Body: [][]byte{body}, Stream: e.Asked.Stream, Answer: a}, nil
}

// adapter makes the provider look like one that has the API w; nil: it is one.
func (e *Encoding) adapter(w *Wire) adapter.Adapter { return adapter.Of(e.Provider, w.Name) }

// Requests returns how many requests to a provider an answer of so many tokens may take. Each of them is
// billed for the prompt.
func (r *Route) Requests(p *provider.Provider, output int64) int64 {
	return adapter.Requests(p, r.Wire.Name, output)
}

// adapted is a request of the API w for a provider with another protocol.
func (e *Encoding) adapted(w *Wire, body *jsonscan.Body, answer Answer) (*Sending, error) {
	return e.adapt(w, &adapter.Request{Request: &conversation.Request{Body: body}}, answer)
}

// adaptedChat is adapted for a request of another API than chat completions.
func (e *Encoding) adaptedChat(w *Wire, chat *conversation.Request, answer Answer) (*Sending, error) {
	return e.adapt(w, &adapter.Request{Request: chat}, answer)
}

func (e *Encoding) adapt(w *Wire, r *adapter.Request, answer Answer) (*Sending, error) {
	r.Caller, r.Stream, r.Model, r.Base = e.Caller.Header, e.Asked.Stream, e.Model.Name, cmp.Or(e.Model.Base, e.Model.Name)
	r.Provider, r.Output, r.Call = e.Provider, e.Output, e.Answer
	a, err := e.adapter(w)(r)
	if err != nil {
		return nil, err
	}
	return &Sending{
		Wire: w, Body: a.Body, Header: a.Header, Query: a.Query, Stream: e.Asked.Stream, Answer: answer,
		Adapted: a, LeftOut: a.LeftOut,
	}, nil
}

// adaptedBytes is adapted for a request that a translation made.
func (e *Encoding) adaptedBytes(w *Wire, body []byte, answer Answer) (*Sending, error) {
	b := jsonscan.Body{Own: true}
	defer b.Release()
	if err := b.Parse(body); err != nil {
		return nil, err // the gateway's own fault
	}
	return e.adapted(w, &b, answer)
}
