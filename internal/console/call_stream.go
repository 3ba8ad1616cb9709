package console

import (
	"context"
	"errors"
	"io"
	"net/http"

	"go.uber.org/zap"
)

// opened is the answer of a public route that is read as it comes. close must be called.
type opened struct {
	header http.Header
	body   *io.PipeReader
	cancel context.CancelFunc
	done   chan struct{} // closed when the route has returned
}

// close ends the call, if it is under way, and waits for its end.
func (o *opened) close() {
	o.cancel()
	_ = o.body.Close()
	<-o.done
}

// errBrokenOff is the end of an answer that the route has broken off.
var errBrokenOff = errors.New("the answer broke off")

// openCall is visit.send for an answer that comes in parts. The error is a *Failure if the route refuses.
func openCall(v *visit, path string, body any) (*opened, error) {
	r, err := v.apiRequest(http.MethodPost, path, body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	reader, writer := io.Pipe()
	w := &parts{pipe: writer, begun: make(chan struct{})}
	o := &opened{header: w.Header(), body: reader, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		defer w.end(v.console.config.Logger)
		v.console.config.API(v.caller).ServeHTTP(w, r.WithContext(ctx))
	}()
	<-w.begun
	if w.status < 300 {
		return o, nil
	}
	<-o.done
	cancel()
	return nil, failureOf(w.status, w.refusal.body.Bytes())
}

// parts takes an answer as it comes, or a refusal as a whole.
type parts struct {
	refusal answer // has the header, too
	status  int
	pipe    *io.PipeWriter
	begun   chan struct{} // closed when the status is known: of a refusal when it is whole
}

func (p *parts) Header() http.Header { return p.refusal.Header() }

func (p *parts) WriteHeader(status int) {
	if p.status != 0 {
		return
	}
	if p.status = status; status < 300 {
		close(p.begun)
	}
}

func (p *parts) Write(text []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	if p.status >= 300 {
		return p.refusal.Write(text)
	}
	return p.pipe.Write(text)
}

// Flush has nothing to do: each part is read before Write returns.
func (p *parts) Flush() {}

// end is deferred by the route's goroutine. A route breaks an answer off by a panic, as net/http has it.
func (p *parts) end(logger *zap.Logger) {
	broken := recover()
	p.WriteHeader(http.StatusInternalServerError) // if there is none yet
	if p.status >= 300 {
		close(p.begun)
	}
	if broken == nil {
		_ = p.pipe.Close()
		return
	}
	if err, ok := broken.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		logger.Error("a public route panicked", zap.Any("panic", broken), zap.Stack("stack"))
	}
	_ = p.pipe.CloseWithError(errBrokenOff)
}
