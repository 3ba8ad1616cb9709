package recordings

import (
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/features/recordings"
	"github.com/gatehouse-proxy/gatehouse/internal/replay"
)

// serveRecordings lists the recordings of the tenant, or of all tenants for a key that sees them,
// newest first.
func serveRecordings(x *handlers.Request) error {
	store, _, err := opened(x)
	if err != nil {
		return err
	}
	q, err := x.StrictQuery(store.Params()...)
	if err != nil {
		return err
	}
	page, err := store.Page(q, x.Req.Caller.Tenants(q.Get("tenant")).Has)
	if err != nil {
		return err
	}
	return x.Reply(http.StatusOK, page)
}

// serveRecording shows what the list has of one recording.
func serveRecording(x *handlers.Request) error {
	store, _, err := opened(x)
	if err != nil {
		return err
	}
	e, err := store.Get(x.Name, seen(x))
	if err != nil {
		return err
	}
	noteRecording(x, e.ID, e.Workstation)
	return x.Reply(http.StatusOK, store.Shown(e))
}

// serveRecordingFile sends the file, or ranges of it.
func serveRecordingFile(x *handlers.Request) error {
	store, _, err := opened(x)
	if err != nil {
		return err
	}
	file, e, err := store.Open(x.Name, seen(x))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	noteRecording(x, e.ID, e.Workstation)
	info, err := file.Stat()
	if err != nil {
		return err
	}
	h := x.Writer.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+e.ID+`.ghrec"`)
	h.Set("Cache-Control", "no-store")
	w := &fileWriter{ResponseWriter: x.Writer, status: http.StatusOK}
	http.ServeContent(w, x.HTTP, "", info.ModTime(), file)
	if w.status == http.StatusRequestedRangeNotSatisfiable {
		h.Del("Content-Disposition")
		return apierror.New(apierror.RangeNotSatisfiable, "the recording has %d bytes", info.Size()).WithParam("Range")
	}
	x.Req.Outcome.Succeed(w.status)
	return nil
}

// fileStall is how long the reader of a file may take nothing of it.
const fileStall = time.Minute

// fileWriter notes the status of an answer. Without an error's own text it leaves room for ours.
type fileWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader keeps back a range that is not there.
func (w *fileWriter) WriteHeader(status int) {
	if w.status = status; status != http.StatusRequestedRangeNotSatisfiable {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write extends the time for the answer: the server's own is for short ones.
func (w *fileWriter) Write(p []byte) (int, error) {
	if w.status == http.StatusRequestedRangeNotSatisfiable {
		return len(p), nil
	}
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(fileStall))
	return w.ResponseWriter.Write(p)
}

// deleteRecording deletes one that is not being written.
func deleteRecording(x *handlers.Request) error {
	store, _, err := opened(x)
	if err != nil {
		return err
	}
	e, err := store.Delete(x.Name, seen(x))
	noteRecording(x, e.ID, e.Workstation)
	if err != nil {
		return err
	}
	return x.NoContent()
}

// opened returns the recordings, and the feature that has them.
func opened(x *handlers.Request) (store replay.Recordings, all *recordings.Recordings, err error) {
	if all, err = handlers.Part[*recordings.Recordings](x); err == nil {
		store, err = all.Open()
	}
	return store, all, err
}

// seen reports whether a tenant's things exist for the key.
func seen(x *handlers.Request) func(tenant string) bool { return x.Req.Caller.Tenants("").Has }

// noteRecording notes which recording the request is about.
func noteRecording(x *handlers.Request, id, workstation string) {
	x.Req.Outcome.Record.Recording = id
	x.Req.SetWorkstation(workstation)
}
