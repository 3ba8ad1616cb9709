package report

import (
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// UntilHeader is in an answer that may lack calls, because commits are blocked: it has those that ended
// before this time (RFC 3339).
const UntilHeader = "X-Gatehouse-Activity-Until"

// SetUntil sets [UntilHeader] of an answer that was read from log, if it may lack calls.
func SetUntil(h http.Header, log activity.Log) {
	if since := log.BlockedSince(); !since.IsZero() {
		h.Set(UntilHeader, timestamp(since))
	}
}

// Unread returns 503 for an ID that was not found, if it may be that of a call that log cannot show
// yet; else nil.
func Unread(log activity.Log, id string) error {
	since := log.BlockedSince()
	if since.IsZero() {
		return nil
	}
	return apierror.New(apierror.LedgerUnavailable, "nothing with the id %q was recorded until %s, and later calls cannot be read yet: commits are blocked; try again", id, timestamp(since))
}

// Missing says what an answer with an [UntilHeader] lacks, "" for one without.
func Missing(until string, now time.Time) string {
	since, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return ""
	}
	return "Calls that ended since " + timestamp(since) + " may be missing: commits have been blocked for " + max(now.Sub(since), 0).Truncate(time.Second).String() + "."
}
