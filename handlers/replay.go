package handlers

import (
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// serveReplay is a WebSocket that plays a recording, as internal/replay has it. It returns when the viewer
// is gone: the request is all that holds its connection.
func serveReplay(x *apiRequest) error {
	store, err := x.gateway.VNC().Recordings()
	if err != nil {
		return err
	}
	e, err := store.MayPlay(x.name, seen(x))
	noteRecording(x, e.ID, e.Workstation)
	if err != nil {
		return err
	}
	if x.r.ProtoMajor != 1 || !strings.EqualFold(x.r.Header.Get("Upgrade"), "websocket") {
		return apierror.New(apierror.InvalidValue, "this path is a WebSocket over HTTP/1.1, for a viewer of RFB")
	}
	x.req.Outcome.Succeed(http.StatusSwitchingProtocols)
	x.req.Finish()
	store.Watch(x.w, x.r, e, x.gateway.VNC().Viewer(x.req))
	return nil
}

// serveFBS sends what a recording shows as an fbs file.
func serveFBS(x *apiRequest) error {
	store, err := x.gateway.VNC().Recordings()
	if err != nil {
		return err
	}
	e, err := store.MayPlay(x.name, seen(x))
	noteRecording(x, e.ID, e.Workstation)
	begun := false
	if err == nil {
		begun, err = store.Export(&fileWriter{ResponseWriter: x.w, status: http.StatusOK}, x.r, e, x.gateway.VNC().Viewer(x.req))
	}
	if begun && err != nil {
		x.req.Outcome.Fail(apierror.From(err))
		panic(http.ErrAbortHandler)
	}
	if err == nil {
		x.req.Outcome.Succeed(http.StatusOK)
	}
	return err
}
