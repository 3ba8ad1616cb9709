package runtimekeys

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// MadeKey returns a key that was made at run time, its secret if that is shown now, and warnings
// about it. Spent has its balances, in the order of [runtimekeys.Record.Usage]; nil for a key that
// was made just now.
func MadeKey(key *runtimekeys.Key, secret string, spent []limits.Balance, warnings ...string) []byte {
	return openrouter.AppendAPIKey(nil, madeKey(key, spent), secret, warnings)
}

// MadeKeys returns a list of keys. Spent has the balances of each.
func MadeKeys(list []*runtimekeys.Key, spent [][]limits.Balance) []byte {
	shown := make([]openrouter.APIKey, len(list))
	for i, key := range list {
		shown[i] = madeKey(key, spent[i])
	}
	return openrouter.AppendAPIKeys(nil, shown)
}

// DeletedKey returns the answer to the deletion of a key.
func DeletedKey() []byte { return openrouter.AppendDeletedKey(nil) }

func madeKey(key *runtimekeys.Key, spent []limits.Balance) openrouter.APIKey {
	if spent == nil {
		spent = make([]limits.Balance, len(key.Usage().Budgets))
	}
	shown := openrouter.APIKey{
		Hash: key.Hash(), Name: key.Name, Label: key.Label, Disabled: key.Disabled, Reset: openrouter.Text(key.Reset), IncludeBYOK: key.IncludeBYOK,
		UsageDaily: openrouter.USD(spent[0].Spent), UsageWeekly: openrouter.USD(spent[1].Spent), UsageMonthly: openrouter.USD(spent[2].Spent),
		Usage:   openrouter.USD(spent[3].Spent),
		Created: openrouter.Timestamp(key.Created), Updated: openrouter.Timestamp(key.Updated), Expires: openrouter.Timestamp(key.Expires),
		Creator: openrouter.Text(key.Creator), External: openrouter.Text(key.External), Workspace: keys.WorkspaceID(key.Tenant), Tenant: key.Tenant,
	}
	if key.Limit != nil {
		limit, left := openrouter.USD(*key.Limit), openrouter.USD(key.Remaining(spent))
		shown.Limit, shown.Remaining = &limit, &left
	}
	if more := key.Extensions; more != nil {
		shown.Scopes, shown.Models, shown.Tools, shown.Rates, shown.Budgets = more.Scopes, more.Models, more.Tools, more.Rates, more.Budgets
		shown.Concurrency, shown.MaxOutput, shown.Metadata = openrouter.Text(more.Concurrency), openrouter.Count(more.MaxOutput), more.Metadata
	}
	for _, secret := range key.Secrets {
		if secret.Until.After(time.Time(shown.PreviousExpires)) {
			shown.PreviousExpires = openrouter.Timestamp(secret.Until)
		}
	}
	return shown
}

// keyInfo returns what a key itself has of the answer about it.
func keyInfo(key *runtimekeys.Key) *openrouter.KeyInfo {
	info := &openrouter.KeyInfo{Label: key.Label}
	info.Creator, info.IncludeBYOK = openrouter.Text(key.Creator), key.IncludeBYOK
	if key.Limit != nil && *key.Limit == 0 { // the ledger's least budget is more
		info.Limit, info.Remaining, info.Reset = new(openrouter.USD), new(openrouter.USD), openrouter.Text(key.Reset)
	}
	return info
}

// maxSearch bounds what a list of keys is searched for, in bytes: no name is longer.
const maxSearch = 1024

// KeyQuery reads the query of a list of keys. The error is a 400.
func KeyQuery(q url.Values) (out runtimekeys.Query, err error) {
	switch text := q.Get("include_disabled"); text {
	case "", "false":
	case "true":
		out.Disabled = true
	default:
		return out, apierror.New(apierror.InvalidValue, "include_disabled: want true or false").WithParam("include_disabled")
	}
	if out.Search = q.Get("search"); len(out.Search) > maxSearch {
		return out, apierror.New(apierror.InvalidValue, "search: at most %d bytes", maxSearch).WithParam("search")
	}
	if text := q.Get("offset"); text != "" {
		if out.Offset, err = strconv.Atoi(text); err != nil || out.Offset < 0 {
			return out, apierror.New(apierror.InvalidValue, "offset: want a whole number from 0 on").WithParam("offset")
		}
	}
	return out, nil
}

// Grace is the body of a rotation: how long the replaced secret stays good. The zero value is: not
// at all.
type Grace struct{ Duration time.Duration }

// Member takes one member of the body: "grace", a text such as "24h", or 0. The error is a 400.
func (g *Grace) Member(name string, value []byte) (known bool, err error) {
	if name != "grace" {
		return false, nil
	}
	if string(value) == "0" || string(value) == "null" {
		return true, nil
	}
	var text string
	err = json.Unmarshal(value, &text)
	grace, parsing := time.ParseDuration(text)
	if err != nil || parsing != nil || grace < 0 || grace > runtimekeys.MaxGrace {
		err := apierror.New(apierror.InvalidValue, "grace: want a duration from \"0s\" to \"%.0fh\", such as \"24h\"", runtimekeys.MaxGrace.Hours())
		return true, err.WithParam("grace")
	}
	g.Duration = grace
	return true, nil
}
