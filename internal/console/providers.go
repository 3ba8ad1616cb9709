package console

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// providersPage is what its template shows.
type providersPage struct {
	Rows []providerCard
	Day  bool // the key may read the activity, so that the day is shown
}

// providerCard is a provider of GET /v1/providers.
type providerCard struct {
	ID        string
	Endpoints []struct {
		Name, Host string
		Credential *struct { // of a cloud
			Cloud, Failure string
			Valid          bool
		}
	}
	Targets []targetRow
	NoList  bool `json:"list_missing"`
	Worst   targetRow
	Day     callsOfDay
	Lacking []string // names that were refused because its list of models does not have them
}

// Path is its place on the page of providers.
func (c *providerCard) Path() string { return Prefix + "/providers#provider-" + url.PathEscape(c.ID) }

// FailedRows lists the calls of the day that failed at the provider, RefusedRows all that were refused or
// failed.
func (c *providerCard) FailedRows() string  { return rowsOfDay(c.ID, upstreamFailures) }
func (c *providerCard) RefusedRows() string { return rowsOfDay(c.ID, anyCode) }

// rowsOfDay is the list of the calls of a provider or a server in the last 24 hours.
func rowsOfDay(provider, code string) string {
	q := url.Values{"provider": {provider}}
	setParam(q, "code", code)
	return activityLink(&span{Choice: "24h"}, q)
}

// targetRow is a model at a provider, or at one of its endpoints.
type targetRow struct {
	ID, Model, Endpoint, State string
	Until                      time.Time `json:"cooldown_until"`
	Attempts, Failures         int64
	Class                      string    `json:"last_failure_class"`
	Failed                     time.Time `json:"last_failure_at"`
	Succeeded                  time.Time `json:"last_success_at"`
	Day                        callsOfDay
}

// callsOfDay are the calls of the last 24 hours for a provider or a server, or for a model or a tool of it.
type callsOfDay struct {
	Requests int64
	Errors   int64 // those with a code
	Failed   int64 // of these, those that failed at the provider or the server
}

// Refused is how many were refused, or ended by the client: the provider had no part in it.
func (c callsOfDay) Refused() int64 { return c.Errors - c.Failed }

// Asked is how many were not.
func (c callsOfDay) Asked() int64 { return c.Requests - c.Refused() }

// Share is the part of these that failed.
func (c callsOfDay) Share() string { return percent(float64(c.Failed), float64(c.Asked())) }

// stateHealthy is one of the states of GET /v1/providers.
const stateHealthy = "healthy"

// providerStates are the states of targets in words, the worst first.
var providerStates = []struct{ state, Text, Tone string }{
	{"failing", "failing", "bad"},
	{"cooling", "cooling down", "bad"},
	{"probing", "being tried again", "warn"},
	{stateHealthy, "healthy", "good"},
	{"", "not known", ""},
}

// rank is the place of the state in providerStates.
func (t targetRow) rank() int {
	for i, s := range providerStates {
		if s.state == t.State {
			return i
		}
	}
	return len(providerStates) - 1
}

// Text is the state in words.
func (t targetRow) Text() string { return providerStates[t.rank()].Text }

// Tone is the colour of the state.
func (t targetRow) Tone() string { return providerStates[t.rank()].Tone }

// Failing reports whether calls fail.
func (t targetRow) Failing() bool { return t.State != "" && t.State != stateHealthy }

// Minute is how many attempts of the last minute failed, as a share.
func (t targetRow) Minute() string { return percent(float64(t.Failures), float64(t.Attempts)) }

// Why is the last failure in words.
func (t targetRow) Why() string {
	switch t.Class {
	case "rate_limited":
		return "It was over the provider's own rate limit."
	case "lasting":
		return "It refused the gateway's credential, its quota is used up, or it has no such model. Somebody must act."
	case "failure":
		return "It gave no answer, a broken or late one, or an error of its own."
	}
	return ""
}

