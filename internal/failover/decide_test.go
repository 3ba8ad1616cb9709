package failover_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
)

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		e      apierror.Error
		status int
		want   string
	}{
		{apierror.Error{Code: apierror.UpstreamError}, 0, "failure same next"},
		{apierror.Error{Code: apierror.UpstreamError}, 200, "failure same next"},
		{apierror.Error{Code: apierror.UpstreamError}, 500, "failure same next"},
		{apierror.Error{Code: apierror.UpstreamError}, 302, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError}, 408, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError}, 502, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError}, 503, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError}, 504, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError}, 529, "failure next"},
		{apierror.Error{Code: apierror.UpstreamError, RetryAfter: time.Minute}, 529, "failure next pause 1m0s"},
		{apierror.Error{Code: apierror.UpstreamError}, 431, "neutral next"},
		{apierror.Error{Code: apierror.UpstreamOverloaded}, 529, "failure next"},
		{apierror.Error{Code: apierror.UpstreamOverloaded, RetryAfter: time.Minute}, 200, "failure next pause 1m0s"},
		{apierror.Error{Code: apierror.UpstreamTimeout}, 0, "failure next"},
		{apierror.Error{Code: apierror.UpstreamTimeout}, 200, "failure next"},
		{apierror.Error{Code: apierror.UpstreamRateLimited}, 429, "rate_limited next"},
		{apierror.Error{Code: apierror.UpstreamRateLimited, RetryAfter: 2 * time.Second}, 429, "rate_limited last 2s next pause 2s"},
		{apierror.Error{Code: apierror.UpstreamAuth}, 401, "lasting next"},
		{apierror.Error{Code: apierror.UpstreamQuota}, 429, "lasting next"},
		{apierror.Error{Code: apierror.ModelNotFound, Status: 404}, 404, "lasting next"},
		{apierror.Error{Code: apierror.ModelNotCallable}, 405, "neutral next"},
		{apierror.Error{Code: apierror.UpstreamRejected, Status: 404}, 404, "neutral next"},
		{apierror.Error{Code: apierror.UpstreamRejected, Status: 400}, 400, "neutral"},
		{apierror.Error{Code: apierror.UpstreamRejected, Status: 413}, 413, "neutral"},
		{apierror.Error{Code: apierror.UnsupportedParameter, Status: 400}, 400, "neutral"},
		{apierror.Error{Code: apierror.PreviousNotFound, Status: 404}, 404, "neutral"},
		{apierror.Error{Code: apierror.ContextLengthExceeded, Status: 400}, 400, "neutral listed"},
		{apierror.Error{Code: apierror.ProviderContentPolicy}, 200, "neutral listed"},
		{apierror.Error{Code: apierror.ClientGone}, 0, "neutral"},
		{apierror.Error{Code: apierror.ShuttingDown}, 0, "neutral"},
		{apierror.Error{Code: apierror.Internal}, 0, "neutral"},
		{apierror.Error{Code: apierror.GuardrailBlocked}, 200, "neutral"},
	} {
		d := failover.Decide(&c.e, c.status)
		got := d.Class.String()
		switch {
		case d.RetrySame && d.RetryLast:
			got += fmt.Sprint(" last ", d.Wait)
		case d.RetrySame:
			got += " same"
		}
		if d.Next {
			got += " next"
		}
		if d.NextListed {
			got += " listed"
		}
		if r := d.Result(); r.RetryAfter > 0 {
			got += fmt.Sprint(" pause ", r.RetryAfter)
		}
		if got != c.want {
			t.Errorf("%s with status %d: %s, want %s", c.e.Code, c.status, got, c.want)
		}
	}
}
