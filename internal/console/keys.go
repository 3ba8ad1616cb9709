package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// keysOfPage is how many keys GET /api/v1/keys answers at most.
const keysOfPage = 100

// keysPage is what its template shows.
type keysPage struct {
	Rows           []keyRow
	None           bool // the configuration makes no keys at run time
	Search, Tenant string
	Disabled       bool // disabled ones are shown
	Filtered       bool
	Tenants        bool // the key sees keys of all tenants
	Configured     []configuredRow
	Spent          bool // the key may read the activity, so that what was spent is shown
	First, Last    int64
	Before, After  string // the offsets of the pages before and after, "" for none
}

// keyRow is a key of GET /api/v1/keys: one that was made at run time, or one of the configuration. Of the
// latter it has neither amounts nor limits.
type keyRow struct {
	Hash                string // "" for a key of the configuration
	Name, Label, Tenant string
	Disabled            bool
	Limit               *float64
	Remaining           *float64 `json:"limit_remaining"`
	Reset               string   `json:"limit_reset"`
	Usage               float64
	UsageDaily          float64   `json:"usage_daily"`
	UsageMonthly        float64   `json:"usage_monthly"`
	Created             time.Time `json:"created_at"`
	Updated             time.Time `json:"updated_at"`
	Expires             time.Time `json:"expires_at"`
	Previous            time.Time `json:"previous_key_expires_at"`
	Scopes, Models      []string
	Tools               []string `json:"mcp"`
	Rates, Budgets      []string
	Concurrency         string
	MaxOutput           *int64 `json:"max_output_tokens"`
	HostedTools         bool   `json:"hosted_tools"`
	AllTenants          bool   `json:"all_tenants"`
}

// Made reports whether the key was made at run time.
func (k *keyRow) Made() bool { return k.Hash != "" }

// ID is what rows, limits and sessions name the key by.
func (k *keyRow) ID() string { return cmp.Or(k.Hash, k.Name) }

// ShortHash is the beginning of the hash, as the command shows it.
func (k *keyRow) ShortHash() string { return short12(k.Hash) }

// Path is the URL of the key's page, or of the page below it that is named.
func (k *keyRow) Path(page string) string {
	path := pageOfKey(k.ID())
	if page != "" {
		path += "/" + page
	}
	return path
}

// State is whether the key can be used, in a word.
func (k *keyRow) State(now time.Time) string {
	switch {
	case k.Disabled:
		return "disabled"
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return "expired"
	}
	return "active"
}

// Tone is the colour of the state.
func (k *keyRow) Tone(now time.Time) string {
	if k.State(now) == "active" {
		return "good"
	}
	return "warn"
}

// SpentShare is what is used of the limit, of a hundred.
func (k *keyRow) SpentShare() float64 {
	if k.Limit == nil || *k.Limit <= 0 {
		return 100
	}
	return 100 * (*k.Limit - *k.Remaining) / *k.Limit
}

// LimitText is the limit and how often it starts again.
func (k *keyRow) LimitText() string {
	text := usd(*k.Limit)
	if k.Reset != "" {
		text += " " + k.Reset
	}
	return text
}

// configuredRow is a key of the configuration in the list, and what it has used this month.
type configuredRow struct {
	keyRow

	Month seriesPoint
	Last  string // the last day of this month with a call, "" for none
}

// Calls is the list of its calls.
func (k *configuredRow) Calls() string {
	return activityLink(&span{Choice: "30d"}, url.Values{"key": {k.Name}})
}

// configured reads the keys of the configuration.
func configured(v *visit, tenant string) ([]configuredRow, error) {
	q := url.Values{"source": {sourceConfiguration}}
	setParam(q, "tenant", tenant)
	var answer struct{ Data []configuredRow }
	if err := v.get("/api/v1/keys", q, &answer); err != nil || !v.has(keys.ActivityRead) {
		return answer.Data, err
	}
	day := v.now.UTC().Truncate(24 * time.Hour)
	lines, err := linesBy(v, "key", "day", day.AddDate(0, 0, 1-day.Day()), day.AddDate(0, 0, 1), nil)
	for i := range answer.Data {
		k := &answer.Data[i]
		line := lines[k.Name]
		if line == nil {
			continue
		}
		k.Month = line.Total
		for _, p := range line.Points {
			if p.Requests > 0 {
				k.Last = p.At.Format(time.DateOnly)
			}
		}
	}
	return answer.Data, err
}

// listKeys shows the keys that were made at run time, and on the first page those of the configuration.
func listKeys(v *visit) error {
	offset, _ := strconv.Atoi(v.query.Get("offset"))
	offset = max(offset, 0)
	p := keysPage{Search: v.query.Get("search"), Tenant: v.query.Get("tenant"), Disabled: v.query.Get("disabled") != "no", Tenants: v.caller.AllTenants}
	p.Filtered = p.Search != "" || p.Tenant != "" || !p.Disabled
	q := url.Values{"offset": {strconv.Itoa(offset)}, "include_disabled": {strconv.FormatBool(p.Disabled)}}
	setParam(q, "search", p.Search)
	setParam(q, "tenant", p.Tenant)
	var answer struct{ Data []keyRow }
	err := v.get("/api/v1/keys", q, &answer)
	if p.None = isNotFound(err); err != nil && !p.None {
		return err
	}
	p.Rows = answer.Data
	if offset == 0 && p.Search == "" {
		if p.Configured, err = configured(v, p.Tenant); err != nil {
			return err
		}
		p.Spent = v.has(keys.ActivityRead)
	}
	p.First, p.Last = int64(offset)+1, int64(offset+len(p.Rows))
	if offset > 0 {
		p.Before = strconv.Itoa(max(offset-keysOfPage, 0))
	}
	if len(p.Rows) == keysOfPage {
		p.After = strconv.Itoa(offset + keysOfPage)
	}
	return v.render("keys", &p)
}

// isNotFound reports whether a route has answered that there is no such thing.
func isNotFound(err error) bool {
	var failure *Failure
	return errors.As(err, &failure) && failure.Status == http.StatusNotFound
}

// readKey reads the key that the path names by its hash.
func readKey(v *visit) (keyRow, error) {
	var answer struct{ Data keyRow }
	err := v.get(keyRoute(v), nil, &answer)
	return answer.Data, err
}

// keyRoute is the public route of the key that the path names.
func keyRoute(v *visit) string { return "/api/v1/keys/" + url.PathEscape(v.r.PathValue("key")) }
