package modelcall

import (
	"bytes"
	"io"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// wholeAsEvents reads an answer in one piece to a request for a stream, and returns it as the events of
// the provider's own API: small servers do not stream, whatever they are asked.
func wholeAsEvents(a *attempt, resp *http.Response, w *wire.Wire) (io.Reader, *apierror.Error) {
	m, r := &a.upstream.meter, a.upstream.request.Outcome.Record
	body, err := readAll(nil, resp.Body, resp.ContentLength, &a.upstream.memory)
	if err != nil {
		return nil, brokenAnswer(a.provider(), err)
	}
	answer := openai.Call{Model: a.target().named, ID: r.ID, Created: r.CreatedAt.Unix(), Provider: a.provider(), Redact: a.shown()}
	events, summary, err := w.Events(nil, body, answer)
	if err == nil {
		return bytes.NewReader(events), nil
	}
	if len(body) == 0 || openai.ParseProviderError(body) != (openai.ProviderError{}) {
		m.markUnbilled()
	} else {
		m.wholeAnswer(len(body))
	}
	m.summarize(summary)
	return nil, apierror.From(err)
}
