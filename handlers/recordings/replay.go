package recordings

import (
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// serveReplay is a WebSocket that plays a recording, as internal/replay has it. It returns when the
// viewer is gone: the request is all that holds its connection.
func serveReplay(x *handlers.Request) error {
	store, all, err := opened(x)
	if err != nil {
		return err
	}
	e, err := store.MayPlay(x.Name, seen(x))
	noteRecording(x, e.ID, e.Workstation)
	if err != nil {
		return err
	}
	if x.HTTP.ProtoMajor != 1 || !strings.EqualFold(x.HTTP.Header.Get("Upgrade"), "websocket") {
		return apierror.New(apierror.InvalidValue, "this path is a WebSocket over HTTP/1.1, for a viewer of RFB")
	}
	x.Req.Outcome.Succeed(http.StatusSwitchingProtocols)
	x.Req.Finish()
	store.Watch(x.Writer, x.HTTP, e, all.Viewer(x.Req))
	return nil
}

// serveFBS sends what a recording shows as an fbs file.
func serveFBS(x *handlers.Request) error {
	store, all, err := opened(x)
	if err != nil {
		return err
	}
	e, err := store.MayPlay(x.Name, seen(x))
	noteRecording(x, e.ID, e.Workstation)
	begun := false
	if err == nil {
		begun, err = store.Export(&fileWriter{ResponseWriter: x.Writer, status: http.StatusOK}, x.HTTP, e, all.Viewer(x.Req))
	}
	if begun && err != nil {
		x.Req.Outcome.Fail(apierror.From(err))
		panic(http.ErrAbortHandler)
	}
	if err == nil {
		x.Req.Outcome.Succeed(http.StatusOK)
	}
	return err
}
