package socket

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
	"github.com/gatehouse-proxy/gatehouse/internal/watchdog"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

// Messages reads the messages of a client as if each was the body of a request: in time, and within
// the memory of bodies.
type Messages struct {
	Conn    *wsconn.Text
	Uploads *upload.Config
	Max     int64           // bytes of a message
	Context context.Context // of the connection
}

// Next reads a message whole. The upload has its memory, and must be closed. The error is an [End];
// the refusal of a message for which there was no memory, and which was thrown away (see [IsBusy]);
// or says that the client has left.
func (m *Messages) Next() (*upload.Upload, []byte, error) {
	message, err := m.Conn.Next()
	switch {
	case errors.Is(err, wsconn.ErrBinary):
		return nil, nil, &Binary
	case err != nil:
		return nil, nil, err
	}
	r := (&http.Request{Body: io.NopCloser(message), ContentLength: -1, Header: http.Header{}}).WithContext(m.Context)
	u := upload.New(m.Uploads, reading{m.Conn}, r, new(watchdog.Timer))
	data, err := u.Read(m.Max)
	switch {
	case err != nil:
		err = m.unread(message, err)
	case !utf8.Valid(data):
		err = &NotUTF8
	}
	if err != nil {
		u.Close()
		return nil, nil, err
	}
	return &u, data, nil
}

// IsBusy reports whether an error of [Messages.Next] refuses one message: the next one can be read.
func IsBusy(err error) bool {
	var refusal *apierror.Error
	return errors.As(err, &refusal) && refusal.Code == apierror.GatewayBusy
}

// unread is the end of a message that was not read. One for which there was no memory is thrown
// away.
func (m *Messages) unread(message io.Reader, err error) error {
	refusal := apierror.From(err)
	switch refusal.Code {
	case apierror.RequestTooLarge:
		return &TooLarge
	case apierror.RequestTimeout:
		return &Slow
	case apierror.GatewayBusy:
		_ = m.Conn.SetReadDeadline(time.Now().Add(m.Uploads.Timeout))
		if _, err := io.Copy(io.Discard, io.LimitReader(message, m.Max)); err != nil {
			return err
		}
		_ = m.Conn.SetReadDeadline(time.Time{})
		return refusal
	}
	return err
}

// reading lets a read of a message end in time.
type reading struct{ conn *wsconn.Text }

func (reading) Header() http.Header                  { return http.Header{} }
func (reading) Write(p []byte) (int, error)          { return len(p), nil }
func (reading) WriteHeader(int)                      {}
func (r reading) SetReadDeadline(at time.Time) error { return r.conn.SetReadDeadline(at) }
