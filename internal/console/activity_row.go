package console

import (
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// activityRow is one row of GET /api/v1/activity: a call, or the session of a desktop. Tenant is only
// there for keys that see several.
type activityRow struct {
	activity.Record

	Label   string // the name of a key that was made at run time, if that is known, or of a person
	KeyPage string // the page of its key, "" if the caller may not see it
}

// nameKey finds out how the key of a row is shown.
func nameKey(v *visit, r *activityRow) {
	key := named(v, r.Key)
	if r.Label, r.KeyPage = key.Label, key.KeyPage; isPerson(r.Key) {
		r.Label = r.User
	}
}

// ShownKey is the row's key as a page shows it.
func (r *activityRow) ShownKey() string {
	key := rowKey{Key: r.Key, Label: r.Label}
	return key.ShownKey()
}

// sessionPrefix begins the ids of desktops' sessions.
const sessionPrefix = "vnc-"

// Session reports whether the row is the session of a desktop, also of one that was refused.
func (r *activityRow) Session() bool { return r.Ended != "" || strings.HasPrefix(r.ID, sessionPrefix) }

// Used reports whether the call has used something that may cost.
func (r *activityRow) Used() bool { return r.UsageSource != activity.UsageNone }

// result is how a row ended. What is fine needs no badge.
type result struct {
	Text, Tone string
	Fine       bool
}

// brokenEnds are the ends of sessions that somebody should look at.
var brokenEnds = map[string]bool{"workstation_left": true, "engine_lost": true, "protocol_error": true, "recording_failed": true}

// Result is the code, else the status. Only what went wrong has a colour.
func (r *activityRow) Result() result {
	switch {
	case brokenEnds[r.Ended]:
		return result{Text: inPlainWords(r.Ended), Tone: "warn"}
	case r.Ended != "":
		return result{Text: inPlainWords(r.Ended), Fine: true}
	case r.Code == "" && r.IsError:
		return result{Text: "tool error", Tone: "warn"}
	case r.Code == "":
		return result{Text: "ok", Fine: true}
	case r.Status >= 500:
		return result{Text: r.Code, Tone: "bad"}
	case r.Status == statusClientGone:
		return result{Text: r.Code}
	}
	return result{Text: r.Code, Tone: "warn"}
}

// statusClientGone is the status of a call whose client has left: nobody got it.
const statusClientGone = 499

// inPlainWords is a machine word as people write it.
func inPlainWords(word string) string { return strings.ReplaceAll(word, "_", " ") }

// cost is an amount, or the reason why there is none.
type cost struct {
	Amount, Reason string
	Short          string // for a column of amounts, "" where nothing could cost
}

// Cost is what the call cost. A refusal costs nothing, and an unknown price is not 0.
func (r *activityRow) Cost() cost {
	spent := float64(r.CostNano) / 1e9
	switch {
	case r.Session():
		return cost{}
	case !r.Used() && spent == 0:
		return cost{Amount: usd(0)}
	case r.Priced:
		return cost{Amount: usd(spent), Short: microUSD(spent)}
	case spent > 0:
		return cost{unknown, "no price; budgets were charged " + usd(spent), unknown}
	}
	return cost{unknown, "no price", unknown}
}

// microUSD is an amount below a dollar with six decimals, so that a column of them is aligned.
func microUSD(amount float64) string {
	switch {
	case amount >= 1 || amount == 0:
		return usd(amount)
	case amount < 0.000001:
		return "<$0.000001"
	}
	return "$" + strconv.FormatFloat(amount, 'f', 6, 64)
}

// Via is the provider, if the name of the model does not say it.
func (r *activityRow) Via() string {
	if r.Model == r.Provider || strings.HasPrefix(r.Model, r.Provider+"/") {
		return ""
	}
	return r.Provider
}

// moved is how many bytes a caller has sent and got.
type moved struct{ In, Out int64 }

// Bytes is what a call of a tool or the session of a desktop has moved, nil for other rows.
func (r *activityRow) Bytes() *moved {
	switch {
	case r.Method != "":
		return &moved{r.RequestBytes, r.AnswerBytes}
	case r.BytesUp+r.BytesDown > 0:
		return &moved{r.BytesUp, r.BytesDown}
	}
	return nil
}

// CachedNote says how much of the input came from the provider's cache.
func (r *activityRow) CachedNote() string {
	if r.CachedTokens == 0 {
		return ""
	}
	return count(r.CachedTokens) + " from the cache"
}

// ReasoningNote says how much of the output was reasoning.
func (r *activityRow) ReasoningNote() string {
	if r.ReasoningTokens == 0 {
		return ""
	}
	return count(r.ReasoningTokens) + " of reasoning"
}