// providers shows how the providers are, as far as calls have shown it.
func providers(v *visit) error {
	p := providersPage{Day: v.has(keys.ActivityRead)}
	var err error
	if p.Rows, err = readProviders(v); err != nil {
		return err
	}
	var byProvider, byModel map[string]callsOfDay
	if p.Day {
		if byProvider, err = readDay(v, "provider", nil); err != nil {
			return err
		}
		if byModel, err = readDay(v, "model", nil); err != nil {
			return err
		}
	}
	var refused []activityRow
	if p.Day {
		if refused, err = refusedNames(v); err != nil {
			return err
		}
	}
	for i := range p.Rows {
		card := &p.Rows[i]
		card.Day = byProvider[card.ID]
		card.lacks(refused)
		for j := range card.Targets {
			card.Targets[j].Day = byModel[card.Targets[j].Model]
		}
	}
	return v.render("providers", &p)
}

// refusedNames are the newest calls of the last hour whose model was not found: with a filter each row of the
// time is read.
func refusedNames(v *visit) ([]activityRow, error) {
	var answer activityAnswer
	err := v.get("/api/v1/activity", url.Values{
		"code": {string(apierror.ModelNotFound)}, "from": {v.now.UTC().Add(-time.Hour).Format(time.RFC3339)}, "limit": {"100"},
	}, &answer)
	return answer.Data, err
}

// maxLacking is how many names the page shows for a provider.
const maxLacking = 5

// lacks finds the names that the list of the provider does not have.
func (c *providerCard) lacks(refused []activityRow) {
	for i := range refused {
		r := &refused[i]
		if strings.HasPrefix(r.RefusedBy, "provider "+c.ID+" ") && !slices.Contains(c.Lacking, r.Model) && len(c.Lacking) < maxLacking {
			c.Lacking = append(c.Lacking, r.Model)
		}
	}
}

// LackingRows is the list of these calls.
func (providerCard) LackingRows() string {
	return activityLink(&span{Choice: "1h"}, url.Values{"code": {string(apierror.ModelNotFound)}})
}

// readProviders asks for the providers, and finds the worst model of each.
func readProviders(v *visit) ([]providerCard, error) {
	var answer struct{ Data []providerCard }
	err := v.get("/v1/providers", nil, &answer)
	for i := range answer.Data {
		card := &answer.Data[i]
		for _, t := range card.Targets {
			if card.Worst.State == "" || t.rank() < card.Worst.rank() {
				card.Worst = t
			}
		}
	}
	return answer.Data, err
}

// readDay returns the calls of the last 24 hours with these filters, by the provider or the model.
func readDay(v *visit, by string, filters url.Values) (map[string]callsOfDay, error) {
	lines, err := linesOfDay(v, by, filters)
	if err != nil {
		return nil, err
	}
	found := make(map[string]callsOfDay, len(lines))
	for name, line := range lines {
		found[name] = line.calls()
	}
	return found, readFailures(v, found, by, filters)
}

// readFailures adds how many of the calls failed at the provider or the server.
func readFailures(v *visit, calls map[string]callsOfDay, by string, filters url.Values) error {
	q := url.Values{"code": {upstreamFailures}}
	maps.Copy(q, filters)
	failures, err := linesOfDay(v, by, q)
	for name, line := range failures {
		c := calls[name]
		c.Failed = min(line.Total.Requests, c.Errors)
		calls[name] = c
	}
	return err
}

// linesOfDay returns the sums of the last 24 hours.
func linesOfDay(v *visit, by string, filters url.Values) (map[string]*seriesLine, error) {
	to := v.now.UTC().Truncate(time.Hour).Add(time.Hour)
	return linesBy(v, by, "hour", to.Add(-24*time.Hour), to, filters)
}

// linesBy returns the sums of a time, by the provider, the model or the key.
func linesBy(v *visit, by, step string, from, to time.Time, filters url.Values) (map[string]*seriesLine, error) {
	q := url.Values{"by": {by}, "step": {step}, "top": {"50"}, "from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}}
	maps.Copy(q, filters)
	sums, err := sumsOf(v, q)
	if err != nil {
		return nil, err
	}
	lines := make(map[string]*seriesLine, len(sums.Data))
	for i := range sums.Data {
		lines[sums.Data[i].Name] = &sums.Data[i]
	}
	return lines, nil
}

func (s *seriesLine) calls() callsOfDay {
	return callsOfDay{Requests: s.Total.Requests, Errors: s.Total.Errors}
}
