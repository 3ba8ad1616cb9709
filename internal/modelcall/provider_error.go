package modelcall

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// maxErrorBody is how much of a provider's error is read, in bytes.
const maxErrorBody = 64 << 10

// providerError turns a provider's refusal into the gateway's.
func providerError(resp *http.Response, now time.Time, redact func(string) string, name string) *apierror.Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what there is of it
	return openai.Fault(resp.StatusCode, provider.RetryAfter(resp.Header, now), parseError(body), redact, name)
}

// lacksRoute reports whether a failure with this status means that the provider does not have the route.
func lacksRoute(failure *apierror.Error, status int) bool {
	var said *openai.ProviderError
	unsaid := errors.As(failure.Cause, &said) && said.Message == "" && said.Code == ""
	return status == http.StatusMethodNotAllowed || status == http.StatusNotFound && unsaid
}

// parseError reads the error in a body that is JSON or, as servers send it that have begun to stream,
// an event stream.
func parseError(body []byte) openai.ProviderError {
	none := openai.ProviderError{}
	if found := openai.ParseProviderError(body); found != none {
		return found
	}
	events := sse.NewReader(bytes.NewReader(body), maxErrorBody)
	defer events.Release()
	for {
		event, err := events.Next()
		if err != nil {
			return none
		}
		if found := openai.ParseProviderError(event.Data); found != none {
			return found
		}
	}
}

// brokenAnswer is the failure of an answer that could not be read or that makes no sense.
func brokenAnswer(provider string, err error) *apierror.Error {
	if e := apierror.From(err); e.Code != apierror.Internal {
		return e
	}
	return askedProvider(provider).Unreadable(err)
}
