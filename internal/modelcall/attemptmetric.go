package modelcall

import (
	"errors"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// metricOf returns what the metrics count of an attempt.
func metricOf(done *activity.Attempt, t *target, failure *apierror.Error) metrics.Attempt {
	return metrics.Attempt{Provider: t.provider.Name, Code: done.Code, Outcome: outcomeOf(failure, done.Status)}
}

// outcomeOf returns whose fault it is that an attempt failed. Status is that of the provider's answer,
// 0 for none.
func outcomeOf(failure *apierror.Error, status int) metrics.Outcome {
	if failure == nil {
		return metrics.OK
	}
	switch failure.Code {
	case apierror.GuardrailBlocked, apierror.GuardrailUnavailable, apierror.GatewayBusy: // ours; it has answered
		return metrics.OK
	case apierror.UpstreamRateLimited:
		return metrics.RateLimited
	case apierror.UpstreamAuth, apierror.UpstreamQuota:
		return metrics.Auth
	case apierror.UpstreamTimeout:
		return metrics.Timeout
	case apierror.ClientGone, apierror.ShuttingDown:
		return metrics.Canceled
	case apierror.UpstreamError:
		if errors.Is(failure.Cause, provider.ErrNoCredential) {
			return metrics.Auth
		}
		if status == 0 && !errors.Is(failure.Cause, provider.ErrRedirect) {
			return metrics.Connection
		}
	}
	if failure.HTTPStatus() < http.StatusInternalServerError { // a provider may say so in an answer with status 200
		return metrics.BadRequest
	}
	return metrics.ServerError
}

// UsualAttempts are for each outcome the codes that attempts usually have, so that their series can
// exist before the first of them.
var UsualAttempts = []metrics.Attempt{
	{Outcome: metrics.OK},
	{Outcome: metrics.RateLimited, Code: string(apierror.UpstreamRateLimited)},
	{Outcome: metrics.Auth, Code: string(apierror.UpstreamAuth)},
	{Outcome: metrics.Auth, Code: string(apierror.UpstreamQuota)},
	{Outcome: metrics.BadRequest, Code: string(apierror.UpstreamRejected)},
	{Outcome: metrics.ServerError, Code: string(apierror.UpstreamError)},
	{Outcome: metrics.ServerError, Code: string(apierror.UpstreamOverloaded)},
	{Outcome: metrics.Timeout, Code: "timeout_first_byte"},
	{Outcome: metrics.Timeout, Code: "timeout_idle"},
	{Outcome: metrics.Connection, Code: string(apierror.UpstreamError)},
	{Outcome: metrics.Canceled, Code: string(apierror.ClientGone)},
}
