package modelcall

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
)

// messages is Anthropic's Messages API: the caller's own bytes with a few edits for a provider that
// has it, or translated.
type messages struct{}

func (messages) kind() provider.Operation { return provider.Messages }
func (messages) messages() string         { return "messages" }

func (messages) parse(b *jsonscan.Body, h http.Header) (params.Request, error) {
	if err := checkVersion(h); err != nil {
		return params.Request{}, err
	}
	return params.ParseMessages(b)
}

func (messages) requestedLimits(b *jsonscan.Body) (params.RequestedLimits, error) {
	return params.MessagesLimits(b)
}

func (messages) references(b *jsonscan.Body) (params.Refs, error) {
	return params.MessagesReferences(b)
}

// heartbeat implements [Operation]. Claude Code gives up a stream in which it sees no event for too
// long, and does not see comments.
func (messages) heartbeat(http.Header) heartbeat { return heartbeat{event: anthropic.Ping} }

func (messages) encode(e encoding) (*sending, error) {
	switch e.target.operation {
	case provider.Chat, provider.Responses:
		if err := checkKnownVersion(e); err != nil {
			return nil, err
		}
		if e.target.operation == provider.Chat {
			return encodeMessagesAsChat(e)
		}
		return encodeMessagesAsResponses(e)
	}
	if e.output > 0 {
		if err := params.CheckThinking(e.body, e.output); err != nil {
			return nil, err
		}
		e.requested.SetOutput(e.body, "", e.output)
	}
	if err := e.setPreferences(); err != nil {
		return nil, err
	}
	s, err := encodeNativeMessages(e, provider.Messages)
	if err != nil {
		return nil, err
	}
	s.stream, s.answer = e.asked.Stream, &messagesAnswer{e.answer}
	return s, nil
}

// encodeNativeMessages writes a request for a provider that has the Messages API. Fields that the
// gateway does not know go with it, and so do the caller's beta features: neither works without the
// other.
func encodeNativeMessages(e encoding, op provider.Operation) (*sending, error) {
	params.EncodeMessages(e.body, e.asked, e.target.model.Name)
	if err := e.sealed.leaveOutThinking(e.body, e.target); err != nil {
		return nil, err
	}
	if err := openrouter.EncodeMessagesFields(e.body, e.openRouter()); err != nil {
		return nil, err
	}
	header := http.Header{anthropic.VersionHeader: e.inbound[anthropic.VersionHeader]}
	if beta := e.inbound[anthropic.BetaHeader]; len(beta) > 0 {
		header[anthropic.BetaHeader] = beta
	}
	return &sending{operation: op, body: e.body.Segments(nil), header: header, query: betaQuery(e.query)}, nil
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
func checkKnownVersion(e encoding) error {
	version := e.inbound.Get(anthropic.VersionHeader)
	if anthropic.KnownVersion(version) {
		return nil
	}
	return apierror.New(apierror.UnsupportedParameter, "anthropic-version %.32q is not known here, and the provider of this model has another API; use %s or %s",
		version, anthropic.Version2023, anthropic.Version2026).WithParam("anthropic-version")
}

// contentOf returns what of the request costs more than its bytes.
func contentOf(c *call) params.Content {
	if c.op.kind() != provider.Messages {
		return params.ContentOf(&c.body)
	}
	return params.MessagesContentOf(&c.body, c.r.Header[anthropic.BetaHeader])
}

// messagesAnswer is the answer of a provider that has the Messages API.
type messagesAnswer struct{ call openai.Call }

func (a *messagesAnswer) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return anthropic.Result(dst, body, a.call)
}

func (a *messagesAnswer) stream() openai.Stream { return anthropic.NewStream(a.call) }
