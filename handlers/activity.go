package handlers

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// serveActivity answers with the calls of the key's tenant, newest first, or
// with daily sums (group_by=day).
func serveActivity(x *exchange) error {
	q, err := x.strictQuery(activity.Params()...)
	if err != nil {
		return err
	}
	filter, err := activity.ParseFilter(q)
	if err != nil {
		return queryFault(err)
	}
	filter.Tenant = x.call.Credential.Tenant
	log := x.gateway.Activity()
	if filter.Daily {
		days, err := log.Daily(x.r.Context(), filter)
		if err != nil {
			return queryFault(err)
		}
		return x.succeed(openrouter.AppendActivity(nil, dailyItems(days), ""))
	}
	page, err := log.Query(x.r.Context(), filter)
	if err != nil {
		return queryFault(err)
	}
	items := make([]openrouter.ActivityItem, len(page.Records))
	for i := range page.Records {
		items[i] = callItem(&page.Records[i])
	}
	return x.succeed(openrouter.AppendActivity(nil, items, page.Next))
}

// maxGenerationID bounds the id in a question, in bytes.
const maxGenerationID = 256

// serveGeneration answers with one call, found by the generation's id, the
// request's id (x-request-id) or the provider's id of the answer.
func serveGeneration(x *exchange) error {
	q, err := x.strictQuery("id")
	if err != nil {
		return err
	}
	id := q.Get("id")
	if id == "" || len(id) > maxGenerationID {
		return apierror.New(apierror.MissingParameter, "id is missing or longer than %d bytes", maxGenerationID).WithParam("id")
	}
	log, tenant := x.gateway.Activity(), x.call.Credential.Tenant
	record, found, err := log.Find(x.r.Context(), tenant, id)
	if request, named := requestOf(id); err == nil && !found && named {
		record, found, err = log.Find(x.r.Context(), tenant, request)
	}
	if err != nil {
		return queryFault(err)
	}
	if !found {
		return apierror.New(apierror.NotFound, "no generation with id %q was found", id).WithParam("id")
	}
	return x.succeed(openrouter.AppendGeneration(nil, generation(&record)))
}

// queryFault tells a question that cannot be answered from a store that cannot
// answer.
func queryFault(err error) error {
	var param *activity.ParamError
	switch {
	case errors.As(err, &param):
		return apierror.New(apierror.InvalidValue, "%s: %s", param.Param, param.Reason).WithParam(param.Param)
	case errors.Is(err, activity.ErrBadCursor):
		return apierror.New(apierror.InvalidValue, "cursor: not one of this route's").WithParam("cursor")
	case errors.Is(err, activity.ErrTooManyDays):
		return apierror.New(apierror.InvalidValue, "%v", activity.ErrTooManyDays)
	case errors.Is(err, context.Canceled):
		return clientGone(err)
	}
	return apierror.New(apierror.LedgerUnavailable, "the activity store cannot answer now").WithCause(err)
}

func callItem(r *activity.Record) openrouter.ActivityItem {
	slug := cmp.Or(r.UpstreamModel, r.Model)
	item := openrouter.ActivityItem{
		Date: openrouter.Date(r.CreatedAt), Model: r.Model, ModelPermaslug: slug, EndpointID: r.Provider + "/" + slug,
		Provider: r.Provider, Usage: openrouter.USD(r.CostNano), Requests: 1,
		PromptTokens: r.PromptTokens, CompletionTokens: r.CompletionTokens,
		ReasoningTokens: r.ReasoningTokens, CachedTokens: r.CachedTokens,
		ActivityCall: &openrouter.ActivityCall{
			ID: r.ID, RequestID: r.RequestID, CreatedAt: openrouter.Timestamp(r.CreatedAt), Key: r.Key, Route: r.Route,
			Status: r.Status, Code: openrouter.Text(r.Code), Stream: r.Stream, LatencyMS: r.Latency.Milliseconds(),
			FirstTokenMS: openrouter.Milliseconds(r.FirstToken), FinishReason: openrouter.Text(r.FinishReason),
			UsageSource: r.UsageSource, Priced: r.Priced, Attempts: r.Attempts, OutputCap: r.OutputCap,
			Workstation: r.Workstation,
		},
	}
	if r.Ended != "" {
		item.ActivitySession = &openrouter.ActivitySession{Ended: r.Ended, BytesUp: r.BytesUp, BytesDown: r.BytesDown}
	}
	return item
}

func dailyItems(days []activity.Day) []openrouter.ActivityItem {
	items := make([]openrouter.ActivityItem, len(days))
	for i, d := range days {
		date, _ := time.Parse(time.DateOnly, d.Date) // the store's own form
		items[i] = openrouter.ActivityItem{
			Date: openrouter.Date(date), Model: d.Model, ModelPermaslug: d.Model, EndpointID: d.Provider + "/" + d.Model,
			Provider: d.Provider, Usage: openrouter.USD(d.CostNano), Requests: d.Requests,
			PromptTokens: d.PromptTokens, CompletionTokens: d.CompletionTokens,
			ReasoningTokens: d.ReasoningTokens, CachedTokens: d.CachedTokens,
		}
	}
	return items
}

func generation(r *activity.Record) openrouter.Generation {
	return openrouter.Generation{
		ID: r.ID, UpstreamID: openrouter.Text(r.UpstreamID), RequestID: openrouter.Text(r.RequestID),
		CreatedAt: openrouter.Timestamp(r.CreatedAt), Model: r.Model, Provider: openrouter.Text(r.Provider),
		TotalCost: openrouter.USD(r.CostNano), Usage: openrouter.USD(r.CostNano),
		Streamed: r.Stream, Cancelled: r.Status == apierror.StatusClientGone,
		FinishReason: openrouter.Text(r.FinishReason), NativeFinishReason: openrouter.Text(r.NativeFinishReason),
		Latency: openrouter.Milliseconds(r.FirstToken), GenerationTime: openrouter.Milliseconds(r.Latency),
		TokensPrompt: r.PromptTokens, TokensCompletion: r.CompletionTokens,
		NativePrompt: r.PromptTokens, NativeCompletion: r.CompletionTokens,
		NativeReasoning: r.ReasoningTokens, NativeCached: r.CachedTokens,
	}
}
