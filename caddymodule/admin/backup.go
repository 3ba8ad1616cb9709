package admin

import (
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// backingUp is held while a copy is made and sent: there is one file for it.
var backingUp sync.Mutex

// serveBackup sends a copy of the database of the current configuration.
func serveBackup(w http.ResponseWriter, r *http.Request) error {
	if err := sendBackup(w, r); err != nil {
		write(w, nil, err)
	}
	return nil
}

// sendBackup returns an error if nothing was sent yet.
func sendBackup(w http.ResponseWriter, r *http.Request) error {
	active, err := running(r, http.MethodGet)
	if err != nil {
		return err
	}
	if err := active.Ready(r.Context()); err != nil {
		return err
	}
	if !backingUp.TryLock() {
		return apierror.New(apierror.GatewayBusy, "another backup is being made; try again when it has ended")
	}
	defer backingUp.Unlock()
	copied, remove, err := gateway.Backup(r.Context(), active)
	if err != nil {
		return apierror.New(apierror.LedgerUnavailable, "the database cannot be copied: %v", err).WithCause(err)
	}
	defer remove()
	info, err := copied.Stat()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/vnd.sqlite3")
	w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	_, _ = io.Copy(w, copied) // if it fails, the length tells the operator's command
	return nil
}
