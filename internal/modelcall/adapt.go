package modelcall

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// adapt turns the answer of a provider with a protocol of its own into one of the API that it was asked
// for.
func (u *upstream) adapt(resp *http.Response, s *wire.Sending) (*http.Response, error) {
	again := func(body []byte) (io.ReadCloser, error) {
		next, err := u.again(s, body)
		if err == nil && next.StatusCode != http.StatusOK {
			err = u.refusal(s, next)
		}
		if err != nil {
			return nil, err
		}
		s.Adapted.Received(next.Header)
		return next.Body, nil
	}
	if resp.StatusCode != http.StatusOK {
		repeat := u.adaptRefusal(resp, s)
		if repeat == nil {
			return resp, nil
		}
		next, err := u.repeat(s, resp, repeat)
		if err != nil {
			return nil, err
		}
		if u.status != http.StatusOK {
			u.adaptRefusal(next, s)
			return next, nil
		}
		resp = next
	}
	s.Adapted.Received(resp.Header)
	resp.Body = &adaptedBody{s.Adapted.Answer(resp.Body, s.Stream, again), resp.Body}
	resp.ContentLength = -1
	resp.Header = resp.Header.Clone()
	resp.Header.Set("Content-Type", "application/json")
	if s.Stream {
		resp.Header.Set("Content-Type", "text/event-stream")
	}
	return resp, nil
}

// adaptRefusal turns a provider's refusal into one of OpenAI's. It returns the request that is sent
// instead, nil for none.
func (u *upstream) adaptRefusal(resp *http.Response, s *wire.Sending) (repeat []byte) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what there is of it
	r := s.Adapted.Refusal(resp.StatusCode, resp.Header, body)
	_ = resp.Body.Close()
	resp.StatusCode, resp.Body, resp.ContentLength = r.Status, io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
	resp.Header = http.Header{"Content-Type": {"application/json"}}
	if r.RetryAfter > 0 {
		resp.Header.Set("Retry-After", strconv.FormatFloat(r.RetryAfter.Seconds(), 'f', -1, 64))
	}
	u.status = r.Status
	return r.Repeat
}

// plainStream returns the request that is sent once instead of one whose stream_options the provider
// refuses, nil for none. The answer that refuses can be read again.
func (u *upstream) plainStream(resp *http.Response, s *wire.Sending) []byte {
	refused := resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusUnprocessableEntity
	if !refused || !s.Stream || s.Adapted != nil || !s.Wire.StreamOptions {
		return nil
	}
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what there is of it
	resp.Body = &adaptedBody{bytes.NewReader(said), resp.Body}
	if !bytes.Contains(said, []byte("stream_options")) {
		return nil
	}
	body, err := u.body.Open()
	if err != nil {
		return nil
	}
	sent, _ := io.ReadAll(body)
	return params.WithoutStreamOptions(sent)
}

// repeat sends a request instead of one that was refused, in the same attempt.
func (u *upstream) repeat(s *wire.Sending, refused *http.Response, body []byte) (*http.Response, error) {
	_ = refused.Body.Close()
	resp, err := u.again(s, body)
	if err == nil {
		u.status = resp.StatusCode
		u.meter.answered(u.status)
	}
	return resp, err
}

// again sends another request in the same attempt.
func (u *upstream) again(s *wire.Sending, body []byte) (*http.Response, error) {
	u.trace.endAttempt(u.status, "")
	began := u.deps.Now()
	sent := provider.NewBody([][]byte{body}, func() {})
	u.request.Watch.Start(u.waits.begin(s.Stream), u)
	request := u.requestOf(s, sent)
	resp, err := u.target.endpoint.Send(u.ctx, u.traced(request))
	if errors.Is(err, provider.ErrStale) {
		u.trace.endAttempt(0, tracing.StaleConnection)
		resp, err = u.target.endpoint.Resend(u.ctx, u.traced(request))
	}
	u.request.Watch.Stop()
	u.waited(began)
	if err != nil {
		return nil, u.failure(err)
	}
	sent.Release()
	u.answer = resp.Body
	resp.Body = &answerBody{resp.Body, u}
	return resp, nil
}

// refusal is the failure of an attempt whose further request was refused.
func (u *upstream) refusal(s *wire.Sending, resp *http.Response) *apierror.Error {
	u.adaptRefusal(resp, s)
	return providerError(resp, u.deps.Now(), u.shown(), u.target.provider.Name)
}

// adaptedBody closes the provider's body.
type adaptedBody struct {
	io.Reader
	provider io.Closer
}

func (b *adaptedBody) Close() error { return b.provider.Close() }
