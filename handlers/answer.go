package handlers

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

const (
	// maxAnswer bounds a provider's whole answer, in bytes: images inside an
	// answer reach some tens of MB.
	maxAnswer = 64 << 20
	// maxErrorBody is what is read of a provider's error.
	maxErrorBody = 64 << 10
	// maxPooled is the largest buffer worth keeping for the next answer.
	maxPooled = 256 << 10
)

// answer sends the body upstream and forwards a whole answer, converted.
func (x *exchange) answer(op provider.Operation, body [][]byte, convert func(dst, answer []byte) ([]byte, openai.Summary, error)) error {
	resp, err := x.call.Send(x.r.Context(), op, body, false)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return x.providerError(resp)
	}
	received := buffers.Get().(*[]byte)
	defer keepBuffer(received)
	if *received, err = readAll((*received)[:0], resp.Body, resp.ContentLength); err != nil {
		return x.brokenAnswer(err)
	}
	if x.call.Whole(len(*received)); len(*received) == 0 {
		x.call.SaidNothing()
	}
	judged, refusal := x.call.JudgeAnswer(x.r.Context(), *received)
	if judged == nil {
		judged = *received
	}
	out := buffers.Get().(*[]byte)
	defer keepBuffer(out)
	var summary openai.Summary
	*out, summary, err = convert((*out)[:0], judged) // a refused answer too: its usage is real
	x.call.Summarise(summary)
	if refusal != nil {
		return refusal
	}
	if err != nil {
		return x.brokenAnswer(err)
	}
	if err := x.r.Context().Err(); err != nil && x.call.Drains() {
		return clientGone(err)
	}
	if summary.Err != nil { // the answer says itself that it failed; so does the record
		x.call.Fail(summary.Err)
		x.call.SaidNothing()
	} else {
		x.call.Succeed(http.StatusOK)
	}
	x.call.Finish()
	x.writeJSON(http.StatusOK, *out)
	return nil
}

// brokenAnswer is the failure of an answer that could not be read or made
// sense of; an error that is no fault yet is the provider's.
func (x *exchange) brokenAnswer(err error) error {
	if e := apierror.From(err); e.Code != apierror.Internal {
		return e
	}
	return x.broken("gave an answer that makes no sense", err)
}

// broken is a failure of the call's provider.
func (x *exchange) broken(what string, cause error) *apierror.Error {
	name := x.call.Provider().Name
	e := apierror.New(apierror.UpstreamError, "provider %q %s", name, what).WithCause(cause)
	e.Provider = name
	return e
}

// providerError turns a provider's refusal into ours.
func (x *exchange) providerError(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what there is of it
	return openai.Fault(resp.StatusCode, retryAfter(resp.Header, x.gateway.Now()),
		parseError(body), x.redact, x.call.Provider().Name)
}

// parseError reads the error in a body that is JSON or, as servers send it that
// have begun to stream, an event stream.
func parseError(body []byte) openai.ProviderError {
	none := openai.ProviderError{}
	if said := openai.ParseProviderError(body); said != none {
		return said
	}
	events := sse.NewReader(bytes.NewReader(body), maxErrorBody)
	defer events.Release()
	for {
		event, err := events.Next()
		if err != nil {
			return none
		}
		if said := openai.ParseProviderError(event.Data); said != none {
			return said
		}
	}
}

// retryAfter reads Retry-After, in seconds or as a date (RFC 9110, 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}

var errAnswerTooLarge = apierror.New(apierror.UpstreamError, "the provider's answer has more than %d bytes", maxAnswer)

// readAll appends all of r to dst; announced is the Content-Length or -1.
func readAll(dst []byte, r io.Reader, announced int64) ([]byte, error) {
	if announced > maxAnswer {
		return dst, errAnswerTooLarge
	}
	if need := int(announced) + 1; need > cap(dst) {
		dst = make([]byte, 0, need)
	}
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		case len(dst) > maxAnswer:
			return dst, errAnswerTooLarge
		}
	}
}

// buffers holds answers on their way; none is ever a request's, which the
// upstream connection may still read.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func keepBuffer(b *[]byte) {
	if cap(*b) <= maxPooled {
		buffers.Put(b)
	}
}
