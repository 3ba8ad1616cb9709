package report

import (
	"context"
	"maps"
	"net/url"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

const idParam = "id"

// withID are the parameters that can be given with an id. A limit changes nothing: clients send one with
// every query.
var withID = []string{idParam, formatParam, "limit", "tenant"}

// oneCall answers with the newest row that has an id: the generation's, the request's, the session's, or
// the provider's of the answer. Without one the list is empty. As JSON it has also the
// fields of the form [activity.ByID].
func oneCall(ctx context.Context, log activity.Log, q Query, csv bool) (Answer, error) {
	for _, name := range slices.Sorted(maps.Keys(q.Values)) {
		switch values := q.Values[name]; {
		case !slices.Contains(withID, name):
			return Answer{}, apierror.New(apierror.InvalidValue, "%s: cannot be given with id", name).WithParam(name)
		case len(values) > 1:
			return Answer{}, apierror.New(apierror.InvalidValue, "%s: must be given once", name).WithParam(name)
		}
	}
	if _, err := activity.ParseFilter(url.Values{"limit": q.Values["limit"]}); err != nil {
		return Answer{}, refusal(err)
	}
	id, tenants := q.Values.Get(idParam), q.See(q.Values.Get("tenant"))
	if id == "" || len(id) > maxGenerationID {
		return Answer{}, apierror.New(apierror.InvalidValue, "id: must have 1 to %d bytes", maxGenerationID).WithParam(idParam)
	}
	record, found, err := find(id, func(id string) (activity.Record, bool, error) {
		if tenants.All() {
			return log.FindAny(ctx, id)
		}
		tenant, ok := tenants.One()
		if !ok {
			return activity.Record{}, false, nil
		}
		return log.Find(ctx, tenant, id)
	})
	switch {
	case err != nil:
		return Answer{}, refusal(err)
	case csv && found:
		return csvOf(callColumns, []activity.Record{record}), nil
	case csv:
		return csvOf(callColumns, nil), nil
	case !found:
		return Answer{JSON: openrouter.AppendActivity(nil, nil, "")}, nil
	}
	return Answer{JSON: openrouter.AppendActivity(nil, []openrouter.ActivityRow{requestRow(&record, 0)}, "")}, nil
}
