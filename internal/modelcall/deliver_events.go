package modelcall

import (
	"bytes"
	"io"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// wholeAsEvents reads an answer in one piece to a request for a stream, and returns it as the events of
// the provider's own API: small servers do not stream, whatever they are asked.
func wholeAsEvents(c *call, resp *http.Response, op provider.Operation) (io.Reader, *apierror.Error) {
	body, err := readAll(nil, resp.Body, resp.ContentLength, &c.upstream.memory)
	if err != nil {
		return nil, brokenAnswer(c.Record.Provider, err)
	}
	answer := openai.Call{Model: c.asked.Model, ID: c.Record.ID, Created: c.Record.CreatedAt.Unix(), Provider: c.Record.Provider, Redact: c.shown(c.upstream.target.endpoint)}
	var events []byte
	var summary openai.Summary
	switch op {
	case provider.Responses:
		events, summary, err = openai.ResponsesEvents(nil, body, answer)
	case provider.Messages:
		events, summary, err = anthropic.Events(nil, body, answer)
	default:
		events, summary, err = openai.ChatEvents(nil, body, answer)
	}
	if err == nil {
		return bytes.NewReader(events), nil
	}
	if len(body) == 0 || openai.ParseProviderError(body) != (openai.ProviderError{}) {
		c.meter.markUnbilled()
	} else {
		c.meter.wholeAnswer(len(body))
	}
	c.meter.summarize(summary)
	return nil, apierror.From(err)
}
