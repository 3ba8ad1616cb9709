package handlers

import (
	"io"
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/replay"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsocket"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

var errManyReplays = apierror.New(apierror.GatewayBusy, "as many recordings are played or exported as this gateway does at once: try again later")

// serveReplay is a WebSocket that plays a recording, as internal/replay has it. It returns when the viewer
// is gone: the request is all that holds its connection.
func serveReplay(x *apiRequest) error {
	open, err := openRecording(x)
	if err != nil {
		return err
	}
	if x.r.ProtoMajor != 1 || !strings.EqualFold(x.r.Header.Get("Upgrade"), "websocket") {
		return apierror.New(apierror.InvalidValue, "this path is a WebSocket over HTTP/1.1, for a viewer of RFB")
	}
	x.req.Outcome.Succeed(http.StatusSwitchingProtocols)
	x.req.Finish()
	conn, err := wsconn.Accept(x.w, x.r, vncsocket.Protocol)
	if err != nil {
		return nil // it has answered
	}
	release := x.gateway.VNC().Replay()
	if release == nil {
		conn.Hangup(replay.CodeFailed, errManyReplays.Message)
		return nil
	}
	defer release()
	replay.Serve(x.r.Context(), conn, open)
	return nil
}

// serveFBS sends what a recording shows as an fbs file.
func serveFBS(x *apiRequest) error {
	open, err := openRecording(x)
	if err != nil {
		return err
	}
	release := x.gateway.VNC().Replay()
	if release == nil {
		return errManyReplays
	}
	defer release()
	w := &fileWriter{ResponseWriter: x.w, status: http.StatusOK}
	begun := false
	err = replay.Export(x.r.Context(), w, func() (replay.Reader, io.Closer, error) {
		reader, file, err := open()
		if begun = err == nil; begun {
			h := x.w.Header()
			h.Set("Content-Type", "application/octet-stream")
			h.Set("Content-Disposition", `attachment; filename="`+x.name+`.fbs"`)
			h.Set("Cache-Control", "no-store")
		}
		return reader, file, err
	})
	if !begun {
		return apierror.New(apierror.InvalidValue, "%v", err)
	}
	x.req.Outcome.Succeed(http.StatusOK) // whoever reads it may have left
	return nil
}

// openRecording returns how the recording of a request is opened. It holds nothing of the request.
func openRecording(x *apiRequest) (replay.Open, error) {
	store, err := x.gateway.VNC().Recordings()
	if err != nil {
		return nil, err
	}
	id, sees := x.name, seen(x)
	e, err := store.Get(id, sees)
	if err != nil {
		return nil, err
	}
	noteRecording(x, e.ID, e.Workstation)
	if len(store.Identities) == 0 {
		return nil, apierror.New(apierror.UnknownURL, "this gateway plays no recordings: its record block has no replay_identity")
	}
	return func() (replay.Reader, io.Closer, error) {
		file, _, err := store.Open(id, sees)
		if err != nil {
			return nil, nil, err
		}
		reader, err := recording.NewReader(file, store.Identities...)
		if err != nil {
			_ = file.Close()
			return nil, nil, err
		}
		return reader, file, nil
	}, nil
}
