package activity

import "time"

// UntilHeader is in an answer that may lack calls, because commits are blocked: it has those that
// ended before this time (RFC 3339).
const UntilHeader = "X-Gatehouse-Activity-Until"

// untilForm is the form of that time.
const untilForm = "2006-01-02T15:04:05.000Z"

// Until is a time as the [UntilHeader] has it.
func Until(since time.Time) string { return since.UTC().Format(untilForm) }

// Missing says what an answer with an [UntilHeader] lacks, "" for one without.
func Missing(until string, now time.Time) string {
	since, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return ""
	}
	return "Calls that ended since " + Until(since) + " may be missing: commits have been blocked for " +
		max(now.Sub(since), 0).Truncate(time.Second).String() + "."
}
