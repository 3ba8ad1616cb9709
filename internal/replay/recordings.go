package replay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/share"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

const (
	// subprotocol is that of desktops in a browser.
	subprotocol = "gatehouse.vnc.1"
	// maxUnderWay bounds the recordings that are played and exported at once: each has up to 250 MiB, of
	// which moments and the largest picture take the most.
	maxUnderWay = 8
)

// underWay counts those of all configurations.
var underWay share.Pool

var errTooMany = apierror.New(apierror.GatewayBusy, "this key can play and export no more recordings now, as this gateway does %d at once: close one, or try again later", maxUnderWay)

// Recordings are those of a configuration, to be watched.
type Recordings struct{ *recording.Store }

// Shown is what is known of a recording, and whether it can be played and exported here.
type Shown struct {
	recording.Entry
	Replay bool `json:"replay"`
}

// Shown returns what is known of a recording.
func (r Recordings) Shown(e recording.Entry) Shown { return Shown{e, len(r.Identities) > 0} }

// MayPlay returns what is known of a recording of a tenant that sees lets through. The error is
// [apierror.NotFound], or [apierror.UnknownURL] where the gateway has no key with which it reads recordings.
func (r Recordings) MayPlay(id string, sees func(tenant string) bool) (recording.Entry, error) {
	e, err := r.Get(id, sees)
	if err == nil && len(r.Identities) == 0 {
		err = apierror.New(apierror.UnknownURL, "this gateway plays no recordings: its record block has no replay_identity")
	}
	return e, err
}

// opener opens a recording of a tenant that sees lets through.
func (r Recordings) opener(id string, sees func(tenant string) bool) Open {
	return func() (Reader, io.Closer, error) {
		file, _, err := r.Open(id, sees)
		if err != nil {
			return nil, nil, err
		}
		reader, err := recording.NewReader(file, r.Identities...)
		if err != nil {
			_ = file.Close()
			return nil, nil, err
		}
		return growing{reader, func() bool {
			e, err := r.Get(id, sees)
			return err == nil && e.State == recording.Recording
		}}, file, nil
	}
}

// growing reads a recording that may still be written.
type growing struct {
	Reader
	open func() bool
}

// Next is that of the reader. Where an open session has not written more yet, the error is errOpen.
func (g growing) Next() (recording.Frame, error) {
	f, err := g.Reader.Next()
	if errors.Is(err, io.ErrUnexpectedEOF) && g.open() {
		err = errOpen
	}
	return f, err
}

// Viewer is who watches or exports a recording.
type Viewer struct {
	Tenant, Key string                   // of the key
	Sees        func(tenant string) bool // the key, as it is now, sees recordings of a tenant
}

// checkEvery is how soon a replay ends whose key may not see it any more.
const checkEvery = time.Second

var errKeyEnded = apierror.New(apierror.InvalidAPIKey, "The key may not see this recording any more.")

// begin takes one of the places, until end, and returns a context that ends with the request's or because of
// errKeyEnded.
func (by Viewer) begin(req *http.Request, tenant string) (ctx context.Context, end func(), err error) {
	release, ok := underWay.Acquire(by.Tenant, by.Key, maxUnderWay)
	if !ok {
		return nil, nil, errTooMany
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	var check sync.WaitGroup
	check.Go(func() {
		tick := time.NewTicker(checkEvery)
		defer tick.Stop()
		for by.Sees(tenant) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		cancel(errKeyEnded)
	})
	return ctx, func() { cancel(nil); check.Wait(); release() }, nil
}

// Watch makes a WebSocket of a request, and plays a recording there until the viewer is gone, may not see
// it any more, or the request's context ends.
func (r Recordings) Watch(w http.ResponseWriter, req *http.Request, e recording.Entry, by Viewer) {
	conn, err := wsconn.Accept(w, req, subprotocol)
	if err != nil {
		return // it has answered
	}
	ctx, end, err := by.begin(req, e.Tenant)
	if err != nil {
		conn.Hangup(codeFailed, errTooMany.Message)
		return
	}
	defer end()
	serve(ctx, conn, r.opener(e.ID, by.Sees))
}

// Export answers with a recording as an fbs file. begun reports that some of it has been written: after an
// error the connection must break then, or what there is would look whole.
func (r Recordings) Export(w http.ResponseWriter, req *http.Request, e recording.Entry, by Viewer) (begun bool, err error) {
	ctx, end, err := by.begin(req, e.Tenant)
	if err != nil {
		return false, err
	}
	defer end()
	a := &answer{ResponseWriter: w, name: e.ID + ".fbs"}
	err = export(ctx, a, r.opener(e.ID, by.Sees))
	var refused *apierror.Error
	switch {
	case err == nil || errors.As(err, &refused):
	case a.begun:
		err = apierror.New(apierror.ClientGone, "the client left").WithCause(err)
	default:
		err = apierror.New(apierror.InvalidValue, "%v", err)
	}
	return a.begun, err
}

// answer is the body of an export. Its head is written with its first bytes.
type answer struct {
	http.ResponseWriter
	name  string
	begun bool
}

func (a *answer) Write(p []byte) (int, error) {
	if !a.begun {
		a.begun = true
		h := a.Header()
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", `attachment; filename="`+a.name+`"`)
		h.Set("Cache-Control", "no-store")
		a.WriteHeader(http.StatusOK)
	}
	return a.ResponseWriter.Write(p)
}
