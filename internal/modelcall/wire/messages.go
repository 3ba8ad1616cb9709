package wire

import (
	"net/http"
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

// encodeMessages sends the caller's own bytes with a few edits.
func encodeMessages(e Encoding) (*Sending, error) {
	if e.Output > 0 {
		if err := params.CheckThinking(e.Body, e.Output); err != nil {
			return nil, err
		}
		e.Requested.SetOutput(e.Body, "", e.Output)
	} else if !e.openRouter() {
		params.RequireOutput(e.Body, chatonmessages.OutputLimit(e.Model.MessagesRules()))
	}
	if err := e.setPreferences(); err != nil {
		return nil, err
	}
	return encodeNativeMessages(e, messagesWire, &messagesAnswer{e.Answer})
}

// encodeCount sends a request whose tokens a provider counts.
func encodeCount(e Encoding) (*Sending, error) {
	if e.adapter(countWire) != nil && !e.Provider.Has(provider.Messages) {
		opt, err := messagesOptions(&e, messagesonchat.Options{SignedReasoning: true})
		if err != nil {
			return nil, err
		}
		chat, _ := messagesonchat.Read(e.Body, opt)
		return e.adaptedChat(countWire, chat, countAnswer{call: e.Answer})
	}
	return encodeNativeMessages(e, countWire, countAnswer{call: e.Answer})
}

// encodeNativeMessages writes a request for a provider that has the Messages API. Fields that the
// gateway does not know go with it, and so do the caller's beta features: neither works without the
// other.
func encodeNativeMessages(e Encoding, w *Wire, a Answer) (*Sending, error) {
	params.EncodeMessages(e.Body, e.Asked, e.Model.Name)
	if err := e.Sealed.LeaveOutThinking(e.Body); err != nil {
		return nil, err
	}
	if err := openrouter.EncodeMessagesFields(e.Body, e.openRouter()); err != nil {
		return nil, err
	}
	if e.adapter(w) != nil {
		return e.adapted(w, e.Body, a)
	}
	s := e.native(w, a)
	s.Header = http.Header{anthropic.VersionHeader: e.Caller.Header[anthropic.VersionHeader]}
	if beta := e.Caller.Header[anthropic.BetaHeader]; len(beta) > 0 {
		s.Header[anthropic.BetaHeader] = beta
	}
	s.Query = betaQuery(e.Caller.URL.RawQuery)
	return s, nil
}

// betaQuery returns the one parameter of the caller's URL that the provider gets: SDKs send beta=true
// with requests of their beta namespace.
func betaQuery(query string) string {
	if query == "" {
		return ""
	}
	values, _ := url.ParseQuery(query) // what there is of it
	if !values.Has("beta") {
		return ""
	}
	return url.Values{"beta": values["beta"][:1]}.Encode()
}

// checkVersion refuses a request that does not say its version of the API. Anthropic does the same.
func checkVersion(h http.Header) error {
	if h.Get(anthropic.VersionHeader) != "" {
		return nil
	}
	return apierror.New(apierror.MissingParameter, "anthropic-version: header is required; this gateway knows %s and %s",
		anthropic.Version2023, anthropic.Version2026).WithParam("anthropic-version")
}

// checkKnownVersion refuses a version whose requests the gateway cannot translate.
func checkKnownVersion(h http.Header) error {
	version := h.Get(anthropic.VersionHeader)
	if anthropic.KnownVersion(version) {
		return nil
	}
	return apierror.New(apierror.UnsupportedParameter, "anthropic-version %.32q is not known here, and the provider of this model has another API; use %s or %s",
		version, anthropic.Version2023, anthropic.Version2026).WithParam("anthropic-version")
}

// messagesAnswer is the answer of a provider that has the Messages API.
type messagesAnswer struct{ call openai.Call }

func (a *messagesAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return anthropic.Result(dst, body, a.call)
}

func (a *messagesAnswer) Stream() openai.Stream { return anthropic.NewStream(a.call) }

// countAnswer is a provider's count.
type countAnswer struct {
	call  openai.Call
	begin string // of the caller's answer, which the number follows; "" for the provider's own
}

// inputTokens begins an answer of the Responses API.
const inputTokens = `{"object":"response.input_tokens","input_tokens":`

func (a countAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	members, err := jsonscan.Lenient(body, nil)
	i, ok := jsonscan.Find(body, members, "input_tokens")
	if err != nil || !ok || members[i].Kind != '0' {
		bad := a.call.Broken("answered with what is no count of tokens").WithCause(err)
		return dst, openai.Summary{Err: bad}, bad
	}
	if a.begin != "" {
		return append(append(append(dst, a.begin...), members[i].Value(body)...), '}'), openai.Summary{}, nil
	}
	return append(dst, body...), openai.Summary{}, nil
}

func (a countAnswer) Stream() openai.Stream { return nil } // none is asked for

// RouterMessages and RouterCountTokens are [Messages] and [CountTokens] as OpenRouter documents its routes:
// the version and the limit of the output may be missing.
var (
	RouterMessages    = ofRouter(Messages, params.ParseRouterMessages)
	RouterCountTokens = ofRouter(CountTokens, params.ParseCountTokens)
)

func ofRouter(op *Operation, parse func(*jsonscan.Body) (params.Request, error)) *Operation {
	o := *op
	o.Parse = func(b *jsonscan.Body, h http.Header, _ params.Request) (params.Request, error) {
		if h.Get(anthropic.VersionHeader) == "" {
			h.Set(anthropic.VersionHeader, anthropic.Version2023) // providers want one
		}
		return parse(b)
	}
	return &o
}

// versioned parses a request that must say its version of the API. Anthropic demands it too.
func versioned(parse func(*jsonscan.Body) (params.Request, error)) func(*jsonscan.Body, http.Header, params.Request) (params.Request, error) {
	return func(b *jsonscan.Body, h http.Header, _ params.Request) (params.Request, error) {
		if err := checkVersion(h); err != nil {
			return params.Request{}, err
		}
		return parse(b)
	}
}
