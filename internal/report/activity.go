// Package report shows what is stored of requests in the shapes of OpenRouter's API: activity,
// generations and what a key has spent.
package report

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// ActivityParams are the parameters of [Activity].
func ActivityParams() []string { return withParam(withParam(activity.Params(), formatParam), idParam) }

// Activity returns the requests that q selects, newest first, or their daily sums (group_by=day), as
// OpenRouter shows them or as CSV. Errors: 400, 503.
func Activity(ctx context.Context, log activity.Log, q Query) (Answer, error) {
	csv, err := q.csv()
	if err != nil {
		return Answer{}, err
	}
	if q.Values.Has(idParam) {
		return oneCall(ctx, log, q, csv)
	}
	filter, err := activity.ParseFilter(q.Values)
	if err != nil {
		return Answer{}, refusal(err)
	}
	limited := filter.Limit > 0 || filter.Cursor != ""
	tenants := q.See(filter.Tenant)
	filter.Tenant, _ = tenants.One()
	filter.AllTenants = tenants.All()
	switch nobody := filter.Tenant == "" && !filter.AllTenants; {
	case nobody && csv:
		return csvOf(callColumns, nil), nil
	case nobody:
		return Answer{JSON: openrouter.AppendActivity(nil, nil, "")}, nil
	case filter.Daily:
		days, err := log.Daily(ctx, filter)
		if err != nil {
			return Answer{}, refusal(err)
		}
		if csv {
			return csvOf(dayColumns, days), nil
		}
		return Answer{JSON: openrouter.AppendActivity(nil, dailyRows(days), "")}, nil
	case csv:
		return exportCalls(ctx, log, filter, limited)
	}
	page, err := log.Query(ctx, filter)
	if err != nil {
		return Answer{}, refusal(err)
	}
	rows := make([]openrouter.ActivityRow, len(page.Records))
	left := activity.ByID
	if !filter.AllTenants {
		left |= activity.OfTenants
	}
	for i := range page.Records {
		rows[i] = requestRow(&page.Records[i], left)
	}
	return Answer{JSON: openrouter.AppendActivity(nil, rows, page.Next)}, nil
}

// find looks for an id. That of a translated answer is found by the request after which it is named.
func find(id string, look func(id string) (activity.Record, bool, error)) (r activity.Record, found bool, err error) {
	r, found, err = look(id)
	if request, ok := wire.RequestOf(id); err == nil && !found && ok {
		r, found, err = look(request)
	}
	return r, found, err
}

// maxGenerationID bounds the id of a generation, in bytes.
const maxGenerationID = 256

// Generation returns one request of a tenant, found by its generation id, its request id
// (x-request-id), the provider's id of the answer or the id of a translated Response. Errors: 400,
// 404, 503.
func Generation(ctx context.Context, log activity.Log, tenant, id string) ([]byte, error) {
	if id == "" || len(id) > maxGenerationID {
		return nil, apierror.New(apierror.MissingParameter, "id is missing or longer than %d bytes", maxGenerationID).WithParam("id")
	}
	record, found, err := find(id, func(id string) (activity.Record, bool, error) { return log.Find(ctx, tenant, id) })
	if err != nil {
		return nil, refusal(err)
	}
	if err := Unread(log, id); err != nil && !found {
		return nil, err
	}
	if !found {
		return nil, apierror.New(apierror.NotFound, "no generation with id %q was found", id).WithParam("id")
	}
	return openrouter.AppendGeneration(nil, generation(&record)), nil
}

// refusal returns 400 for a query that cannot be answered, and 503 for a store that cannot answer.
func refusal(err error) error {
	var param *activity.ParamError
	switch {
	case errors.As(err, &param):
		return apierror.New(apierror.InvalidValue, "%s: %s", param.Param, param.Reason).WithParam(param.Param)
	case errors.Is(err, activity.ErrTooManyDays):
		return apierror.New(apierror.InvalidValue, "%v", activity.ErrTooManyDays)
	case errors.Is(err, context.Canceled):
		return apierror.New(apierror.ClientGone, "the client left").WithCause(err)
	}
	return apierror.New(apierror.LedgerUnavailable, "the activity store cannot answer now").WithCause(err)
}

// requestRow is the row of a call, without the fields of some forms.
func requestRow(r *activity.Record, left activity.Form) openrouter.ActivityRow {
	slug := cmp.Or(r.UpstreamModel, r.Model)
	return openrouter.ActivityRow{ActivityItem: openrouter.ActivityItem{
		Date: openrouter.Date(r.CreatedAt), Model: r.Model, ModelPermaslug: slug, EndpointID: r.Provider + "/" + slug,
		Provider: r.Provider, Usage: openrouter.USD(r.CostNano), Requests: 1,
		PromptTokens: r.PromptTokens, CompletionTokens: r.CompletionTokens,
		ReasoningTokens: r.ReasoningTokens, CachedTokens: r.CachedTokens,
	}, Own: members(r, left)}
}

func dailyRows(days []activity.Day) []openrouter.ActivityRow {
	rows := make([]openrouter.ActivityRow, len(days))
	for i, d := range days {
		date, _ := time.Parse(time.DateOnly, d.Date) // the store's own form
		rows[i].ActivityItem = openrouter.ActivityItem{
			Date: openrouter.Date(date), Model: d.Model, ModelPermaslug: d.Model, EndpointID: d.Provider + "/" + d.Model,
			Provider: d.Provider, Usage: openrouter.USD(d.CostNano), Requests: d.Requests,
			PromptTokens: d.PromptTokens, CompletionTokens: d.CompletionTokens,
			ReasoningTokens: d.ReasoningTokens, CachedTokens: d.CachedTokens,
		}
		for u, n := range d.Units {
			if n != 0 {
				rows[i].Own = append(rows[i].Own, openrouter.Member{Name: activity.UnitNames[u], Value: n})
			}
		}
	}
	return rows
}

func generation(r *activity.Record) openrouter.Generation {
	g := openrouter.Generation{
		ID: r.ID, UpstreamID: openrouter.Text(r.UpstreamID), RequestID: openrouter.Text(r.RequestID),
		CreatedAt: openrouter.Timestamp(r.CreatedAt), Model: r.Model, Provider: openrouter.Text(r.Provider),
		TotalCost: openrouter.USD(r.CostNano), Usage: openrouter.USD(r.CostNano),
		Streamed: r.Stream, Cancelled: r.Status == apierror.StatusClientGone,
		FinishReason: openrouter.Text(r.FinishReason), NativeFinishReason: openrouter.Text(r.NativeFinishReason),
		Latency: openrouter.Milliseconds(r.FirstToken), GenerationTime: openrouter.Milliseconds(r.Latency),
		TokensPrompt: r.PromptTokens, TokensCompletion: r.CompletionTokens,
		NativePrompt: r.PromptTokens, NativeCompletion: r.CompletionTokens,
		NativeReasoning: r.ReasoningTokens, NativeCached: r.CachedTokens, ExternalUser: openrouter.Text(r.EndUser), Attempted: attempts(r.Attempted),
	}
	if len(r.Skipped) > 0 {
		g.Skipped = r.Skipped
	}
	return g
}
