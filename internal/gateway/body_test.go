package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// post is a request with a body of announced bytes (-1 = chunked).
func post(body io.Reader, announced int64) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", body)
	r.ContentLength = announced
	return r
}

// endless never ends, and counts what was read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func TestReadBodyReturnsTheSameBytesHoweverTheyCome(t *testing.T) {
	r := newRig(t, gateway.Config{}).start(t, t.Context())
	for _, size := range []int{0, 1, 2, 4095, 256 << 10, 256<<10 + 1, 3 << 20} {
		want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		for name, cut := range map[string]func(io.Reader) io.Reader{
			"whole":        func(r io.Reader) io.Reader { return r },
			"in halves":    iotest.HalfReader,
			"EOF with end": iotest.DataErrReader,
		} {
			for _, announced := range []int64{-1, int64(size)} {
				call := r.begin(t)
				got, err := call.ReadBody(httptest.NewRecorder(), post(cut(bytes.NewReader(want)), announced))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes %s, announced %d: got %d bytes, %v", size, name, announced, len(got), err)
				}
				call.Succeed(200)
				call.Finish()
			}
		}
	}
	if used := r.state.Memory.Used(); used != 0 {
		t.Errorf("%d bytes of memory were not given back", used)
	}
}

// A Content-Length is a claim: memory is taken for what has come.
func TestReadBodyTakesMemoryAsBytesArrive(t *testing.T) {
	r := newRig(t, gateway.Config{}).start(t, t.Context())
	call := r.begin(t)
	defer call.Finish()
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := call.ReadBody(httptest.NewRecorder(), post(reader, 30<<20))
		done <- err
	}()
	if _, err := writer.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if used := r.state.Memory.Used(); used < 1000 || used > 1<<20 {
		t.Errorf("after 1000 bytes of an announced 30 MiB %d bytes are taken", used)
	}
	_ = writer.CloseWithError(io.ErrUnexpectedEOF)
	wantFault(t, <-done, apierror.ClientGone, "the client left")
}

func TestReadBodyStopsAtTheLimit(t *testing.T) {
	r := newRig(t, gateway.Config{}).start(t, t.Context())
	for _, c := range []struct {
		size int64
		ok   bool
	}{{gateway.MaxBody, true}, {gateway.MaxBody + 1, false}} {
		call := r.begin(t)
		body, err := call.ReadBody(httptest.NewRecorder(), post(io.LimitReader(&endless{}, c.size), -1))
		if c.ok && (err != nil || int64(len(body)) != c.size) {
			t.Errorf("%d bytes: got %d, %v", c.size, len(body), err)
		}
		if !c.ok {
			wantFault(t, err, apierror.RequestTooLarge, "33554432")
		}
		call.Succeed(200)
		call.Finish()
	}
	source := &endless{}
	call := r.begin(t)
	defer call.Finish()
	_, err := call.ReadBody(httptest.NewRecorder(), post(source, -1))
	wantFault(t, err, apierror.RequestTooLarge, "")
	if source.read > gateway.MaxBody+1 {
		t.Errorf("%d bytes of an endless body were read", source.read)
	}
}

// The least that can be configured lets in a body of the largest size, also
// when its size is not announced and its buffer grows.
func TestTheLeastBodyMemoryHoldsTheLargestBody(t *testing.T) {
	r := newRig(t, gateway.Config{BodyMemory: gateway.MinBodyMemory}).start(t, t.Context())
	for _, announced := range []int64{-1, gateway.MaxBody} {
		call := r.begin(t)
		if _, err := call.ReadBody(httptest.NewRecorder(), post(io.LimitReader(&endless{}, gateway.MaxBody), announced)); err != nil {
			t.Errorf("announced %d: %v", announced, err)
		}
		call.Succeed(200)
		call.Finish()
	}
}

func TestATooLargeContentLengthIsRefusedUnread(t *testing.T) {
	r := newRig(t, gateway.Config{}).start(t, t.Context())
	source := &endless{}
	call := r.begin(t)
	defer call.Finish()
	_, err := call.ReadBody(httptest.NewRecorder(), post(source, gateway.MaxBody+1))
	wantFault(t, err, apierror.RequestTooLarge, "33554433")
	if source.read != 0 || r.state.Memory.Used() != 0 {
		t.Errorf("%d bytes read, %d taken", source.read, r.state.Memory.Used())
	}
}

func TestFullBodyMemoryIsAnAnswerNotAQueue(t *testing.T) {
	r := newRig(t, gateway.Config{BodyMemory: 8 << 20}).start(t, t.Context())
	first := r.begin(t)
	if _, err := first.ReadBody(httptest.NewRecorder(), post(io.LimitReader(&endless{}, 2<<20), 2<<20)); err != nil {
		t.Fatal(err)
	}
	second := r.begin(t)
	_, err := second.ReadBody(httptest.NewRecorder(), post(io.LimitReader(&endless{}, 3<<20), 3<<20))
	wantFault(t, err, apierror.GatewayBusy, "")
	second.Fail(apierror.From(err))
	second.Finish()
	first.Succeed(200)
	first.Finish()
	if used := r.state.Memory.Used(); used != 0 {
		t.Errorf("%d bytes were not given back", used)
	}
}

func TestReadBodyNamesWhatWentWrong(t *testing.T) {
	r := newRig(t, gateway.Config{}).start(t, t.Context())
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, c := range []struct {
		name    string
		request *http.Request
		code    apierror.Code
		text    string
	}{
		{"the site's own limit", post(http.MaxBytesReader(nil, io.NopCloser(strings.NewReader("12345")), 3), -1), apierror.RequestTooLarge, "limit of 3 bytes"},
		{"a deadline", post(iotest.ErrReader(os.ErrDeadlineExceeded), -1), apierror.RequestTimeout, "within 2m0s"},
		{"a broken line", post(iotest.ErrReader(io.ErrUnexpectedEOF), -1), apierror.ClientGone, ""},
		{"a client that left", post(iotest.ErrReader(errors.New("reset")), -1).WithContext(gone), apierror.ClientGone, ""},
		{"bad framing", post(iotest.ErrReader(errors.New("malformed chunked encoding")), -1), apierror.InvalidJSON, "could not be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := r.begin(t)
			defer call.Finish()
			_, err := call.ReadBody(httptest.NewRecorder(), c.request)
			wantFault(t, err, c.code, c.text)
		})
	}
}

func TestAnEncodedBodyIsRefused(t *testing.T) {
	r := newRig(t, gateway.Config{}).start(t, t.Context())
	for encoding, refused := range map[string]bool{"gzip": true, "br": true, "identity, gzip": true, "identity": false, "Identity": false} {
		call := r.begin(t)
		request := post(strings.NewReader("{}"), 2)
		request.Header.Set("Content-Encoding", encoding)
		_, err := call.ReadBody(httptest.NewRecorder(), request)
		if refused {
			wantFault(t, err, apierror.UnsupportedEncoding, encoding)
		} else if err != nil {
			t.Errorf("%q: %v", encoding, err)
		}
		call.Succeed(200)
		call.Finish()
	}
}
