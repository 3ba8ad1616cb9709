package report

import (
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// SetUntil sets [activity.UntilHeader] of an answer that was read from log, if it may lack calls.
func SetUntil(h http.Header, log activity.Log) {
	if since := log.BlockedSince(); !since.IsZero() {
		h.Set(activity.UntilHeader, activity.Until(since))
	}
}

// Missing says what an answer whose header SetUntil has set lacks, "" for nothing.
func Missing(h http.Header, now time.Time) string {
	return activity.Missing(h.Get(activity.UntilHeader), now)
}

// Unread returns 503 for an ID that was not found, if it may be that of a call that log cannot show
// yet; else nil.
func Unread(log activity.Log, id string) error {
	since := log.BlockedSince()
	if since.IsZero() {
		return nil
	}
	return apierror.New(apierror.LedgerUnavailable, "nothing with the id %q was recorded until %s, and later calls cannot be read yet: commits are blocked; try again", id, activity.Until(since))
}
